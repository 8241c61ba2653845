import { describe, expect, it } from "vitest";
import {
  createClient,
  isPassbookError,
  type PassbookClient,
  type RunningJob,
} from "../../../src/client/index.ts";
import { JOB_STEPS_MAX } from "../../../src/domain/limits.ts";
import { change } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import { BASE_URL, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import { openNetwork, workerFetch, type Fault } from "./worker_fetch.ts";

const JOB = { app: "demo", action: "draw", costEstimate: 10 };

function clientOf(person: SignedIn, faults: readonly Fault[] = []): PassbookClient {
  const network = openNetwork(faults);
  return createClient({
    baseUrl: "http://localhost",
    token: person.token,
    fetch: (url, init) => network.fetch(url.replace("http://localhost", BASE_URL), init),
    wait: async () => {},
  });
}

const newestJob = async (person: SignedIn) => (await person.get("/api/jobs?limit=1")).body.jobs[0];

describe("job.progress of runJob", () => {
  it("job.progress reports each step once, in order, even if responses are lost", async () => {
    const ada = await signInWithCredits();
    const client = clientOf(ada, ["none", "response_lost", "none", "request_lost"]);
    const warnings: string[] = [];
    const ran = await client.runJob(
      JOB,
      async (job) => {
        const reports = [
          job.progress({ spent: 4, ttlSeconds: 3_600 }),
          job.progress({ spent: 15, reserve: 30 }),
          job.progress({ reserve: 25 }),
        ];
        const reported = await Promise.all(reports);
        expect(reported.map((it) => [it?.job.step, it?.job.spent, it?.job.reserved])).toEqual([
          [1, 4, 10],
          [2, 15, 30],
          [3, 15, 25],
        ]);
        expect(reported[2]?.credits).toBe(75);
        return { result: "a picture", actualCost: Number.NaN };
      },
      { onWarning: (message) => void warnings.push(message) },
    );
    expect(ran.job).toMatchObject({ status: "completed", reserved: 25, actual_cost: 25 });
    expect(warnings[0]).toContain("at its reserve, 25");
    const { body } = await ada.get(`/api/ledger?job_id=${ran.job.id}`);
    expect(body.entries.map(({ amount }: { amount: number }) => amount)).toEqual([0, 5, -20, -10]);
  });

  it("job.progress shows people how far the work is, and what it shows never stops the work", async () => {
    const ada = await signInWithCredits();
    await clientOf(ada).runJob(JOB, async (job) => {
      const shown = await job.progress({ done: 0.4, message: "Frame 40 of 100" });
      expect(shown?.job).toMatchObject({ done: 0.4, message: "Frame 40 of 100" });
      const wrong = await job.progress({ done: 1.2, message: `${"x".repeat(199)}😀` });
      expect(wrong?.job).toMatchObject({ done: 1, message: `${"x".repeat(199)}\ufffd` });
      expect((await job.progress({ done: Number.NaN }))?.job.done).toBe(1);
      return { result: null, actualCost: 3 };
    });
    expect(await newestJob(ada)).toMatchObject({ status: "completed", step: 3, done: 1 });
  });

  it("work may catch a refused report, and the job is then settled", async () => {
    const ada = await signInWithCredits();
    const ran = await clientOf(ada).runJob(JOB, async (job) => {
      await expect(job.progress({ reserve: 101 })).rejects.toMatchObject({
        code: "insufficient_credits",
        body: { required: 91 },
      });
      return { result: null, actualCost: 8 };
    });
    expect(ran.credits).toBe(92);
  });

  it("settlement waits for a report that the work did not wait for", async () => {
    const ada = await signInWithCredits();
    const ran = await clientOf(ada).runJob(JOB, async (job) => {
      void job.progress({ reserve: 20 });
      return { result: null, actualCost: 18 };
    });
    expect(ran.job).toMatchObject({ reserved: 20, actual_cost: 18 });
  });

  it.each(["rethrows", "ignores"])(
    "a run whose job another process resumed leaves the job to it, even if its work %s the refusal",
    async (handling) => {
      const ada = await signInWithCredits();
      const client = clientOf(ada);
      const first = client.runJob(
        JOB,
        async (job) => {
          await job.progress({ spent: 1 });
          const second = await clientOf(ada).runJob(
            JOB,
            async (same) => {
              expect(same.id).toBe(job.id);
              expect((await same.progress({ spent: 2 }))?.job.step).toBe(1_000_001);
              const refused = await job.progress({ spent: 9 }).catch((error: unknown) => error);
              expect(isPassbookError(refused, "step_too_old")).toBe(true);
              expect((await newestJob(ada)).status).toBe("started");
              return { result: null, actualCost: 3 };
            },
            { key: "long" },
          );
          expect(second.credits).toBe(97);
          if (handling === "rethrows") await job.progress({ spent: 9 });
          return { result: null, actualCost: 9 };
        },
        { key: "long" },
      );
      await expect(first).rejects.toMatchObject({ code: "step_too_old" });
      await client.whenIdle();
      expect(await newestJob(ada)).toMatchObject({ status: "completed", actual_cost: 3 });
    },
  );

  it.each(["throws", "is aborted"])(
    "a run whose job another process resumed does not end it when its work %s, even if neither reported",
    async (how) => {
      const ada = await signInWithCredits();
      const client = clientOf(ada);
      const stop = new AbortController();
      const [at_work, lost] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()];
      const work = async () => {
        at_work.resolve();
        return lost.promise;
      };
      const first = client.runJob(JOB, work, { key: "long", signal: stop.signal });
      await at_work.promise;
      const second = await clientOf(ada).runJob(
        JOB,
        async () => {
          expect(await newestJob(ada)).toMatchObject({ status: "started", step: 1_000_000 });
          if (how === "throws") lost.reject(new Error("no GPU"));
          else stop.abort(new Error("no GPU"));
          await expect(first).rejects.toThrow("no GPU");
          await client.whenIdle();
          return { result: null, actualCost: 8 };
        },
        { key: "long" },
      );
      expect(second).toMatchObject({ credits: 92, job: { status: "completed", actual_cost: 8 } });
    },
  );

  it("runs that resume a job at the same time take different steps, and one of them is paid", async () => {
    const ada = await signInWithCredits();
    const begun = Promise.withResolvers<void>();
    void clientOf(ada).runJob(
      JOB,
      () => {
        begun.resolve();
        return new Promise<never>(() => {});
      },
      { key: "long" },
    );
    await begun.promise;
    const all_at_work = Promise.withResolvers<void>();
    let working = 0;
    const run = (cost: number) =>
      clientOf(ada).runJob(
        JOB,
        async (job) => {
          if ((working += 1) === 3) all_at_work.resolve();
          await all_at_work.promise;
          await job.progress({ spent: cost });
          return { result: null, actualCost: cost };
        },
        { key: "long" },
      );
    const ended = await Promise.allSettled([run(5), run(6), run(7)]);
    const paid = ended.filter(({ status }) => status === "fulfilled");
    expect(paid).toHaveLength(1);
    expect(ended.filter(({ status }) => status === "rejected")).toMatchObject([
      { reason: { code: "step_too_old" } },
      { reason: { code: "step_too_old" } },
    ]);
    const job = await newestJob(ada);
    expect(paid).toMatchObject([{ value: { job: { actual_cost: job.actual_cost } } }]);
    expect(job.spent).toBe(job.actual_cost);
  });

  it("a run that may take no more steps resumes without one, with a warning", async () => {
    const ada = await signInWithCredits();
    const options = { key: "long", onWarning: (message: string) => void warnings.push(message) };
    const warnings: string[] = [];
    const begun = Promise.withResolvers<void>();
    void clientOf(ada).runJob(
      JOB,
      async (job) => {
        await job.progress({ spent: 1 });
        begun.resolve();
        return new Promise<never>(() => {});
      },
      options,
    );
    await begun.promise;
    await change(
      ada.identity_id,
      `update jobs set progress_json = json_set(progress_json, '$.count', ${JOB_STEPS_MAX})`,
    );
    const done = async () => ({ result: null, actualCost: 4 });
    const ran = await clientOf(ada).runJob(JOB, done, options);
    expect(ran.job).toMatchObject({ status: "completed", step: 1, actual_cost: 4 });
    expect(warnings).toEqual([expect.stringContaining("without a step of its own")]);
  });
});

