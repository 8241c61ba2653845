/** The contract of the read model's port. Every adapter runs it over real D1, and one over a real queue. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { sumByDay, type DayTotals } from "../../../src/readmodel/line_totals.ts";
import {
  stateOf,
  type AccountState,
  type ProjectedRows,
  type Projector,
} from "../../../src/readmodel/projector.ts";
import { deleteLeftJobs } from "../../../src/readmodel/retention.ts";
import { readDailyTotals } from "../../../src/readmodel/totals.ts";

const IDENTITY = "user_contract";
const DAY = 20_000;

type JobRow = ProjectedRows["jobs"][number];

function jobOf(line: number, change: Partial<JobRow> = {}): JobRow {
  return {
    account_id: "account",
    id: `job ${line}`,
    app_slug: "demo",
    action: "draw",
    status: "started",
    reserved: 2,
    actual_cost: 0,
    refunded: 0,
    step: 0,
    spent: null,
    failure: null,
    created_at_ms: line,
    updated_at_ms: line,
    expires_at_ms: line + 1_000,
    line,
    ...change,
  };
}

/** Rows of a range of entries: entry 1 opens, entry 2 grants 100, each further one reserves 2. */
export function rowsBetween(first: number, last: number, account_id = "account"): ProjectedRows {
  const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  const reserving = numbers.filter((line) => line > 2);
  const totalsOf = (line: number): DayTotals => {
    const where = { day: DAY, minute: 0, app_slug: line === 1 ? "" : "demo" };
    if (line === 1) return where;
    return line === 2 ? { ...where, granted: 100 } : { ...where, reserved: 2, jobs: 1 };
  };
  return {
    account: {
      id: account_id,
      identity_id: account_id === "account" ? IDENTITY : `${IDENTITY} of ${account_id}`,
      plan: "free",
      plan_version: 0,
      created_at_ms: 1,
      line: last,
      credits: last === 1 ? 0 : 100 - 2 * (last - 2),
      reserved: Math.max(0, 2 * (last - 2)),
      bought: 0,
      paid_json: null,
      updated_at_ms: last,
      suspended_at_ms: null,
      due_at_ms: null,
    },
    grants: numbers.includes(2)
      ? [{ account_id, app_slug: "demo", amount: 100, granted_at_ms: 2 }]
      : [],
    jobs: reserving.map((line) => {
      const job = jobOf(line, { account_id });
      return account_id === "account" ? job : { ...job, id: `${job.id} of ${account_id}` };
    }),
    days: sumByDay(numbers.map(totalsOf)),
    money: [],
    owed: [],
  };
}

/** What D1 must have so that rows from entry `first` on continue from it. */
export function before(first: number, account_id = "account"): AccountState | null {
  return first === 1 ? null : stateOf(rowsBetween(first - 1, first - 1, account_id).account);
}

