import { env } from "cloudflare:workers";
import { evictDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { countRowsWritten, query } from "../../support/account_object.ts";
import { passTime } from "../../support/clock.ts";
import { getToken, holderOf, type TokenHolder } from "../../support/device_logins.ts";
import { narrow } from "../../support/exchanges.ts";
import { signIn, signInWithCredits, type SignedIn } from "../../support/passbook.ts";
import { expectInvariants } from "../invariants.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const reserve = (holder: TokenHolder | SignedIn, cost_estimate: number, more: object = {}) =>
  holder.post("/api/jobs", { app: "demo", action: "render", cost_estimate, ...more });

async function budgetOf(person: SignedIn): Promise<{ spent: number; room: number }> {
  const { body } = await person.getOwn("/api/tokens");
  return body.tokens[0].caps[0];
}

async function creditsOf(person: SignedIn): Promise<number> {
  return (await person.get("/api/wallet")).body.account.credits;
}

describe("a token capped at 50 credits", () => {
  it("a token capped at 50 credits reserves exactly 50 of 100 concurrent creates", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    const answers = await Promise.all(Array.from({ length: 100 }, () => reserve(token, 1)));
    const accepted = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 402);
    expect([accepted.length, refused.length]).toEqual([50, 50]);
    for (const { body } of refused) expect(body.code).toBe("token_budget_exceeded");
    expect(await creditsOf(ada)).toBe(50);
    expect(await budgetOf(ada)).toMatchObject({ spent: 50, room: 0 });
  });

  it("a token's cap still holds after the object was evicted", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    await reserve(token, 50);
    await evictDurableObject(env.ACCOUNT.getByName(ada.identity_id));
    expect((await reserve(token, 1)).status).toBe(402);
    expect((await reserve(token, 0)).status).toBe(200);
  });

  it("a token's spent cap does not restrict the holder's other credentials", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    await reserve(token, 50);
    expect((await reserve(ada, 50)).status).toBe(200);
    expect(await budgetOf(ada)).toMatchObject({ spent: 50 });
  });

  it("refunds, unused reserves and expired jobs give a capped token credits back", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    const failed = (await reserve(token, 50)).body.job_id;
    await token.post("/api/jobs/fail", { job_id: failed });
    expect(await budgetOf(ada)).toMatchObject({ spent: 0 });

    const settled = (await reserve(token, 50)).body.job_id;
    await ada.post("/api/jobs/complete", { job_id: settled, actual_cost: 20 });
    expect(await budgetOf(ada)).toMatchObject({ spent: 20 });

    const kept = (await reserve(token, 5)).body.job_id;
    await token.post("/api/jobs/fail", { job_id: kept, refund: false });
    expect(await budgetOf(ada)).toMatchObject({ spent: 25 });

    await reserve(token, 25, { ttl_seconds: 60 });
    expect((await reserve(token, 1)).status).toBe(402);
    passTime(61_000);
    expect((await reserve(token, 25)).status).toBe(200);
  });

  it("the overage of a capped token's jobs counts, and the token may not settle beyond its cap", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    const within = (await reserve(token, 10)).body.job_id;
    await token.post("/api/jobs/complete", { job_id: within, actual_cost: 30 });
    expect(await budgetOf(ada)).toMatchObject({ spent: 30, room: 20 });

    const beyond = (await reserve(token, 0)).body.job_id;
    const greedy = await token.post("/api/jobs/complete", { job_id: beyond, actual_cost: 21 });
    expect(greedy).toMatchObject({ status: 402, body: { code: "token_budget_exceeded" } });
    expect(await creditsOf(ada)).toBe(70);
    const owner = await ada.post("/api/jobs/complete", { job_id: beyond, actual_cost: 21 });
    expect(owner.status).toBe(200);
    expect(await budgetOf(ada)).toMatchObject({ spent: 51, room: 0 });
    expect((await reserve(token, 1)).status).toBe(402);
    expect((await reserve(token, 0)).status).toBe(200);
  });

  it("a 402 for a capped token states its cap, what is spent and what is left", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    await reserve(token, 20);
    const numbers = {
      code: "token_budget_exceeded",
      cap: { credits: 50, period: "total" },
      spent: 20,
      room: 30,
      required: 31,
      resets_at: null,
    };
    expect(await reserve(token, 31)).toMatchObject({ status: 402, body: numbers });
    const jobs = [{ app: "demo", action: "render", cost_estimate: 31 }];
    expect((await token.post("/api/jobs/batch", { jobs })).body.results).toMatchObject([numbers]);
  });

  it("a capped token cannot spend beyond its cap through jobs that it did not create", async () => {
    const ada = await signInWithCredits();
    const { job_id } = (await reserve(ada, 0)).body;
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    const answer = await token.post("/api/jobs/complete", { job_id, actual_cost: 90 });
    expect(answer).toMatchObject({ status: 403, body: { code: "scope" } });
    expect(await creditsOf(ada)).toBe(100);
  });

  it("a capped token's retried create gets the first response and counts once", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    const body = { app: "demo", action: "render", cost_estimate: 50 };
    const key = { "Idempotency-Key": "a" };
    const first = await token.post("/api/jobs", body, key);
    const again = await token.post("/api/jobs", body, key);
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(await budgetOf(ada)).toMatchObject({ spent: 50 });
  });

  it("a capped token cannot reserve more than the balance", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 500 }] });
    const answer = await reserve(token, 101);
    expect(answer).toMatchObject({ status: 402, body: { code: "insufficient_credits" } });
    expect(await budgetOf(ada)).toMatchObject({ spent: 0 });
  });
});