/** A client whose reports fail while `is_down`. */
function clientInOutage(person: SignedIn) {
  const outage = { is_down: true, attempts: 0 };
  const warnings: string[] = [];
  const client = createClient({
    baseUrl: "http://localhost",
    token: person.token,
    fetch: async (url, init) => {
      if (url.endsWith("/progress")) outage.attempts += 1;
      if (outage.is_down && url.endsWith("/progress")) throw new TypeError("fetch failed");
      return workerFetch(url.replace("http://localhost", BASE_URL), init);
    },
    wait: pause,
  });
  return { client, outage, warnings, onWarning: (it: string) => void warnings.push(it) };
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause();
}

describe("job.progress during an outage", () => {
  it("a report without a response resolves with null, and is delivered with later ones after the outage", async () => {
    const ada = await signInWithCredits();
    const { client, outage, warnings, onWarning } = clientInOutage(ada);
    const work = async (job: RunningJob) => {
      expect(await job.progress({ spent: 1, reserve: 30 })).toBeNull();
      for (const spent of [2, 3, 4]) expect(await job.progress({ spent })).toBeNull();
      outage.is_down = false;
      await until(async () => (await newestJob(ada)).spent === 4);
      expect(await newestJob(ada)).toMatchObject({ step: 2, reserved: 30 });
      expect((await job.progress({ spent: 5 }))?.job.step).toBe(3);
      return { result: null, actualCost: 6 };
    };
    expect(await client.runJob(JOB, work, { onWarning })).toMatchObject({ credits: 94 });
    expect(warnings).toEqual([]);
  });

  it("finished work is settled although no report got a response, and nothing is sent afterwards", async () => {
    const ada = await signInWithCredits();
    const { client, outage, onWarning } = clientInOutage(ada);
    const work = async (job: RunningJob) => {
      await job.progress({ spent: 1 });
      void job.progress({ spent: 2 });
      return { result: "film", actualCost: 9 };
    };
    const ran = await client.runJob(JOB, work, { onWarning });
    expect(ran).toMatchObject({ result: "film", credits: 91 });
    await client.whenIdle();
    const { attempts } = outage;
    await pause();
    expect(outage.attempts).toBe(attempts);
  });

  it("a report is not repeated after the job's expiry, and finished work is then settled late", async () => {
    const ada = await signInWithCredits();
    const { client, warnings, onWarning } = clientInOutage(ada);
    const work = async (job: RunningJob) => {
      expect(await job.progress({ spent: 1 })).toBeNull();
      passTime(61_000);
      await until(async () => warnings.length > 0);
      return { result: null, actualCost: 7 };
    };
    const ran = await client.runJob({ ...JOB, ttlSeconds: 60 }, work, { onWarning });
    expect(ran.job).toMatchObject({ status: "completed", actual_cost: 7 });
    expect(warnings).toEqual([expect.stringContaining("gave no response")]);
  });

  it("a refusal that arrives after the outage is thrown by the next report, once", async () => {
    const ada = await signInWithCredits();
    const { client, outage } = clientInOutage(ada);
    const ran = await client.runJob(JOB, async (job) => {
      expect(await job.progress({ reserve: 101 })).toBeNull();
      const before = outage.attempts;
      outage.is_down = false;
      await until(async () => outage.attempts > before);
      await pause();
      await until(async () => {
        const refused: unknown = await job.progress({ spent: 2 }).catch((it: unknown) => it);
        return isPassbookError(refused, "insufficient_credits");
      });
      expect((await job.progress({ spent: 3 }))?.job).toMatchObject({ spent: 3, reserved: 10 });
      return { result: null, actualCost: 3 };
    });
    expect(ran.credits).toBe(97);
  });

  it("a report that the service cannot take for another reason does not throw, and is a warning", async () => {
    const ada = await signInWithCredits();
    const warnings: string[] = [];
    const work = async (job: RunningJob) => {
      expect(await job.progress({ ttlSeconds: 5 })).toBeNull();
      expect(await job.progress({ spent: Number.NaN })).not.toBeNull();
      const reported = await job.progress({ spent: 4.2, reserve: 11.5 });
      expect(reported?.job).toMatchObject({ spent: 5, reserved: 12 });
      return { result: null, actualCost: 5 };
    };
    const options = { onWarning: (message: string) => void warnings.push(message) };
    expect(await clientOf(ada).runJob(JOB, work, options)).toMatchObject({ credits: 95 });
    expect(warnings).toEqual([
      expect.stringContaining("ttl_seconds"),
      expect.stringContaining("spent must be a whole number"),
    ]);
  });
});

