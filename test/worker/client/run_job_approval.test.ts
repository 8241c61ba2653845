import { describe, expect, it } from "vitest";
import { createClient, type RunJobOptions } from "../../../src/client/index.ts";
import { getToken, postForm } from "../support/device_logins.ts";
import { BASE_URL, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import { workerFetch } from "./worker_fetch.ts";

const JOB = { app: "demo", action: "render", costEstimate: 30 };

/** Runs {@link JOB} with a token that may spend 20 credits. `decide`: called at the wait with this number, from 1. */
async function runBeyondCap(
  options: (ada: SignedIn, urls: string[]) => RunJobOptions,
  decide: (ada: SignedIn, path: string, waits: number) => Promise<unknown>,
) {
  const ada = await signInWithCredits("demo");
  const { token } = await getToken(ada, { caps: [{ credits: 20, period: "total" }] });
  const urls: string[] = [];
  const waited: number[] = [];
  const client = createClient({
    baseUrl: "http://localhost",
    token,
    fetch: (url, init) => workerFetch(url.replace("http://localhost", BASE_URL), init),
    wait: async (ms) => {
      waited.push(ms);
      await decide(ada, new URL(urls[0] ?? "").pathname, waited.length);
    },
  });
  const run = client.runJob(
    JOB,
    async (job) => ({ result: job.credits, actualCost: 25 }),
    options(ada, urls),
  );
  const outcome = await run.catch((error: unknown) => error);
  return { ada, outcome, urls, waited };
}

const noting = (_: SignedIn, urls: string[]): RunJobOptions => ({
  onApprovalNeeded: (url) => void urls.push(url),
});

describe("onApprovalNeeded of runJob", () => {
  it("runJob waits until the holder approves the job, and then runs it", async () => {
    const { ada, outcome, urls, waited } = await runBeyondCap(noting, async (ada, path, waits) => {
      if (waits === 3) await postForm(ada, `${path}/approve`, {});
    });
    expect(outcome).toMatchObject({ result: 70, credits: 75, job: { actual_cost: 25 } });
    expect(urls).toHaveLength(1);
    expect(waited).toEqual([2_000, 3_000, 4_500]);
    expect((await ada.get("/api/jobs")).body.jobs).toHaveLength(1);
  });

  it("runJob throws approval_denied if the holder denies the job", async () => {
    const { ada, outcome } = await runBeyondCap(noting, (ada, path) =>
      postForm(ada, `${path}/deny`, {}),
    );
    expect(outcome).toMatchObject({ code: "approval_denied", status: 403 });
    expect((await ada.get("/api/jobs")).body.jobs).toEqual([]);
  });

  it("runJob stops waiting for an approval when its signal is aborted", async () => {
    const stop = new AbortController();
    const reason = new Error("stopped");
    const { outcome, waited } = await runBeyondCap(
      (_, urls) => ({ ...noting(_, urls), signal: stop.signal }),
      async () => stop.abort(reason),
    );
    expect(outcome).toBe(reason);
    expect(waited).toHaveLength(1);
  });

  it("without onApprovalNeeded, runJob throws the refusal with the approval's address", async () => {
    const { outcome, waited } = await runBeyondCap(
      () => ({}),
      async () => {},
    );
    expect(outcome).toMatchObject({
      code: "token_budget_exceeded",
      body: { room: 20, required: 30, approval_url: expect.stringContaining("/approve/") },
    });
    expect(waited).toEqual([]);
  });
});
