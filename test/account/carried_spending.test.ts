/** What capped tokens have spent, carried on the lines of the ledger in place of rows of its own. */
import { describe, expect, it, vi } from "vitest";
import { SPENDING_IDLE_LINES_MAX, SPENDING_TOKENS_PER_LINE_MAX } from "../../src/domain/limits.ts";
import { change, countRowsWritten, evict, query } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import { getToken, tokenId, type TokenHolder } from "../support/device_logins.ts";
import { send, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import { expectInvariants } from "./invariants.ts";

const MORE_THAN_CARRIED = SPENDING_TOKENS_PER_LINE_MAX + 2;

const reserve = (holder: TokenHolder | SignedIn, cost_estimate: number, more: object = {}) =>
  holder.post("/api/jobs", { app: "demo", action: "render", cost_estimate, ...more });

async function getTokens(person: SignedIn, credits: number): Promise<TokenHolder[]> {
  const tokens: TokenHolder[] = [];
  for (let count = 0; count < MORE_THAN_CARRIED; count += 1) {
    tokens.push(await getToken(person, { cap: { credits } }));
  }
  return tokens;
}

/** What each living token has spent, as its owner is told; the one made first comes first. */
async function spentOf(person: SignedIn): Promise<number[]> {
  const { body } = await person.get("/api/tokens");
  const tokens: { cap: { spent: number }; created_at: string }[] = body.tokens;
  return tokens.toReversed().map(({ cap }) => cap.spent);
}

/** Which tokens the newest line carries. */
async function carriedOn({ identity_id }: SignedIn): Promise<string[] | null> {
  const [newest] = await query<{ spending_json: string | null }>(
    identity_id,
    "select spending_json from entries order by line desc limit 1",
  );
  const spending = JSON.parse(newest?.spending_json ?? "null") as [string][] | null;
  return spending?.map(([id]) => id) ?? null;
}

async function addLines(person: SignedIn, count: number): Promise<void> {
  for (let line = 0; line < count; line += 1) await reserve(person, 0);
}

describe("more capped tokens than a line carries", () => {
  it("are each held to their own cap, also by an object that woke in between", async () => {
    const ada = await signInWithCredits();
    const tokens = await getTokens(ada, 15);
    for (const token of tokens) expect((await reserve(token, 10)).status).toBe(200);
    await evict(ada.identity_id);
    for (const token of tokens) {
      expect((await reserve(token, 6)).status).toBe(402);
      expect((await reserve(token, 5)).status).toBe(200);
    }
    await evict(ada.identity_id);
    expect(await spentOf(ada)).toEqual(tokens.map(() => 15));
    await expectInvariants(ada.identity_id);
  });

  it("get room back from one batch that settles the jobs of all of them", async () => {
    const ada = await signInWithCredits();
    const tokens = await getTokens(ada, 15);
    const jobs: object[] = [];
    for (const [cost, token] of tokens.entries()) {
      const { job_id } = (await reserve(token, 10)).body;
      jobs.push({ job_id, actual_cost: cost });
    }
    await ada.post("/api/jobs/complete/batch", { jobs });
    expect(await spentOf(ada)).toEqual(tokens.map((_, cost) => cost));
    await expectInvariants(ada.identity_id);
  });

  it("cost the row of the one that spent longest ago, and of none before", async () => {
    const ada = await signInWithCredits();
    const tokens = await getTokens(ada, 15);
    // Their first use is noted before anything is counted.
    for (const token of tokens) await token.get("/api/wallet");
    const rows_written = await countRowsWritten(ada.identity_id);
    const rows = [rows_written()];
    for (const token of tokens) {
      await reserve(token, 10);
      rows.push(rows_written());
    }
    expect(rows).toEqual([0, 2, 4, 6, 8, 11, 14]);
    const ids: string[] = [];
    for (const token of tokens) ids.push(await tokenId(token));
    expect(await carriedOn(ada)).toEqual(ids.slice(-SPENDING_TOKENS_PER_LINE_MAX));
  });
});

describe("a capped token", () => {
  it("that rests leaves the lines, and finds its spending when it comes back", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { cap: { credits: 15 } });
    await reserve(token, 10);
    await addLines(ada, SPENDING_IDLE_LINES_MAX);
    expect(await carriedOn(ada)).toEqual([await tokenId(token)]);
    const rows_written = await countRowsWritten(ada.identity_id);
    await addLines(ada, 1);
    expect(rows_written()).toBe(3);
    expect(await carriedOn(ada)).toBeNull();
    expect(await spentOf(ada)).toEqual([10]);
    expect((await reserve(token, 6)).status).toBe(402);
    expect((await reserve(token, 5)).status).toBe(200);
    expect(await spentOf(ada)).toEqual([15]);
    await expectInvariants(ada.identity_id);
  });

  it("that is revoked leaves the lines for nothing; its jobs still end", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { cap: { credits: 15 } });
    const { job_id } = (await reserve(token, 10)).body;
    await token.revoke(await tokenId(token));
    expect((await ada.post("/api/jobs/complete", { job_id, actual_cost: 12 })).status).toBe(200);
    await addLines(ada, SPENDING_IDLE_LINES_MAX - 1);
    const rows_written = await countRowsWritten(ada.identity_id);
    await addLines(ada, 1);
    expect(rows_written()).toBe(2);
    expect(await carriedOn(ada)).toBeNull();
    await expectInvariants(ada.identity_id);
  });

  it("spends no more by a batch of a hundred than its cap", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { cap: { credits: 50 } });
    const jobs = Array.from({ length: 100 }, () => ({
      app: "demo",
      action: "render",
      cost_estimate: 1,
    }));
    const { body } = await token.post("/api/jobs/batch", { jobs });
    const codes = body.results.map(({ code = "reserved" }: { code?: string }) => code);
    expect(codes).toEqual([
      ...Array.from({ length: 50 }, () => "reserved"),
      ...Array.from({ length: 50 }, () => "token_budget_exceeded"),
    ]);
    expect(await spentOf(ada)).toEqual([50]);
  });
});

