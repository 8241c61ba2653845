import { describe, expect, it } from "vitest";
import { createClient, type RunJobOptions } from "../../../src/client/index.ts";
import { BASE_URL } from "../support/passbook.ts";
import { openShop, settleDown, spend, switchOn } from "../top_up/topped_up.ts";
import { workerFetch } from "./worker_fetch.ts";

/** Runs a job that needs more than there is. `atWait`: called at each wait with its number, from 1. */
async function runShort(
  options: RunJobOptions,
  atWait: (ada: Awaited<ReturnType<typeof switchOn>>, waits: number) => Promise<unknown>,
) {
  const ada = await switchOn(openShop());
  await spend(ada, 60);
  let waits = 0;
  const client = createClient({
    baseUrl: "http://localhost",
    token: ada.token,
    fetch: (url, init) => workerFetch(url.replace("http://localhost", BASE_URL), init),
    wait: async () => {
      waits += 1;
      await atWait(ada, waits);
    },
  });
  const job = { app: "demo", action: "render", costEstimate: 100 };
  const run = client.runJob(job, async () => ({ result: "done", actualCost: 25 }), options);
  const outcome = await run.catch((error: unknown) => error);
  return { outcome, waits };
}

describe("waitForTopUp of runJob", () => {
  it("runJob waits until an automatic top-up is booked, and then runs the job", async () => {
    const { outcome, waits } = await runShort({ waitForTopUp: true }, async (ada, at) => {
      if (at === 3) await settleDown(ada);
    });
    expect(outcome).toMatchObject({ result: "done", credits: 115 });
    expect(waits).toBe(3);
  });

  it("runJob throws the refusal if the top-up takes longer than a minute", async () => {
    const { outcome, waits } = await runShort({ waitForTopUp: true }, async () => {});
    expect(outcome).toMatchObject({ code: "insufficient_credits", status: 402 });
    expect(waits).toBe(30);
  });

  it("runJob does not wait without the option", async () => {
    const { outcome, waits } = await runShort({}, async () => {});
    expect(outcome).toMatchObject({ code: "insufficient_credits" });
    expect(waits).toBe(0);
  });
});
