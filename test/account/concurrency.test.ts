import { describe, expect, it } from "vitest";
import { signIn, signInWithCredits, type Answer } from "../support/passbook.ts";
import { expectInvariants } from "./invariants.ts";
import { readContents } from "../support/account_object.ts";

function times<Value>(count: number, make: (index: number) => Promise<Value>): Promise<Value[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)));
}

function countOf(answers: readonly Answer[], status: number): number {
  return answers.filter((answer) => answer.status === status).length;
}

describe("many calls at once on one account", () => {
  it("start exactly as many jobs as the balance covers: 200 of 400", async () => {
    const ada = await signIn();
    for (let app = 0; app < 10; app += 1) await ada.get(`/api/wallet?app=app-${app}`);
    const body = { app: "app-0", action: "draw", cost_estimate: 5 };
    const answers = await times(400, () => ada.post("/api/jobs", body));
    expect([countOf(answers, 200), countOf(answers, 402)]).toEqual([200, 200]);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(0);
    await expectInvariants(ada.identity_id);
  });

  it("end a job once: of 50 completes and fails, one wins", async () => {
    const ada = await signInWithCredits();
    const job = await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 50 });
    const { job_id } = job.body;
    const answers = await times(50, (index) =>
      index % 2 === 0
        ? ada.post("/api/jobs/complete", { job_id, actual_cost: index })
        : ada.post("/api/jobs/fail", { job_id, refund: index % 4 === 1 }),
    );
    expect([countOf(answers, 200), countOf(answers, 400)]).toEqual([1, 49]);
    await expectInvariants(ada.identity_id);
  });

  it("grant an app's starter credits once: of 20 first wallet calls, one did", async () => {
    const ada = await signIn();
    const answers = await times(20, () => ada.get("/api/wallet?app=demo"));
    expect(answers.filter((answer) => answer.body.app_grant.granted)).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer.body.account.id)).size).toBe(1);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    await expectInvariants(ada.identity_id);
  });

  it("with one Idempotency-Key make one job and get one answer, 20 times", async () => {
    const ada = await signInWithCredits();
    const body = { app: "demo", action: "draw", cost_estimate: 10 };
    const answers = await times(20, () => ada.post("/api/jobs", body, { "Idempotency-Key": "k" }));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(
      answers.filter((answer) => answer.headers.get("Idempotency-Replayed") === "true"),
    ).toHaveLength(19);
    const { jobs } = await readContents(ada.identity_id);
    expect(jobs).toHaveLength(1);
    await expectInvariants(ada.identity_id);
  });

  it("of two people touch nothing of each other", async () => {
    const [ada, bob] = [
      await signInWithCredits("demo", "ada@example.com"),
      await signInWithCredits("demo", "bob@example.com"),
    ];
    const body = { app: "demo", action: "draw", cost_estimate: 7 };
    await times(20, (index) => (index % 2 === 0 ? ada : bob).post("/api/jobs", body));
    for (const person of [ada, bob]) {
      expect((await person.get("/api/wallet")).body.account.credits).toBe(30);
      await expectInvariants(person.identity_id);
    }
  });
});

describe("another account's job", () => {
  it("is unknown, exactly like a job that never was", async () => {
    const ada = await signInWithCredits("demo", "ada@example.com");
    const eve = await signInWithCredits("demo", "eve@example.com");
    const job = await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 5 });
    const unknown_id = "018f0000-0000-7000-8000-000000000000";
    for (const [path, rest] of [
      ["/api/jobs/complete", { actual_cost: 1 }],
      ["/api/jobs/fail", {}],
    ] as const) {
      const foreign = await eve.post(path, { job_id: job.body.job_id, ...rest });
      const unknown = await eve.post(path, { job_id: unknown_id, ...rest });
      expect(foreign.status).toBe(400);
      expect([foreign.status, foreign.text]).toEqual([unknown.status, unknown.text]);
    }
    const read = await eve.get(`/api/jobs/${job.body.job_id}`);
    expect(read.status).toBe(404);
    expect((await ada.get(`/api/jobs/${job.body.job_id}`)).body.status).toBe("started");
  });
});
