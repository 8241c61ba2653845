import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { CANARY_IDENTITY } from "../../../src/account/contract.ts";
import { evict, fireAlarm, query } from "../support/account_object.ts";
import { send, signInWithCredits } from "../support/passbook.ts";
import { expectInvariants } from "./invariants.ts";

const canary = () => env.ACCOUNT.getByName(CANARY_IDENTITY);

/** Settings of a Worker whose release is `later_ms` newer than the release of the objects. */
function releasedAfter(later_ms: number): object {
  const timestamp = new Date(Date.parse(env.RELEASE.timestamp) + later_ms).toISOString();
  return { RELEASE: { ...env.RELEASE, timestamp } };
}

/** Marks the running instance. The returned function checks whether it still runs. */
async function markInstance(): Promise<() => Promise<boolean>> {
  const mark = new WeakSet<object>();
  await runInDurableObject(canary(), (instance) => void mark.add(instance));
  return () => runInDurableObject(canary(), (instance) => mark.has(instance));
}

async function countEntries(): Promise<number> {
  const [row] = await query<{ n: number }>(CANARY_IDENTITY, "select count(*) as n from entries");
  return row?.n ?? 0;
}

describe("the canary account", () => {
  it("the canary reserves and settles a job", async () => {
    await canary().exercise(null);
    const kinds = await query(CANARY_IDENTITY, "select kind, amount from entries order by line");
    expect(kinds).toEqual([
      { kind: "open", amount: 0 },
      { kind: "reserve", amount: 0 },
      { kind: "settle", amount: 0 },
    ]);
  });

  it("the canary keeps a bounded number of entries, and still works beyond it", async () => {
    for (let i = 0; i < 30; i += 1) await canary().exercise(null);
    const entries = await countEntries();
    expect(entries).toBeGreaterThan(10);
    expect(entries).toBeLessThan(50);
    await evict(CANARY_IDENTITY);
    await canary().exercise(null);
    expect(await countEntries()).toBe(entries);
  });

  it("the canary is never in the read model or its totals", async () => {
    await canary().exercise(null);
    await fireAlarm(CANARY_IDENTITY);
    for (const table of ["accounts", "jobs", "daily_totals", "account_days"]) {
      expect(await env.DB.prepare(`select count(*) as n from ${table}`).first("n"), table).toBe(0);
    }
  });

  it("no other account is exercised", async () => {
    const ada = await signInWithCredits();
    const failure = await env.ACCOUNT.getByName(ada.identity_id)
      .exercise(null)
      .then(
        () => "no failure",
        (error: Error) => error.message,
      );
    expect(failure).toContain("only the canary");
    await expectInvariants(ada.identity_id);
  });
});

describe("the release of the canary", () => {
  it("a canary that still runs an earlier release is restarted, and is not ready", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    await canary().exercise(null);
    const is_running = await markInstance();
    const entries = await countEntries();
    const timestamp = new Date(Date.now() + 1).toISOString();
    const RELEASE = { ...env.RELEASE, timestamp };
    const response = await send("GET", "/readyz", {}, { RELEASE });
    expect(response).toMatchObject({ status: 503, body: { checks: { account: false } } });
    expect(await is_running()).toBe(false);
    expect(await countEntries()).toBe(entries);
  });

  it("a canary that runs this release after its restart is ready", async () => {
    const calls: (string | null)[] = [];
    const restarting = {
      exercise: async (released_at: string | null) => {
        calls.push(released_at);
        if (calls.length === 1) throw new Error("the canary's release is earlier");
        return canary().exercise(null);
      },
    };
    const ACCOUNT = { getByName: () => restarting };
    const RELEASE = { ...env.RELEASE, timestamp: new Date().toISOString() };
    const response = await send("GET", "/readyz", {}, { ACCOUNT, RELEASE });
    expect(response).toMatchObject({ status: 200, body: { checks: { account: true } } });
    expect(calls).toEqual([RELEASE.timestamp, RELEASE.timestamp]);
  });

  it("a canary that Cloudflare gives the earlier release again counts for a release of some minutes, as in a gradual deployment", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const readyAt = async (age_ms: number) => {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
      const RELEASE = { ...env.RELEASE, timestamp: new Date(Date.now() - age_ms).toISOString() };
      // The object has the release before, and keeps it.
      const exercise = async (released_at: string | null) => {
        if (released_at !== null) throw new Error("the canary's release is earlier");
      };
      const response = await send(
        "GET",
        "/readyz",
        {},
        { ACCOUNT: { getByName: () => ({ exercise }) }, RELEASE },
      );
      return (response.body as { checks: { account: boolean } }).checks.account;
    };
    expect(await readyAt(119_000)).toBe(false);
    expect(await readyAt(121_000)).toBe(true);
  });

  it.each([
    ["the same release", () => releasedAfter(0)],
    ["a later release", () => releasedAfter(-1)],
    ["a release without a time", () => ({ RELEASE: { id: "", tag: "", timestamp: "" } })],
    ["no release", () => ({ RELEASE: undefined })],
  ])("a canary with %s keeps running, and is ready", async (_, settings) => {
    await canary().exercise(null);
    const is_running = await markInstance();
    const response = await send("GET", "/readyz", {}, settings());
    expect(response).toMatchObject({ status: 200, body: { checks: { account: true } } });
    expect(await is_running()).toBe(true);
  });

  it("no other account is restarted", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await signInWithCredits();
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const mark = new WeakSet<object>();
    await runInDurableObject(account, (instance) => void mark.add(instance));
    const failure = await account.exercise(new Date(8.64e15).toISOString()).then(
      () => "no failure",
      (error: Error) => error.message,
    );
    expect(failure).toContain("only the canary");
    expect(await runInDurableObject(account, (instance) => mark.has(instance))).toBe(true);
  });
});
