import { describe, expect, it } from "vitest";
import { createClient, isPassbookError, type PassbookClient } from "../../../src/client/index.ts";
import { BASE_URL, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import { openNetwork, type Fault } from "./worker_fetch.ts";

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
        expect(
          reported.map(({ job: { step, spent, reserved } }) => [step, spent, reserved]),
        ).toEqual([
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
    expect(body.entries.map(({ amount }: { amount: number }) => amount)).toEqual([
      0, 5, -20, 0, -10,
    ]);
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
              expect((await same.progress({ spent: 2 })).job.step).toBe(1_000_001);
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
});