describe("a cap per day", () => {
  it("a cap per day starts again, without refunds of the last day", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 40, period: "day" }] });
    const { job_id } = (await reserve(token, 40, { ttl_seconds: 2_592_000 })).body;
    expect((await reserve(token, 1)).status).toBe(402);
    const late = (await reserve(token, 0)).body.job_id;
    expect((await token.post("/api/jobs/complete", { job_id: late, actual_cost: 1 })).status).toBe(
      402,
    );

    passTime(DAY_MS);
    const next = (await reserve(token, 30)).body.job_id;
    expect((await token.post("/api/jobs/fail", { job_id })).status).toBe(200);
    expect(await budgetOf(await signIn())).toMatchObject({ spent: 30, room: 10 });
    expect((await reserve(token, 11)).status).toBe(402);
    expect((await token.post("/api/jobs/fail", { job_id: next })).status).toBe(200);
    expect(await budgetOf(await signIn())).toMatchObject({ spent: 0, room: 40 });
  });
});

describe("what a job took of a cap", () => {
  it("a job of one credit, and one whose reserve was raised by one, give back all that they took", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    const { job_id } = (await reserve(token, 1)).body;
    await token.post("/api/jobs/progress", { job_id, step: 1, reserve: 2 });
    expect(await budgetOf(ada)).toMatchObject({ spent: 2 });
    await token.post("/api/jobs/progress", { job_id, step: 2, reserve: 12 });
    await token.post("/api/jobs/fail", { job_id });
    expect(await budgetOf(ada)).toMatchObject({ spent: 0, room: 50 });
    await expectInvariants(ada.identity_id);
  });

  it("a job that costs nothing does not begin a period of a clock that is ahead", async () => {
    const now_ms = Date.UTC(2026, 10, 30, 10);
    vi.useFakeTimers({ toFake: ["Date"], now: now_ms });
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 10, period: "day" }] });
    await reserve(token, 10, { ttl_seconds: 2_592_000 });
    vi.setSystemTime(now_ms + 20 * DAY_MS);
    expect((await reserve(token, 0)).status).toBe(200);
    vi.setSystemTime(now_ms + 1_000);
    expect((await reserve(token, 1)).status).toBe(402);
  });

  it("what a narrower token's job costs after that token has ended counts in its parent's period of that time", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 10, 30, 20) });
    const ada = await signInWithCredits();
    const parent = await getToken(ada, { caps: [{ credits: 50, period: "day" }] });
    const child = await narrow(parent.token, { expires_in: 3_600 }, { client_id: "" });
    const job = { app: "demo", action: "render", cost_estimate: 10, ttl_seconds: 172_800 };
    const { job_id } = (await holderOf(child.access_token).post("/api/jobs", job)).body;
    passTime(DAY_MS);
    await (await signIn()).post("/api/jobs/complete", { job_id, actual_cost: 30 });
    expect(await budgetOf(await signIn())).toMatchObject({ spent: 20, room: 30 });
  });
});

