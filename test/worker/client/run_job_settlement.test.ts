import { describe, expect, it } from "vitest";
import { passTime } from "../support/clock.ts";
import {
  createClient,
  PassbookError,
  type Fetch,
  type RunJobOptions,
} from "../../../src/client/index.ts";
import { createAppClient } from "../../../src/client/server.ts";
import { openAppServer } from "../http/caller/app_server.ts";
import { getToken } from "../support/device_logins.ts";
import { BASE_URL, signInWithCredits } from "../support/passbook.ts";
import { workerFetch } from "./worker_fetch.ts";

const JOB = { app: "demo", action: "draw", costEstimate: 40 };

const here: Fetch = (url, init) => workerFetch(url.replace("http://localhost", BASE_URL), init);

/** A client with `token`, and the warnings of its runs. */
function clientBy(token: string, fetch: Fetch = here) {
  const client = createClient({ baseUrl: "http://localhost", token, fetch, wait: async () => {} });
  const warnings: string[] = [];
  const options: RunJobOptions = { onWarning: (message) => void warnings.push(message) };
  return { client, warnings, options };
}

async function adaAndClient() {
  const ada = await signInWithCredits();
  return { ada, ...clientBy(ada.token) };
}

describe("runJob after the work", () => {
  it.each([
    [12.3, 13],
    [24.000000001, 25],
    [0.1, 1],
  ])("runJob settles a cost of %d at %d credits, with a warning", async (actualCost, cost) => {
    const { ada, client, options, warnings } = await adaAndClient();
    const ran = await client.runJob(JOB, async () => ({ result: "a fox", actualCost }), options);
    expect(ran).toMatchObject({ result: "a fox", credits: 100 - cost, unsettled: 0 });
    expect(ran.job).toMatchObject({ status: "completed", actual_cost: cost });
    expect(warnings).toEqual([expect.stringContaining(`${actualCost}: it is rounded up, ${cost}`)]);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100 - cost);
  });

  it.each<[string, unknown]>([
    ["negative", -1],
    ["NaN", Number.NaN],
    ["infinite", Number.POSITIVE_INFINITY],
    ["more than a job may cost", 1e15],
    ["text", "25"],
    ["missing", undefined],
  ])("runJob settles a cost that is %s at the estimate, with a warning", async (_, actualCost) => {
    const { client, options, warnings } = await adaAndClient();
    const done = { result: "a fox", actualCost: actualCost as number };
    const ran = await client.runJob(JOB, async () => done, options);
    expect(ran).toMatchObject({ result: "a fox", credits: 60, job: { actual_cost: 40 } });
    expect(warnings).toEqual([expect.stringContaining("settled at its reserve, 40")]);
  });

  it("runJob settles although the caller's onWarning throws", async () => {
    const { client } = await adaAndClient();
    const onWarning = () => expect.fail("no warnings");
    const ran = client.runJob(JOB, async () => ({ result: 1, actualCost: 1.5 }), { onWarning });
    expect(await ran).toMatchObject({ result: 1, credits: 98 });
  });

  it("runJob keeps a result that the work returned without a cost", async () => {
    const { client, options } = await adaAndClient();
    const work = async () => "a fox" as unknown as { result: string; actualCost: number };
    expect(await client.runJob(JOB, work, options)).toMatchObject({ result: "a fox", credits: 60 });
  });

  it.each([1.5, -1, Number.NaN, 1_000_000_000_001, "5" as unknown as number])(
    "runJob refuses an estimate of %s before it sends a request",
    async (costEstimate) => {
      const { ada, client } = await adaAndClient();
      const run = client.runJob({ ...JOB, costEstimate }, async () => expect.fail("it worked"));
      await expect(run).rejects.toMatchObject({ code: "invalid_argument" });
      expect((await ada.get("/api/jobs")).body.jobs).toEqual([]);
    },
  );

  it("runJob settles at the amount that the token's cap allows if the cost exceeds it by one credit", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    const { client, options, warnings } = clientBy(token.token);
    const ran = await client.runJob(
      JOB,
      async () => ({ result: "a fox", actualCost: 51 }),
      options,
    );
    expect(ran).toMatchObject({ result: "a fox", credits: 50, unsettled: 1 });
    expect(ran.job).toMatchObject({ status: "completed", actual_cost: 50 });
    expect(warnings).toEqual([expect.stringContaining("settled at 50 of 51 credits")]);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(50);
  });

  it("runJob settles at the estimate if a cap refuses the overage without numbers", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    const terse: Fetch = async (url, init) => {
      const response = await here(url, init);
      if (response.status !== 402) return response;
      return { ...response, text: async () => '{"error":"No.","code":"token_budget_exceeded"}' };
    };
    const { client, options } = clientBy(token.token, terse);
    const ran = await client.runJob(JOB, async () => ({ result: 1, actualCost: 51 }), options);
    expect(ran).toMatchObject({ unsettled: 11, job: { actual_cost: 40 } });
  });

  it.each<[string, unknown]>([
    ["too large", { text: "x".repeat(20_000) }],
    ["larger than a body", { text: "x".repeat(80_000) }],
    ["not an object", ["a"]],
    ["not JSON", { bytes: 1n }],
  ])("runJob settles without metadata that is %s, with a warning", async (_, metadata) => {
    const { client, options, warnings } = await adaAndClient();
    const done = { result: "a fox", actualCost: 4, metadata: metadata as Record<string, unknown> };
    const job = { ...JOB, metadata: { kept: 1 } };
    const ran = await client.runJob(job, async () => done, options);
    expect(ran).toMatchObject({ result: "a fox", credits: 96, job: { metadata: { kept: 1 } } });
    expect(warnings).toEqual([expect.stringContaining("without its metadata")]);
  });

  it("the error has the result of the work if the job cannot be settled", async () => {
    const { ada, client, options } = await adaAndClient();
    const run = client.runJob(
      JOB,
      async ({ id }) => {
        await ada.post("/api/jobs/fail", { job_id: id });
        return { result: "a fox", actualCost: 4 };
      },
      options,
    );
    await expect(run).rejects.toMatchObject({ code: "job_ended", result: "a fox", job: null });
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
  });
});

