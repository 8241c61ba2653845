import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { DEFAULT_POLICY } from "../../../../src/domain/app_policy.ts";
import { PROJECTION_RETRY_MAX_MS } from "../../../../src/domain/back_off.ts";
import { DAY_MS, utcDayOf } from "../../../../src/domain/calendar.ts";
import { ERASURE_DELIVERY_MAX_MS } from "../../../../src/account/deletion/erasure.ts";
import { EXPIRY_PORTION_JOBS } from "../../../../src/account/jobs/expiry.ts";
import { consumeProjections } from "../../../../src/readmodel/queue_projector.ts";
import { stateOf, type ProjectedRows } from "../../../../src/readmodel/projector.ts";
import { createDirectProjector } from "../../../../src/readmodel/direct_projector.ts";
import { deleteLeftJobs } from "../../../../src/readmodel/retention.ts";
import { readDailyTotals } from "../../../../src/readmodel/totals.ts";
import { evict, fireAlarm, query, repeatAlarm } from "../../support/account_object.ts";
import { passTime } from "../../support/clock.ts";
import { moodOfD1 } from "../sync/d1_faults.ts";
import { withToken } from "../../support/allowances.ts";

const ADA = "ada";
const HOLDER = { kind: "holder" } as const;
const APP = { kind: "app", app_slug: "demo" } as const;
const DELETED = { ok: false, refusal: { code: "unauthorized", reason: "account_deleted" } };
const accountOf = (identity_id = ADA) => env.ACCOUNT.getByName(identity_id);

/** Moves the Worker's clock ahead of real time, so that no alarm fires by itself during a test. */
beforeEach(() => passTime(60 * 60 * 1000));

const wallet = (identity_id = ADA, caller: object = HOLDER) =>
  accountOf(identity_id).wallet(caller as typeof HOLDER, {
    app: { slug: "demo", starter_credits: 1_000, is_registered: true },
  });

async function createJobs(count: number, cost_estimate = 2): Promise<void> {
  const job = { app_slug: "demo", policy: DEFAULT_POLICY, action: "draw", metadata_json: null };
  const requests = Array.from({ length: count }, () => ({
    ...job,
    cost_estimate,
    ttl_seconds: 86_400,
  }));
  for (let at = 0; at < count; at += 100) {
    await accountOf().createJobs(HOLDER, requests.slice(at, at + 100), null);
  }
}

/** Runs the alarm until the erasure is done. Returns the number of runs. */
async function finishErasure(identity_id = ADA): Promise<number> {
  for (let alarms = 1; alarms < 100; alarms += 1) {
    await repeatAlarm(identity_id);
    const [row] = await query<{ erasure: string }>(identity_id, "select erasure from account");
    if (row?.erasure === "done") return alarms;
  }
  return expect.fail("the erasure never ends");
}

/** Names the object's tables that have rows, except the migrator's. */
async function tablesWithRows(identity_id = ADA): Promise<string[]> {
  const tables = await query<{ name: string }>(
    identity_id,
    `select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name <> 'data_format'
      and name not like '\\_cf%' escape '\\' and name not like '%migrations%'`,
  );
  const full: string[] = [];
  for (const { name } of tables) {
    if ((await query(identity_id, `select 1 from "${name}" limit 1`)).length > 0) full.push(name);
  }
  return full;
}

/** After a run of the schedule, which deletes the jobs of deleted accounts. */
async function rowsInD1(): Promise<unknown[]> {
  await deleteLeftJobs(env.DB);
  const { results } = await env.DB.prepare(
    `select 'account' as of from accounts union all select 'grant' from grants
      union all select 'job' from jobs`,
  ).all();
  return results;
}

const today = () => utcDayOf(Date.now());
const totals = async () => (await readDailyTotals(env.DB, today() - 1, today() + 2, null)).at(-1);

const mint = (id: string) => ({
  id,
  label: "Ada's laptop",
  app_slug: null,
  limits: { access: "write", upstream: true, admin: false, app_slugs: null, caps: [] } as const,
  session_id: "session",
  signin_method: "dev",
  ends_with_session: false,
  expires_at_ms: Date.now() + DAY_MS,
});

