import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createClient,
  isPassbookError,
  type Fetch,
  type RunningJob,
} from "../../../src/client/index.ts";
import { passTime } from "../support/clock.ts";
import { BASE_URL, signIn, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import {
  FAULTS,
  openNetwork,
  workerFetch,
  type Fault,
  type FaultyNetwork,
} from "./worker_fetch.ts";
import { histories } from "../support/histories.ts";

const JOB = { app: "demo", action: "draw", costEstimate: 10 };
const KEY = { key: "render-4711" };

const here: Fetch = (url, init) => workerFetch(url.replace("http://localhost", BASE_URL), init);

/** A new client stands for a restarted process: it has no state of earlier ones. */
function processOf({ token }: SignedIn, fetch: Fetch = here) {
  return createClient({ baseUrl: "http://localhost", token, fetch, wait: async () => {} });
}

/** Runs a job in a process that dies during the work. @returns the job's id */
async function dieAtWork(person: SignedIn, job: object = JOB): Promise<string> {
  return new Promise((resolve) => {
    const work = ({ id }: { id: string }) => {
      resolve(id);
      return new Promise<never>(() => {});
    };
    void processOf(person).runJob({ ...JOB, ...job }, work, KEY);
  });
}

class WorkFailed extends Error {}

const done = async () => ({ result: "a fox", actualCost: 7 });

const neverDone = async (): Promise<never> => expect.fail("the work was done again");

async function jobsOf(person: SignedIn) {
  const { jobs } = (await person.get("/api/jobs")).body;
  return jobs.map(({ status, actual_cost }: { status: string; actual_cost: number }) => [
    status,
    actual_cost,
  ]);
}

describe("runJob under the caller's own key", () => {
  it("a run under the same key resumes the job of a process that died, without a second reserve", async () => {
    const ada = await signInWithCredits();
    const id = await dieAtWork(ada);
    const ran = await processOf(ada).runJob(JOB, done, KEY);
    expect(ran).toMatchObject({ result: "a fox", credits: 93, job: { id } });
    expect(await jobsOf(ada)).toEqual([["completed", 7]]);
  });

  it("a run under the key of a completed job does not repeat the work, and throws job_ended with the job", async () => {
    const ada = await signInWithCredits();
    await processOf(ada).runJob(JOB, done, KEY);
    const again = processOf(ada).runJob(JOB, neverDone, KEY);
    const error: unknown = await again.catch((it: unknown) => it);
    expect(isPassbookError(error, "job_ended") && error.job).toMatchObject({
      status: "completed",
      actual_cost: 7,
    });
    expect(await jobsOf(ada)).toEqual([["completed", 7]]);
  });

  it("a run under the key of a failed job does not repeat the work, and the error says to use another key", async () => {
    const ada = await signInWithCredits();
    const first = processOf(ada).runJob(JOB, () => Promise.reject(new Error("no paper")), KEY);
    await expect(first).rejects.toThrow("no paper");
    const again = processOf(ada).runJob(JOB, neverDone, KEY);
    await expect(again).rejects.toMatchObject({
      code: "job_ended",
      message: "The job of this key has failed. To run the work again, use another key.",
      job: { status: "failed", failure_reason: "no paper" },
    });
  });

  it("a run under the key of an expired job does not repeat the work, since nothing is reserved", async () => {
    const ada = await signInWithCredits();
    await dieAtWork(ada, { ttlSeconds: 60 });
    passTime(61_000);
    const later = await signIn();
    const again = processOf(later).runJob({ ...JOB, ttlSeconds: 60 }, neverDone, KEY);
    await expect(again).rejects.toMatchObject({
      code: "job_ended",
      job: { status: "failed", failure: "expired" },
    });
    expect((await later.get("/api/wallet")).body.account.credits).toBe(100);
  });

  it("a run with another request under a used key is refused", async () => {
    const ada = await signInWithCredits();
    await dieAtWork(ada);
    const other = processOf(ada).runJob({ ...JOB, costEstimate: 11 }, neverDone, KEY);
    await expect(other).rejects.toMatchObject({ code: "idempotency_key_reused" });
    expect(await jobsOf(ada)).toEqual([["started", 0]]);
  });

  it("a job whose creation got no response stays started, so that the next process can resume it", async () => {
    const ada = await signInWithCredits();
    const network = openNetwork(Array<Fault>(5).fill("response_lost"));
    const first = processOf(ada, (url, init) =>
      network.fetch(url.replace("http://localhost", BASE_URL), init),
    );
    await expect(first.runJob(JOB, neverDone, KEY)).rejects.toMatchObject({ code: "no_response" });
    await first.whenIdle();
    expect(await jobsOf(ada)).toEqual([["started", 0]]);
    expect(await processOf(ada).runJob(JOB, done, KEY)).toMatchObject({ credits: 93 });
    expect(await jobsOf(ada)).toEqual([["completed", 7]]);
  });

  it("two processes that run the same key at the same time are charged once, and the first one loses the job", async () => {
    const ada = await signInWithCredits();
    const both_at_work = Promise.withResolvers<void>();
    let working = 0;
    const work = async () => {
      working += 1;
      if (working === 2) both_at_work.resolve();
      await both_at_work.promise;
      return done();
    };
    const run = () => processOf(ada).runJob(JOB, work, KEY);
    const ended = await Promise.allSettled([run(), run()]);
    const [paid, lost] = ended.toSorted((one) => (one.status === "fulfilled" ? -1 : 1));
    expect(paid).toMatchObject({ value: { credits: 93 } });
    const reason = { code: "step_too_old", result: "a fox" };
    expect(lost).toMatchObject({ status: "rejected", reason });
    expect(await jobsOf(ada)).toEqual([["completed", 7]]);
  });

  it.each(["", "two words", "schlüssel", "x".repeat(201)])(
    "runJob refuses the key %j",
    async (key) => {
      const ada = await signInWithCredits();
      const run = processOf(ada).runJob(JOB, neverDone, { key });
      await expect(run).rejects.toMatchObject({ code: "invalid_argument" });
      expect(await jobsOf(ada)).toEqual([]);
    },
  );
});

/** A network on which the process dies: no request from the n-th on is sent. */
function dyingAt(count: number, network: FaultyNetwork) {
  const died = Promise.withResolvers<void>();
  const fetch: Fetch = (url, init) => {
    if (network.sent.length < count) {
      return network.fetch(url.replace("http://localhost", BASE_URL), init);
    }
    died.resolve();
    return new Promise(() => {});
  };
  return { fetch, died: died.promise };
}

describe("a process that dies at any request, and one that resumes", () => {
  it(
    "a process that dies at any request and the one that resumes it pay for the work once, with one job",
    { tags: ["history"] },
    async () => {
      let people = 0;
      const faults = fc.array(fc.constantFrom<Fault>("none", ...FAULTS), { maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(faults, fc.nat({ max: 6 }), faults, async (before, dies_at, after) => {
          const person = await signInWithCredits("demo", `ada${(people += 1)}@example.com`);
          const dying = openNetwork(before);
          const { fetch, died } = dyingAt(dies_at, dying);
          const first = processOf(person, fetch).runJob(JOB, done, KEY);
          await Promise.race([first.catch(() => {}), died]);
          const network = openNetwork(after);
          const second = processOf(person, (url, init) =>
            network.fetch(url.replace("http://localhost", BASE_URL), init),
          );
          const ended: unknown = await second
            .runJob(JOB, done, KEY)
            .catch((error: unknown) => error);
          await second.whenIdle();
          await dying.deliver();
          await network.deliver();
          const jobs = await jobsOf(person);
          expect(jobs.length).toBeLessThanOrEqual(1);
          const { credits } = (await person.get("/api/wallet")).body.account;
          const settled = ended instanceof Error ? null : (ended as { credits: number });
          if (settled !== null) expect(settled.credits).toBe(93);
          if (settled !== null || isPassbookError(ended, "job_ended")) {
            expect([credits, jobs]).toEqual([93, [["completed", 7]]]);
          } else {
            // The process died. The next one resumes the job.
            expect([90, 93, 100]).toContain(credits);
          }
        }),
        { numRuns: histories(40) },
      );
    },
  );
});

/** Whether a run sent this step. */
const hasTaken = (network: FaultyNetwork | undefined, step: number): boolean =>
  network?.sent.some(({ body }) => body?.includes(`"step":${step},"run"`)) ?? false;

describe("two live runs of one key", () => {
  it(
    "two live runs of one key over faulty networks end the job once, at the cost of the run that has it",
    { tags: ["history"] },
    async () => {
      let people = 0;
      const faults = fc.array(fc.constantFrom<Fault>("none", "none", ...FAULTS), { maxLength: 8 });
      const plan = fc.record({
        faults,
        reports: fc.array(fc.nat({ max: 10 }), { maxLength: 2 }),
        ends: fc.constantFrom("returns" as const, "throws" as const),
        onFailure: fc.constantFrom("refund" as const, "charge_spent" as const),
        cost: fc.nat({ max: 12 }),
        turns: fc.nat({ max: 8 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.tuple(plan, plan), async (plans) => {
          const person = await signInWithCredits("demo", `bob${(people += 1)}@example.com`);
          const runs = plans.map(({ faults: of_run, reports, ends, onFailure, cost, turns }) => {
            const network = openNetwork(of_run);
            const client = processOf(person, (url, init) =>
              network.fetch(url.replace("http://localhost", BASE_URL), init),
            );
            const work = async (job: RunningJob) => {
              for (const spent of reports) await job.progress({ spent });
              for (let turn = 0; turn < turns; turn += 1) await person.get("/api/wallet");
              if (ends === "throws") throw new WorkFailed();
              return { result: null, actualCost: cost };
            };
            const options = { ...KEY, onFailure, onWarning: () => {} };
            return { client, network, ended: client.runJob(JOB, work, options) };
          });
          const ended = await Promise.allSettled(runs.map((run) => run.ended));
          for (const { client, network } of runs) {
            await client.whenIdle();
            await network.deliver();
          }
          const jobs = (await person.get("/api/jobs")).body.jobs;
          expect(jobs.length).toBeLessThanOrEqual(1);
          const paid = plans.filter((_, index) => ended[index]?.status === "fulfilled");
          expect(paid.length).toBeLessThanOrEqual(1);
          const [job] = jobs;
          const credits = (await person.get("/api/wallet")).body.account.credits;
          const held = job?.status === "started" ? job.reserved : 0;
          expect(credits).toBe(100 - (job?.actual_cost ?? 0) - held);
          if (paid[0] !== undefined) {
            expect(job).toMatchObject({ status: "completed", actual_cost: paid[0].cost });
          } else if (job?.status === "failed") {
            // The run that had the job threw: what it cost is nothing, or what a run had spent.
            const stepped = plans.filter((_, index) => hasTaken(runs[index]?.network, job.step));
            const owners = job.step === 0 || stepped.length === 0 ? plans : stepped;
            expect(owners.some(({ ends }) => ends === "throws")).toBe(true);
            expect([0, ...plans.flatMap(({ reports }) => reports)]).toContain(job.actual_cost);
          }
        }),
        { numRuns: histories(40) },
      );
    },
  );
});