/** Runs the contract for an adapter. `arrived` resolves when what was sent can be read. */
export function projectorContract(
  name: string,
  open: () => Projector,
  arrived: (line: number) => Promise<unknown>,
): void {
  const account = () => env.DB.prepare("select * from accounts where id = 'account'").first();
  const count = (table: string) =>
    env.DB.prepare(`select count(*) as n from ${table}`).first<number>("n");
  const totals = async () => (await readDailyTotals(env.DB, DAY, DAY + 1, null))[0];
  const sumsUpTo = (line: number) => ({ granted: 100, reserved: 2 * (line - 2), jobs: line - 2 });

  describe(`the ${name} adapter of the read model`, () => {
    let projector: Projector;
    beforeEach(() => {
      projector = open();
    });

    it(`${name}: a delivery writes an account, its grants, its jobs and its day, and returns what D1 has`, async () => {
      expect(await projector.read(IDENTITY)).toEqual([]);
      const rows = rowsBetween(1, 5);
      expect(await projector.apply(rows, null)).toBe(true);
      await arrived(5);
      expect(await projector.read(IDENTITY)).toEqual([rows.account]);
      expect([await count("grants"), await count("jobs")]).toEqual([1, 3]);
      expect(await env.DB.prepare("select * from jobs order by id").all()).toMatchObject({
        results: rows.jobs,
      });
      expect(await totals()).toMatchObject({ ...sumsUpTo(5), active_accounts: 1 });
    });

    it(`${name}: a repeated, older or overlapping delivery changes nothing`, async () => {
      await projector.apply(rowsBetween(1, 5), before(1));
      await projector.apply(rowsBetween(1, 5), before(1));
      await projector.apply(rowsBetween(1, 3), before(1));
      await projector.apply(rowsBetween(6, 9), before(6));
      await projector.apply(rowsBetween(3, 7), before(3));
      await projector.apply(rowsBetween(4, 9), before(4));
      await projector.apply(rowsBetween(6, 7), before(6));
      await projector.apply(rowsBetween(5, 12), before(5));
      await arrived(9);
      expect(await account()).toMatchObject({ line: 9, credits: 86, reserved: 14 });
      expect(await count("jobs")).toBe(7);
      expect(await totals()).toMatchObject({ ...sumsUpTo(9), active_accounts: 1 });
    });

    it(`${name}: a delivery that does not continue from D1's row writes no totals, jobs or grants`, async () => {
      const grants = [{ account_id: "account", app_slug: "late", amount: 1, granted_at_ms: 9 }];
      const too_early = { ...rowsBetween(4, 6), grants };
      await projector.apply(too_early, before(4));
      await arrived(0);
      expect([await count("jobs"), await count("grants"), await count("account_days")]).toEqual([
        0, 0, 0,
      ]);
      await projector.apply(rowsBetween(1, 2), before(1));
      await arrived(2);
      await projector.apply(too_early, before(4));
      await arrived(2);
      expect([await count("jobs"), await count("grants")]).toEqual([0, 1]);
      expect(await totals()).toMatchObject({ ...sumsUpTo(2), active_accounts: 1 });
    });

    it(`${name}: an account counts as active once a day, in each app and in all, however its entries are split`, async () => {
      const in_app = (first: number, last: number, app_slug: string) => {
        const rows = rowsBetween(first, last);
        return { ...rows, days: sumByDay(rows.days.map((day) => ({ ...day, app_slug }))) };
      };
      await projector.apply(in_app(1, 3, "one"), before(1));
      await projector.apply(in_app(4, 5, "one"), before(4));
      await projector.apply(in_app(6, 6, "two"), before(6));
      await projector.apply(in_app(7, 7, "one"), before(7));
      await arrived(7);
      const of = async (app: string | null) =>
        (await readDailyTotals(env.DB, DAY, DAY + 1, app))[0];
      expect(await of(null)).toMatchObject({ ...sumsUpTo(7), active_accounts: 1 });
      expect(await of("one")).toMatchObject({ jobs: 4, active_accounts: 1 });
      expect(await of("two")).toMatchObject({ jobs: 1, active_accounts: 1 });
      expect(await count("account_days")).toBe(2);
    });

    it(`${name}: an older state of a job never replaces a newer one`, async () => {
      const rows = rowsBetween(1, 4);
      const ended = jobOf(3, { line: 5, status: "completed", actual_cost: 1 });
      const later = { ...rowsBetween(5, 5), jobs: [ended] };
      await projector.apply(rows, null);
      await projector.apply(later, before(5));
      await arrived(5);
      await projector.apply({ ...later, jobs: [jobOf(3, { line: 3 })] }, before(5));
      await projector.apply({ ...rowsBetween(6, 6), jobs: [jobOf(3, { line: 3 })] }, before(6));
      await arrived(6);
      const job = env.DB.prepare("select status, line from jobs where id = 'job 3'").first();
      expect(await job).toEqual({ status: "completed", line: 5 });
    });

    it(`${name}: a rebuild replaces grants, a range of jobs and an account's row, but not the totals`, async () => {
      await projector.apply(rowsBetween(1, 6), before(1));
      await arrived(6);
      await env.DB.exec("update jobs set line = 99; update accounts set credits = 5, line = 99");
      await env.DB.exec("insert into grants values ('account', 'stray', 1, 1)");
      await projector.replaceAccount(rowsBetween(1, 6).account);
      await projector.replaceGrants("account", rowsBetween(2, 2).grants);
      const range = { account_id: "account", after_id: "", to_id: "job 4" };
      expect(await projector.replaceJobs({ ...range, jobs: [jobOf(3)] })).toBe("job 4");
      const rest = { ...range, after_id: "job 4", to_id: null };
      expect(await projector.replaceJobs({ ...rest, jobs: [jobOf(6)] })).toBeNull();
      expect(await account()).toMatchObject({ line: 6, credits: 92 });
      expect(await count("grants")).toBe(1);
      const { results } = await env.DB.prepare("select id, line from jobs order by id").all();
      expect(results).toEqual([
        { id: "job 3", line: 3 },
        { id: "job 6", line: 6 },
      ]);
      expect(await totals()).toMatchObject(sumsUpTo(6));
    });

    it(`${name}: a deleted account leaves the read model and stays in the totals`, async () => {
      await projector.apply(rowsBetween(1, 6), before(1));
      await arrived(6);
      expect(await projector.forget("account")).toBe(true);
      await deleteLeftJobs(env.DB);
      for (const table of ["accounts", "jobs", "grants", "account_days"]) {
        expect(await count(table)).toBe(0);
      }
      expect(await totals()).toMatchObject({ ...sumsUpTo(6), active_accounts: 1 });
    });

    it(`${name}: while D1 is unavailable a delivery fails or is made later, and never in part`, async () => {
      vi.spyOn(console, "warn").mockReturnValue();
      await env.DB.exec("alter table jobs rename to jobs_away");
      const sent = await projector.apply(rowsBetween(1, 4), before(1)).catch(() => "failed");
      // The queue still holds the message. A direct delivery has failed, and the account sends it again.
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(await account()).toBeNull();
      await env.DB.exec("alter table jobs_away rename to jobs");
      if (sent === "failed") await projector.apply(rowsBetween(1, 4), before(1));
      await arrived(4);
      expect(await count("jobs")).toBe(2);
      expect(await totals()).toMatchObject(sumsUpTo(4));
    });
  });
}