describe("an account whose tokens have no cap, or spend nothing", () => {
  it("carries nothing on any line", async () => {
    const ada = await signInWithCredits();
    await reserve(await getToken(ada), 5, { ttl_seconds: 60 });
    await reserve(await getToken(ada, { cap: { credits: 5 } }), 0);
    const { job_id } = (await reserve(ada, 5)).body;
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 3 });
    passTime(61_000);
    await ada.get("/api/wallet");
    const lines = await query(ada.identity_id, "select distinct spending_json from entries");
    expect(lines).toEqual([{ spending_json: null }]);
  });
});

describe("what a transaction spent that then failed", () => {
  it("is not spent, and whose spending had to leave the line for it is still right", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await signInWithCredits();
    const tokens = await getTokens(ada, 15);
    for (const token of tokens) await reserve(token, 10);
    const spent = await spentOf(ada);
    const carried = await carriedOn(ada);
    await query(
      ada.identity_id,
      "create trigger broken before insert on jobs begin select raise(abort, 'no'); end",
    );
    for (const token of tokens) expect((await reserve(token, 5)).status).toBe(500);
    await query(ada.identity_id, "drop trigger broken");
    expect(await spentOf(ada)).toEqual(spent);
    expect(await carriedOn(ada)).toEqual(carried);
    for (const token of tokens) expect((await reserve(token, 5)).status).toBe(200);
    await expectInvariants(ada.identity_id);
  });

  it("is not given back by a time-out that failed beside another that did not", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await signInWithCredits();
    const token = await getToken(ada, { cap: { credits: 50 } });
    const stuck = (await reserve(token, 20, { ttl_seconds: 60 })).body.job_id;
    await reserve(token, 30, { ttl_seconds: 60 });
    await query(
      ada.identity_id,
      `create trigger broken before update on jobs when old.id = '${stuck}'
       begin select raise(abort, 'no'); end`,
    );
    passTime(61_000);
    expect(await spentOf(ada)).toEqual([20]);
    expect((await reserve(token, 31)).status).toBe(402);
    expect((await reserve(token, 30)).status).toBe(200);
    await query(ada.identity_id, "drop trigger broken");
    await ada.post("/api/jobs/complete", { job_id: stuck, actual_cost: 1 });
    expect(await spentOf(ada)).toEqual([31]);
    await expectInvariants(ada.identity_id);
  });
});

describe("the spending that lines carry", () => {
  it("is in no answer about lines, and not in the read model", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { cap: { credits: 50 } });
    await reserve(token, 7);
    const id = await tokenId(token);
    expect(await carriedOn(ada)).toEqual([id]);
    const told = [
      (await ada.get("/api/ledger")).text,
      (await ada.get("/api/jobs")).text,
      (await ada.get("/api/wallet")).text,
    ];
    for (const page of ["", "/statement", "/statement.csv", "/jobs"]) {
      const headers = { Cookie: ada.cookies };
      told.push((await send("GET", `/account${page}`, { headers })).text);
    }
    for (const text of told) expect(text).not.toContain(id);
    const headers = { Cookie: ada.cookies };
    const { body } = await send("GET", "/account/data.json", { headers });
    expect(body.personal_tokens).toMatchObject([{ id, spent: 7 }]);
    expect(JSON.stringify([body.ledger, body.jobs])).not.toContain(id);
    // Every column of D1's rows is held to what it is to be there.
    await expectInvariants(ada.identity_id);
  });
});

describe("after a step back to a build that carries nothing, and forward again", () => {
  /** A line as that build wrote it. */
  const lineOfBefore = ({ identity_id }: SignedIn) =>
    change(
      identity_id,
      `insert into entries (line, kind, amount, balance_after, reserved_after, at_ms, open_jobs,
         recent_after_job_id, recent_jobs)
       select line + 1, 'adjustment', 0, balance_after, reserved_after, at_ms, open_jobs,
         recent_after_job_id, recent_jobs from entries order by line desc limit 1`,
    );

  it("jobs of a capped token end all the same, and give back what they held", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { cap: { credits: 50 } });
    const job_ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      job_ids.push((await reserve(token, 10, { ttl_seconds: 60 })).body.job_id);
    }
    await lineOfBefore(ada);
    const failed = await ada.post("/api/jobs/fail", { job_id: job_ids[0] });
    expect(failed).toMatchObject({ status: 200, body: { credits: 80 } });
    const settled = { job_id: job_ids[1], actual_cost: 3 };
    const completed = await ada.post("/api/jobs/complete", settled);
    expect(completed).toMatchObject({ status: 200, body: { credits: 87 } });
    passTime(61_000);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(97);
    expect(await query(ada.identity_id, "select * from stuck_jobs")).toEqual([]);
    expect(await spentOf(ada)).toEqual([0]);
  });
});
