import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { DAY_MS, utcDayOf } from "../../src/domain/day.ts";
import {
  PROJECTION_FORGET_ROWS,
  TOTALS_CLOSE_AFTER_DAYS,
  UPKEEP_PORTION_ACCOUNTS,
} from "../../src/domain/limits.ts";
import { tidyReadModel } from "../../src/readmodel/retention.ts";
import { createStraightProjector } from "../../src/readmodel/straight_projector.ts";
import { readDailyTotals } from "../../src/readmodel/totals.ts";
import { rowsBetween } from "./contract.ts";
import { countingRows, watched } from "./watched.ts";

const NOW_MS = 1_800_000_000_000;
const TODAY = utcDayOf(NOW_MS);
/** The newest day that is closed today. */
const CLOSED = TODAY - TOTALS_CLOSE_AFTER_DAYS - 1;
const WINDOW_DAYS = 30;

const series = (app: string | null = null) => readDailyTotals(env.DB, TODAY - 30, TODAY + 9, app);
const count = (table: string) => env.DB.prepare(`select count(*) as n from ${table}`).first("n");
const upkeep = (now_ms = NOW_MS, database = env.DB) => tidyReadModel(database, WINDOW_DAYS, now_ms);

/** Lines of an account from one to another, all of a day and, if said, an app. */
function rowsOn(day: number, first: number, last: number, id = "account", app_slug?: string) {
  const rows = rowsBetween(first, last, id);
  const lines = rows.lines.map((line) => ({ ...line, day, app_slug: app_slug ?? line.app_slug }));
  return { ...rows, lines };
}

const deliver = (...of: Parameters<typeof rowsOn>) =>
  createStraightProjector(env.DB).apply(rowsOn(...of), of[1] - 1);

const remembered = async (id = "account") => {
  const row = env.DB.prepare("select days_json from accounts where id = ?").bind(id);
  return JSON.parse((await row.first<string>("days_json")) ?? "null") as unknown;
};

