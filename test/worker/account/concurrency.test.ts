import { describe, expect, it } from "vitest";
import { signIn, signInWithCredits, type Answer, type SignedIn } from "../support/passbook.ts";
import { expectInvariants } from "./invariants.ts";
import { evict, readContents } from "../support/account_object.ts";

function times<Value>(count: number, make: (index: number) => Promise<Value>): Promise<Value[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)));
}

function countOf(answers: readonly Answer[], status: number): number {
  return answers.filter((answer) => answer.status === status).length;
}

describe("many calls at once on one account", () => {
  it("400 concurrent creates start exactly the 200 jobs that the balance covers", async () => {
    const ada = await signIn();
    for (let app = 0; app < 10; app += 1) await ada.get(`/api/wallet?app=app-${app}`);
    const body = { app: "app-0", action: "draw", cost_estimate: 5 };
    const answers = await times(400, () => ada.post("/api/jobs", body));
    expect([countOf(answers, 200), countOf(answers, 402)]).toEqual([200, 200]);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(0);
    await expectInvariants(ada.identity_id);
  });

  it("one of 50 concurrent completes and fails ends the job, and the others are refused", async () => {
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

  it("one of 20 concurrent first wallet calls grants the app's starter credits", async () => {
    const ada = await signIn();
    const answers = await times(20, () => ada.get("/api/wallet?app=demo"));
    expect(answers.filter((answer) => answer.body.app_grant.granted)).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer.body.account.id)).size).toBe(1);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    await expectInvariants(ada.identity_id);
  });

  it("20 concurrent creates with one Idempotency-Key make one job and get the same response", async () => {
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

  it("concurrent calls of two people change nothing in each other's account", async () => {
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

describe("many accounts that share an isolate and are evicted in turn", () => {
  const ROUNDS = 3;
  /** Creates three jobs of `cost`: one is completed for 1 credit, one fails, one stays started. */
  async function work(person: SignedIn, cost: number, round: number): Promise<void> {
    const job = { app: `app-${cost}`, action: `draw for ${cost}`, cost_estimate: cost };
    const key = { "Idempotency-Key": `round-${round}` };
    const [first, again, second] = [
      await person.post("/api/jobs", job, key),
      await person.post("/api/jobs", job, key),
      await person.post("/api/jobs", job),
    ];
    expect(again.text).toBe(first.text);
    await person.post("/api/jobs/complete", { job_id: first.body.job_id, actual_cost: 1 });
    await person.post("/api/jobs/fail", { job_id: second.body.job_id });
    await person.post("/api/jobs", { ...job, metadata: { cost } });
  }

  it("accounts that share an isolate have exact ledgers and never each other's rows", async () => {
    const people = await times(12, (index) => signIn(`person-${index}@example.com`));
    const costs = people.map((_, index) => index + 1);
    const all = <Value>(doing: (person: SignedIn, cost: number) => Promise<Value>) =>
      Promise.all(people.map((person, index) => doing(person, costs[index] ?? 0)));
    await all((person, cost) => person.get(`/api/wallet?app=app-${cost}`));
    for (let round = 0; round < ROUNDS; round += 1) {
      await all((person, cost) => work(person, cost, round));
      const asleep = people.filter((_, index) => index % ROUNDS === round);
      for (const { identity_id } of asleep) await evict(identity_id);
    }
    const wallets = await all((person) => person.get("/api/wallet"));
    expect(wallets.map(({ body }) => [body.account.credits, body.apps])).toEqual(
      costs.map((cost) => [
        100 - ROUNDS - ROUNDS * cost,
        [expect.objectContaining({ slug: `app-${cost}`, starter_credits: 100, granted: true })],
      ]),
    );
    const lists = await all((person, cost) =>
      person.get(`/api/jobs?app=app-${cost}&status=started`),
    );
    expect(
      lists.map(({ body }) => body.jobs.map((job: { metadata: object }) => job.metadata)),
    ).toEqual(costs.map((cost) => Array.from({ length: ROUNDS }, () => ({ cost }))));
    const ledgers = await all((person) => person.get("/api/ledger?kind=settle"));
    expect(
      ledgers.map(({ body }) => body.entries.map((line: { amount: number }) => line.amount)),
    ).toEqual(costs.map((cost) => Array.from({ length: ROUNDS }, () => cost - 1)));
    for (const [index, { identity_id }] of people.entries()) {
      const { jobs } = await readContents(identity_id);
      const actions = Array.from({ length: 3 * ROUNDS }, () => `draw for ${index + 1}`);
      expect(jobs.map(({ action }) => action)).toEqual(actions);
      await expectInvariants(identity_id);
    }
  });
});

describe("another account's job", () => {
  it("a job of another account gets the same response as a job that does not exist", async () => {
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