describe("several capped tokens", () => {
  it("a batch that settles jobs of several capped tokens gives each its credits back", async () => {
    const ada = await signInWithCredits();
    const tokens: TokenHolder[] = [];
    for (let count = 0; count < 6; count += 1) {
      tokens.push(await getToken(ada, { caps: [{ credits: 15 }] }));
    }
    const jobs: object[] = [];
    for (const [cost, token] of tokens.entries()) {
      jobs.push({ job_id: (await reserve(token, 10)).body.job_id, actual_cost: cost });
    }
    await ada.post("/api/jobs/complete/batch", { jobs });
    const { body } = await ada.getOwn("/api/tokens");
    const spent = body.tokens.map(({ caps: [cap] }: { caps: [{ spent: number }] }) => cap.spent);
    expect(spent.toReversed()).toEqual(tokens.map((_, cost) => cost));
    await expectInvariants(ada.identity_id);
  });
});

describe("a batch of a hundred", () => {
  it("a batch of a hundred reserves no more than the token's cap", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    const job = { app: "demo", action: "render", cost_estimate: 1 };
    const jobs = Array.from({ length: 100 }, () => job);
    const { body } = await token.post("/api/jobs/batch", { jobs });
    const codes = body.results.map(({ code = "reserved" }: { code?: string }) => code);
    expect(codes).toEqual([
      ...Array.from({ length: 50 }, () => "reserved"),
      ...Array.from({ length: 50 }, () => "token_budget_exceeded"),
    ]);
    expect(await budgetOf(ada)).toMatchObject({ spent: 50 });
  });
});

describe("what a token spends in a transaction that fails", () => {
  it("a token does not spend anything in a transaction that is rolled back", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 15 }] });
    await reserve(token, 10);
    const fails = "before insert on jobs begin select raise(abort, 'no'); end";
    await query(ada.identity_id, `create trigger broken ${fails}`);
    expect((await reserve(token, 5)).status).toBe(500);
    await query(ada.identity_id, "drop trigger broken");
    expect(await budgetOf(ada)).toMatchObject({ spent: 10 });
    expect((await reserve(token, 5)).status).toBe(200);
    await expectInvariants(ada.identity_id);
  });

  it("a token gets nothing back for a job whose expiry fails, next to one that expires", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    const stuck = (await reserve(token, 20, { ttl_seconds: 60 })).body.job_id;
    await reserve(token, 30, { ttl_seconds: 60 });
    await query(
      ada.identity_id,
      `create trigger broken before update on jobs when old.id = '${stuck}'
       begin select raise(abort, 'no'); end`,
    );
    passTime(61_000);
    expect(await budgetOf(ada)).toMatchObject({ spent: 20 });
    expect((await reserve(token, 31)).status).toBe(402);
    expect((await reserve(token, 30)).status).toBe(200);
    await query(ada.identity_id, "drop trigger broken");
    await ada.post("/api/jobs/complete", { job_id: stuck, actual_cost: 1 });
    expect(await budgetOf(ada)).toMatchObject({ spent: 31 });
    await expectInvariants(ada.identity_id);
  });
});

describe("rows written for the life of a job", () => {
  it("a job's life writes 4 rows for a session, 5 for a token without a cap and 6 for a capped token", async () => {
    const ada = await signInWithCredits();
    const holders = [ada, await getToken(ada), await getToken(ada, { caps: [{ credits: 9 }] })];
    // The first request of a token writes its time of last use, which is not part of a job's life.
    for (const holder of holders) await holder.get("/api/wallet");
    const rows_written = await countRowsWritten(ada.identity_id);
    const rows: number[] = [];
    for (const holder of holders) {
      const { job_id } = (await reserve(holder, 2)).body;
      await holder.post("/api/jobs/complete", { job_id, actual_cost: 1 });
      rows.push(rows_written());
    }
    expect(rows).toEqual([4, 9, 15]);
  });
});