/** Accounts by SQL, each with a job of a closed day: many are wanted. */
async function insertAccounts(accounts: number): Promise<void> {
  const days_json = JSON.stringify([{ day: CLOSED, app_slug: "demo", jobs: 1, reserved: 2 }]);
  await env.DB.prepare(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
      insert into accounts (id, identity_id, plan, created_at_ms, line, credits, reserved, updated_at_ms, days_json)
      select printf('account %06d', i), i, 'free', 1, 1, 0, 0, 1, ?2 from n`,
  )
    .bind(accounts, days_json)
    .run();
}

function breakingOffAfter(calls: number): D1Database {
  let left = calls;
  return watched(env.DB, (call) => {
    left -= 1;
    return left < 0 ? Promise.reject(new Error("broken off")) : call();
  });
}

describe("a day that is past", () => {
  it("is closed once, for good, a whole day after it ended", async () => {
    await deliver(CLOSED, 1, 5);
    await deliver(CLOSED, 1, 4, "other");
    await deliver(CLOSED + 1, 5, 5, "other");
    const before = await series();
    expect(before).toMatchObject([
      { granted: 200, reserved: 10, jobs: 5, failed: 0, active_accounts: 2 },
      { granted: 0, reserved: 2, jobs: 1, failed: 0, active_accounts: 1 },
    ]);
    for (let times = 0; times < 3; times += 1) {
      await upkeep();
      expect(await series()).toEqual(before);
    }
    const days = env.DB.prepare("select distinct day from daily_totals");
    expect(await days.raw()).toEqual([[CLOSED]]);
    await upkeep(NOW_MS + DAY_MS);
    expect(await series()).toEqual(before);
    expect(await days.raw()).toEqual([[CLOSED], [CLOSED + 1]]);
  });

  it("stays closed where the clock of a run goes back", async () => {
    await deliver(CLOSED, 1, 5);
    await upkeep();
    const before = await series();
    await upkeep(NOW_MS - 9 * DAY_MS);
    expect(await series()).toEqual(before);
    await upkeep();
    expect(await series()).toEqual(before);
  });

  it("costs the totals' rows and the walk's when it is closed, and no account's", async () => {
    const portions = 3;
    await insertAccounts(UPKEEP_PORTION_ACCOUNTS * portions);
    const accounts = () => env.DB.prepare("select * from accounts").raw();
    const [before, counted] = [await accounts(), countingRows(env.DB)];
    await upkeep(NOW_MS, counted.database);
    // In each portion a row of the app, one of all apps and the walk's place; that at both ends as well.
    expect(counted.written()).toBe(portions * 3 + 2);
    expect(await accounts()).toEqual(before);
    const active_accounts = UPKEEP_PORTION_ACCOUNTS * portions;
    expect(await series("demo")).toMatchObject([{ jobs: active_accounts, active_accounts }]);
  });

  it("is forgotten by an account with its next line, but for the last days it was active on", async () => {
    await deliver(CLOSED - 5, 1, 3);
    await deliver(CLOSED, 4, 4);
    await upkeep();
    await deliver(TODAY, 5, 5);
    expect(await remembered()).toMatchObject([{ day: TODAY, jobs: 1 }]);
    await upkeep(NOW_MS + 20 * DAY_MS);
    await deliver(TODAY, 6, 6);
    await deliver(TODAY + 1, 7, 7);
    expect(await remembered()).toMatchObject([{ day: TODAY }, { day: TODAY + 1 }]);
    expect(await series()).toMatchObject([{ jobs: 1 }, { jobs: 1 }, { jobs: 2 }, { jobs: 1 }]);
  });

  it("is closed for an account that comes behind the end of a walk that is about to end", async () => {
    await deliver(CLOSED, 1, 5);
    let calls = 0;
    // Each portion looks where it stands, deletes and closes; then there is none, and the walk ends.
    const late_comer = watched(env.DB, async (call) => {
      if ((calls += 1) === 5) await deliver(CLOSED, 1, 4, "behind");
      return call();
    });
    await upkeep(NOW_MS, late_comer);
    expect(calls).toBe(5);
    const expected = [{ jobs: 5, active_accounts: 2 }];
    expect(await series()).toMatchObject(expected);
    await upkeep();
    expect(await series()).toMatchObject(expected);
    expect(
      await env.DB.prepare("select jobs from daily_totals where app_slug = '*'").raw(),
    ).toEqual([[5]]);
  });
});

describe("a run that is about to end its walk", () => {
  it("leaves the next walk alone, which another run began meanwhile", async () => {
    await insertAccounts(UPKEEP_PORTION_ACCOUNTS + 1);
    const last = `account 000${UPKEEP_PORTION_ACCOUNTS + 1}`;
    await deliver(CLOSED + 1, 2, 3, last);
    const before = await series();
    let calls = 0;
    // A walk of two portions: looking, deleting and closing each; then there is none, and it ends.
    const overtaken = watched(env.DB, async (call) => {
      if ((calls += 1) === 8) {
        await upkeep();
        await upkeep(NOW_MS + DAY_MS, breakingOffAfter(3)).catch(() => null);
      }
      return call();
    });
    await upkeep(NOW_MS, overtaken);
    expect(calls).toBe(8);
    expect(await series()).toEqual(before);
    await upkeep(NOW_MS + DAY_MS);
    expect(await series()).toEqual(before);
  });
});

describe("a line that comes when its day is closed", () => {
  it("counts at once and once, and its account where it was not active on that day and app", async () => {
    await deliver(CLOSED, 1, 5);
    await deliver(CLOSED - 2, 1, 2, "other");
    await upkeep();
    await deliver(CLOSED, 6, 8);
    await deliver(CLOSED, 1, 8);
    expect(await series()).toMatchObject([
      { day: expect.any(String), jobs: 0, active_accounts: 1 },
      { jobs: 6, active_accounts: 1 },
    ]);
    await deliver(CLOSED, 9, 9, "account", "second");
    await deliver(CLOSED, 3, 3, "other", "second");
    await deliver(CLOSED, 4, 4, "other", "second");
    const later = [{ active_accounts: 1 }, { jobs: 9, reserved: 18, active_accounts: 2 }];
    expect(await series()).toMatchObject(later);
    expect(await series("second")).toMatchObject([{ jobs: 3, active_accounts: 2 }]);
    expect(await series("demo")).toMatchObject([{ active_accounts: 1 }, { active_accounts: 1 }]);
    await upkeep(NOW_MS + 9 * DAY_MS);
    expect(await series()).toMatchObject(later);
  });

  it("of an account that D1 does not know counts as well", async () => {
    await deliver(CLOSED, 1, 3, "first");
    await upkeep();
    await deliver(CLOSED, 1, 5);
    expect(await series()).toMatchObject([{ jobs: 4, active_accounts: 2 }]);
  });

  it("counts its account once though the account's clock went back over midnight", async () => {
    await deliver(CLOSED - 1, 1, 3);
    await deliver(CLOSED, 4, 4);
    await upkeep();
    await deliver(CLOSED, 5, 5);
    await deliver(CLOSED - 1, 6, 6);
    const active = [
      { jobs: 2, active_accounts: 1 },
      { jobs: 2, active_accounts: 1 },
    ];
    expect(await series()).toMatchObject(active);
  });

  it("adds nothing where it does not follow on what D1 has", async () => {
    await deliver(CLOSED, 1, 3);
    await upkeep();
    const before = await series();
    expect(await deliver(CLOSED, 6, 8)).toBe(false);
    expect(await series()).toEqual(before);
  });

  it("adds nothing of an account that was deleted, however late it arrives", async () => {
    await deliver(CLOSED, 1, 3);
    await upkeep();
    const before = await series();
    const projector = createStraightProjector(env.DB);
    await projector.bar("account");
    while (!(await projector.forget("account")));
    expect(await series()).toEqual(before);
    expect(await deliver(CLOSED, 1, 5)).toBe(false);
    expect(await series()).toEqual(before);
    expect(await count("accounts")).toBe(0);
  });

  it("costs a row for each app of the day and one for all; in time it costs none", async () => {
    await deliver(CLOSED, 1, 3);
    await upkeep();
    const rowsBy = async (day: number, line: number) => {
      const { database, written } = countingRows(env.DB);
      const rows = { ...rowsOn(day, line, line), jobs: [] };
      await createStraightProjector(database).apply(rows, line - 1);
      return written();
    };
    const [late, in_time] = [await rowsBy(CLOSED, 4), await rowsBy(TODAY, 5)];
    expect([late, in_time]).toEqual([3, 1]);
  });
});

describe("an account that is forgotten in portions", () => {
  it("counts once, open days and closed ones", async () => {
    await deliver(CLOSED, 1, 4);
    await upkeep();
    await deliver(TODAY, 5, PROJECTION_FORGET_ROWS + 40);
    const before = await series();
    const projector = createStraightProjector(env.DB);
    expect(await projector.forget("account")).toBe(false);
    expect(await series()).toEqual(before);
    expect(await projector.forget("account")).toBe(true);
    expect(await count("accounts")).toBe(0);
    expect(await series()).toEqual(before);
    await upkeep(NOW_MS + 20 * DAY_MS);
    expect(await series()).toEqual(before);
  });
});