describe("a deleted account", () => {
  it("a deleted account refuses every credential at once and changes nothing any more", async () => {
    await wallet();
    await accountOf().issueAllowance(HOLDER, mint("laptop"));
    await createJobs(1);
    expect(await accountOf().deleteAccount(HOLDER)).toEqual({ ok: true, value: null });
    expect(await wallet()).toEqual(DELETED);
    expect(await accountOf().wallet(withToken("laptop"), { app: null })).toEqual(DELETED);
    expect(await accountOf().deleteAccount(HOLDER)).toEqual(DELETED);
    const unknown = { ok: false, refusal: { code: "account_unknown" } };
    expect(await wallet(ADA, APP)).toEqual(unknown);
    expect(await accountOf().inspect()).toEqual(unknown);
    expect(await accountOf().adjustCredits({ amount: 5, note: "why" }, null)).toEqual(unknown);
    await finishErasure();
    expect(await wallet()).toEqual(DELETED);
    expect(await accountOf().inspect()).toEqual(unknown);
    expect(await tablesWithRows()).toEqual(["account"]);
  });

  it("a deleted account still lists the debts that it took over after its rows are erased", async () => {
    await accountOf().oweDebts([{ id: "debt", credits: 40 }]);
    await accountOf().deleteAccount(HOLDER);
    await finishErasure();
    await evict(ADA);
    expect(await accountOf().readOwed()).toEqual({
      credits: 40,
      debt_ids: ["debt"],
      may_change: true,
    });
    expect(await tablesWithRows()).toEqual(["account", "debts"]);
  });

  it("a deleted account that was never opened has no purchases", async () => {
    expect(await accountOf("nobody").hasBought("pi_1")).toBe(false);
  });

  it("the tombstone of a deleted account contains nothing about the person", async () => {
    await wallet();
    await accountOf().deleteAccount(HOLDER);
    await finishErasure();
    const [row] = await query<Record<string, unknown>>(ADA, "select * from account");
    expect(row).toMatchObject({ identity_id: "", plan: "", created_at_ms: 0, erasure: "done" });
    await fireAlarm(ADA);
    expect(await fireAlarm(ADA)).toBe(false);
  });

  it("an account that is deleted before it was opened stays deleted, so no older token opens it", async () => {
    await accountOf("never opened").deleteAccount(HOLDER);
    await finishErasure("never opened");
    expect(await wallet("never opened")).toEqual(DELETED);
  });

  it("a deleted account gives up its holds, the daily totals stay exact, and the read model loses its rows", async () => {
    await wallet();
    const count = EXPIRY_PORTION_JOBS + 150;
    await createJobs(count);
    await accountOf().deleteAccount(HOLDER);
    await finishErasure();
    expect(await rowsInD1()).toEqual([]);
    expect(await totals()).toMatchObject({
      granted: 1_000,
      reserved: 2 * count,
      refunded: 2 * count,
      jobs: count,
      failed: count,
      active_accounts: 1,
    });
    expect(await tablesWithRows()).toEqual(["account"]);
  });

  it("an erasure that is interrupted anywhere is finished later", async () => {
    await wallet();
    await createJobs(EXPIRY_PORTION_JOBS + 1);
    const d1 = moodOfD1();
    vi.spyOn(console, "warn").mockReturnValue();
    vi.spyOn(console, "error").mockReturnValue();
    await accountOf().deleteAccount(HOLDER);
    for (const mood of ["fails before", "fails after", "well"] as const) {
      for (let ring = 0; ring < 3; ring += 1) {
        d1.mood = mood;
        await evict(ADA);
        await repeatAlarm(ADA);
        expect(await wallet()).toEqual(DELETED);
      }
    }
    await finishErasure();
    expect(await rowsInD1()).toEqual([]);
    expect(await totals()).toMatchObject({
      granted: 1_000,
      refunded: 2 * (EXPIRY_PORTION_JOBS + 1),
    });
    expect(await tablesWithRows()).toEqual(["account"]);
  });

  it("an erasure whose alarm was dropped continues with the next call", async () => {
    await wallet();
    await accountOf().deleteAccount(HOLDER);
    await runInDurableObject(accountOf(), (_, state) => state.storage.deleteAlarm());
    await evict(ADA);
    await wallet();
    await fireAlarm(ADA);
    expect(await tablesWithRows()).toEqual(["account"]);
  });

  it("an erasure waits at most a day for the read model to receive the last entries", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    vi.spyOn(console, "error").mockReturnValue();
    await wallet();
    await repeatAlarm(ADA);
    const d1 = moodOfD1();
    d1.mood = "fails before";
    await createJobs(1);
    await accountOf().deleteAccount(HOLDER);
    passTime(ERASURE_DELIVERY_MAX_MS - 1_000);
    await repeatAlarm(ADA);
    expect(await tablesWithRows()).toContain("entries");
    passTime(1_000);
    await repeatAlarm(ADA);
    expect(await tablesWithRows()).toEqual(["account"]);
    d1.mood = "well";
    expect(await rowsInD1()).not.toEqual([]);
    await finishErasure();
    expect(await rowsInD1()).toEqual([]);
  });

  it("an erasure waits at most a day also if the read model has been gone for days", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    vi.spyOn(console, "error").mockReturnValue();
    await wallet();
    await repeatAlarm(ADA);
    moodOfD1().mood = "fails before";
    await createJobs(1);
    passTime(5 * DAY_MS);
    await fireAlarm(ADA);
    await accountOf().deleteAccount(HOLDER);
    const deleted_at_ms = Date.now();
    while ((await tablesWithRows()).includes("entries")) {
      const armed_at_ms = await runInDurableObject(accountOf(), (_, { storage }) =>
        storage.getAlarm(),
      );
      vi.setSystemTime(Math.max(Date.now(), armed_at_ms ?? Number.NaN));
      await fireAlarm(ADA);
    }
    expect(Date.now() - deleted_at_ms).toBeLessThan(
      ERASURE_DELIVERY_MAX_MS + PROJECTION_RETRY_MAX_MS,
    );
  });

  it("an erasure waits for entries that were accepted for D1 but are not there yet", async () => {
    await wallet();
    await accountOf().deleteAccount(HOLDER);
    const [account] = await query<{ id: string }>(ADA, "select id from account");
    await env.DB.exec("delete from accounts; delete from daily_totals; delete from account_days");
    const taken = { results: [{ id: account?.id, line: 1_000 }], meta: { changes: 0 } };
    const lines = interceptEntries((statements) => statements.map(() => taken));
    await repeatAlarm(ADA);
    expect(await tablesWithRows()).toContain("entries");
    lines.mockRestore();
    await finishErasure();
    expect(await totals()).toMatchObject({ granted: 1_000 });
    expect(await rowsInD1()).toEqual([]);
  });

  it("neither a late message to D1 nor a rebuild brings a deleted account back", async () => {
    await wallet();
    await createJobs(3);
    const rows = await deliveredRows();
    await accountOf().deleteAccount(HOLDER);
    await finishErasure();
    const before = await totals();
    for (const after of [null, stateOf(rows.account)]) {
      const message = { body: { rows, after }, attempts: 1, ack: vi.fn(), retry: vi.fn() };
      await consumeProjections(
        { queue: "passbook-projections", messages: [message as never] },
        {
          projector: createDirectProjector(env.DB),
          catchUp: (identity_id) => accountOf(identity_id).catchUp(),
          countFailure: vi.fn(),
        },
      );
      expect(message.ack).toHaveBeenCalledOnce();
    }
    await accountOf().rebuild();
    await repeatAlarm(ADA);
    expect(await rowsInD1()).toEqual([]);
    expect(await totals()).toEqual(before);
    expect(await tablesWithRows()).toEqual(["account"]);
  });

  it("a deleted account stores no upstream tokens of a sign-in that was under way", async () => {
    await wallet();
    await accountOf().deleteAccount(HOLDER);
    await finishErasure();
    const { keys } = JSON.parse(env.ENCRYPTION_KEYS);
    const granted = { access_token: "a", refresh_token: "r", scope: null, expires_at_ms: null };
    const origin = { provider: "acme", subject: "s", issuer: "i", client_id: "c", linked_at_ms: 0 };
    await accountOf().keepUpstreamTokens({ ...origin, ...granted }, keys);
    await accountOf().forgetUpstreamTokens("acme", 1);
    expect(await tablesWithRows()).toEqual(["account"]);
  });

  it("a suspended holder cannot delete the account", async () => {
    await wallet();
    await accountOf().suspend();
    const answer = await accountOf().deleteAccount(HOLDER);
    expect(answer).toMatchObject({ ok: false, refusal: { code: "suspended" } });
    expect(await accountOf().isDeleted()).toBe(false);
  });
});