describe("runJob if the work fails", () => {
  const failing = async (thrown: unknown, more: RunJobOptions = {}) => {
    const { ada, client, options } = await adaAndClient();
    const work = (): Promise<never> => Promise.reject(thrown);
    const run = client.runJob(JOB, work, { ...options, ...more });
    await expect(run).rejects.toBe(thrown);
    const [job] = (await ada.get("/api/jobs")).body.jobs;
    expect(job).toMatchObject({ status: "failed", failure: "reported", actual_cost: 0 });
    return job.failure_reason as string | null;
  };

  it("the error's message becomes the job's failure_reason", async () => {
    expect(await failing(new Error("out of paper"))).toBe("out of paper");
    expect(await failing("out of paper")).toBe("out of paper");
  });

  it("a failure_reason is shortened to 500 characters, without characters that the service refuses", async () => {
    expect(await failing(new Error("x".repeat(501)))).toBe(`${"x".repeat(499)}…`);
    expect(await failing(new Error("a\0b\ud800"))).toBe("ab\ufffd");
    expect(await failing(new Error(`${"x".repeat(498)}😀😀`))).toBe(`${"x".repeat(498)}\ufffd…`);
  });

  it("a job has no failure_reason if the error has no message or reportReason is false", async () => {
    expect(await failing(new Error(" "))).toBeNull();
    expect(await failing({ secret: 1 })).toBeNull();
    expect(await failing(new Error("the key is 42"), { reportReason: false })).toBeNull();
  });

  it("the holder never reads an address of the client's own errors", async () => {
    const unreachable = new PassbookError("no_response", "http://10.0.0.1 gave no response.");
    expect(await failing(unreachable)).toBe("The app could not finish this job.");
  });

  it("with an app's key the reason is a general sentence, unless reportReason is true or false", async () => {
    const ada = await signInWithCredits();
    const { key } = await openAppServer("demo");
    // Another test may just have made the isolate read the registry for a key that it did not know.
    passTime(60_000);
    const client = createAppClient({
      baseUrl: "http://localhost",
      key,
      identity: ada.identity_id,
      fetch: here,
    });
    for (const [reportReason, failure_reason] of [
      [undefined, "The app could not finish this job."],
      [true, "secret path /srv/x failed"],
      [false, null],
    ] as const) {
      const work = () => Promise.reject(new Error("secret path /srv/x failed"));
      await expect(client.runJob(JOB, work, { reportReason })).rejects.toThrow("secret path");
      const [job] = (await ada.get("/api/jobs?limit=1")).body.jobs;
      expect(job).toMatchObject({ status: "failed", failure_reason });
    }
  });
});