describe("a job that its holder cancels", () => {
  it.each(["stops", "goes on"])(
    "the signal of the work is aborted by the report that was refused, and the job stays at what it spent if the work %s",
    async (what) => {
      const ada = await signInWithCredits();
      const ran = clientOf(ada).runJob(JOB, async (job) => {
        await job.progress({ spent: 4 });
        await ada.post("/api/jobs/cancel", { job_id: job.id });
        expect(job.signal.aborted).toBe(false);
        const refused = await job.progress({ spent: 5 }).catch((error: unknown) => error);
        expect(isPassbookError(refused, "job_ended")).toBe(true);
        expect([job.signal.aborted, job.signal.reason]).toEqual([true, refused]);
        if (what === "stops") job.signal.throwIfAborted();
        await expect(job.progress({ spent: 6 })).rejects.toBe(refused);
        return { result: "a film", actualCost: 9 };
      });
      const result = what === "stops" ? undefined : "a film";
      await expect(ran).rejects.toMatchObject({ code: "job_ended", result });
      expect(await newestJob(ada)).toMatchObject({
        status: "failed",
        failure: "cancelled",
        actual_cost: 4,
      });
    },
  );
});

describe("onFailure", () => {
  it.each([
    ["refund", "throws", 0],
    ["refund", "is aborted", 0],
    [undefined, "throws", 0],
    ["charge_spent", "throws", 7],
    ["charge_spent", "is aborted", 7],
  ] as const)("with onFailure %s, work that %s after it spent 6.5 costs %i", async (...given) => {
    const [onFailure, how, cost] = given;
    const ada = await signInWithCredits();
    const stop = new AbortController();
    const run = clientOf(ada).runJob(
      JOB,
      async (job) => {
        await job.progress({ spent: 6.5 });
        if (how === "throws") throw new Error("no paper");
        stop.abort(new Error("no paper"));
        return new Promise<never>(() => {});
      },
      { onFailure, signal: stop.signal },
    );
    await expect(run).rejects.toThrow("no paper");
    const job = { status: "failed", actual_cost: cost, failure_reason: "no paper" };
    expect(await newestJob(ada)).toMatchObject(job);
  });

  it("work that spent more than the job holds costs what it holds", async () => {
    const ada = await signInWithCredits();
    const { client } = clientInOutage(ada);
    const run = client.runJob(
      JOB,
      async (job) => {
        await job.progress({ spent: 20, reserve: 30 });
        throw new Error("no paper");
      },
      { onFailure: "charge_spent" },
    );
    await expect(run).rejects.toThrow("no paper");
    expect(await newestJob(ada)).toMatchObject({ status: "failed", actual_cost: 10 });
  });

  it("a resumed run charges what the run before it has spent", async () => {
    const ada = await signInWithCredits();
    const begun = Promise.withResolvers<void>();
    const options = { key: "long", onFailure: "charge_spent" } as const;
    void clientOf(ada).runJob(
      JOB,
      async (job) => {
        await job.progress({ spent: 3 });
        begun.resolve();
        return new Promise<never>(() => {});
      },
      options,
    );
    await begun.promise;
    const run = clientOf(ada).runJob(JOB, () => Promise.reject(new Error("no paper")), options);
    await expect(run).rejects.toThrow("no paper");
    expect(await newestJob(ada)).toMatchObject({ status: "failed", actual_cost: 3 });
  });
});