describe("the account of someone who deleted one before", () => {
  it("the account of a person who deleted one before gets its apps, but no starter credits", async () => {
    await accountOf().openReturned();
    await accountOf().openReturned();
    expect(await wallet()).toMatchObject({
      value: {
        account: { credits: 0 },
        app_grant: { slug: "demo", starter_credits: 0, granted: false },
        apps: [{ slug: "demo", starter_credits: 0, granted_at_ms: null }],
        grant_waits: false,
        takes_starters: false,
      },
    });
    const kinds = await query(ADA, "select kind from entries");
    expect(kinds).toEqual([{ kind: "open" }]);
  });
});

/** Returns a response of the test for small batches, which are deliveries and deletions, and does not run them. */
function interceptEntries(answer: (statements: readonly object[]) => unknown) {
  const prototype = Object.getPrototypeOf(env.DB);
  const { batch } = prototype;
  return vi.spyOn(prototype, "batch").mockImplementation(function (this: unknown, statements) {
    const sent = statements as readonly object[];
    return sent.length < 6 ? Promise.resolve(answer(sent)) : Reflect.apply(batch, this, [sent]);
  });
}

/** The rows of a delivery of the whole account. */
async function deliveredRows(): Promise<ProjectedRows> {
  const { rowsOf } = await import("../../../../src/account/sync/read_model_rows.ts");
  const { AccountDatabase } = await import("../../../../src/account/sql/database.ts");
  const { Store } = await import("../../../../src/account/sql/store.ts");
  return runInDurableObject(accountOf(), (_, state) => {
    const store = new Store(new AccountDatabase(state.storage.sql));
    return rowsOf(store, store.readEntriesBetween(0, 1_000));
  });
}
