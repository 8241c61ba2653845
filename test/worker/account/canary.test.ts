import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { CANARY_IDENTITY } from "../../../src/account/contract.ts";
import { evict, fireAlarm, query } from "../support/account_object.ts";
import { signInWithCredits } from "../support/passbook.ts";
import { expectInvariants } from "./invariants.ts";

const canary = () => env.ACCOUNT.getByName(CANARY_IDENTITY);

async function countEntries(): Promise<number> {
  const [row] = await query<{ n: number }>(CANARY_IDENTITY, "select count(*) as n from entries");
  return row?.n ?? 0;
}

describe("the canary account", () => {
  it("the canary reserves and settles a job", async () => {
    await canary().exercise();
    const kinds = await query(CANARY_IDENTITY, "select kind, amount from entries order by line");
    expect(kinds).toEqual([
      { kind: "open", amount: 0 },
      { kind: "reserve", amount: 0 },
      { kind: "settle", amount: 0 },
    ]);
  });

  it("the canary keeps a bounded number of entries, and still works beyond it", async () => {
    for (let i = 0; i < 30; i += 1) await canary().exercise();
    const entries = await countEntries();
    expect(entries).toBeGreaterThan(10);
    expect(entries).toBeLessThan(50);
    await evict(CANARY_IDENTITY);
    await canary().exercise();
    expect(await countEntries()).toBe(entries);
  });

  it("the canary is never in the read model or its totals", async () => {
    await canary().exercise();
    await fireAlarm(CANARY_IDENTITY);
    for (const table of ["accounts", "jobs", "daily_totals", "account_days"]) {
      expect(await env.DB.prepare(`select count(*) as n from ${table}`).first("n"), table).toBe(0);
    }
  });

  it("no other account is exercised", async () => {
    const ada = await signInWithCredits();
    const failure = await env.ACCOUNT.getByName(ada.identity_id)
      .exercise()
      .then(
        () => "no failure",
        (error: Error) => error.message,
      );
    expect(failure).toContain("only the canary");
    await expectInvariants(ada.identity_id);
  });
});
