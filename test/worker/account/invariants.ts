/** The invariants of every account (design, section 6), checked against its storage. */
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { idsOfPath } from "../../../src/domain/allowance.ts";
import { windowAt, type CapSpending, type Taking } from "../../../src/domain/spending_cap.ts";
import { DEFAULT_POLICY } from "../../../src/domain/app_policy.ts";
import {
  COST_MAX_CREDITS,
  OPEN_JOBS_MAX,
  OPEN_JOBS_SHARE,
  RECENT_JOBS_MAX,
} from "../../../src/domain/limits.ts";
import { JOB_ROWS_BYTES } from "../../../src/account/jobs/create.ts";
import { JOB_STEP_BYTES } from "../../../src/account/jobs/progress.ts";
import { SERVICE, type EntryRow, type StatementRow } from "../../../src/account/contract.ts";
import {
  countOf,
  newestOf,
  plus,
  worthJson,
  worthOf,
  type PaidCredits,
} from "../../../src/domain/liability.ts";
import { partsOf } from "../../../src/domain/wire.ts";
import { readDailyTotals } from "../../../src/readmodel/totals.ts";
import {
  fireAlarm,
  query,
  readContents,
  repeatAlarm,
  type Contents,
} from "../support/account_object.ts";
import { withToken } from "../support/allowances.ts";

/** Checks all invariants of the object's tables, then delivers the entries and checks the read model. */
export async function expectInvariants(identity_id: string): Promise<void> {
  const contents = await readContents(identity_id);
  await expectStoredTypes(identity_id);
  expectLedger(contents);
  expectJobs(contents);
  expectGrants(contents);
  await expectLots(identity_id, contents);
  await expectPurchases(identity_id, contents);
  await expectBought(identity_id, contents);
  await expectPaid(identity_id, contents);
  await expectSpending(identity_id, contents);
  await expectStoredBytes(identity_id, contents);
  await expectDebts(identity_id, contents);
  await expectStatementRows(identity_id, contents);
  await fireAlarm(identity_id);
  await expectStartedShares(identity_id);
  await expectReadModel(identity_id);
}

/**
 * Each column holds what it is declared to hold: SQLite stores the text `true` in an integer column, and it reads as false.
 */
async function expectStoredTypes(identity_id: string): Promise<void> {
  const columns = await query<{ name: string; column: string; type: string }>(
    identity_id,
    `select tables.name, columns.name as "column", lower(columns.type) as type
     from pragma_table_list as tables join pragma_table_info(tables.name) as columns
     where tables.schema = 'main' and tables.name not like '\\_cf%' escape '\\'
       and tables.name not like 'sqlite%'`,
  );
  for (const [name, declared] of Map.groupBy(columns, (it) => it.name)) {
    const wrong = declared.map(
      ({ column, type }) => `max(typeof("${column}") not in ('${type}', 'null')) as "${column}"`,
    );
    const [found = {}] = await query<object>(
      identity_id,
      `select ${wrong.join(", ")} from "${name}"`,
    );
    // Null: the table is empty.
    const wrongly_typed = Object.entries(found).filter(([, is_wrong]) => is_wrong === 1);
    expect(wrongly_typed, name).toEqual([]);
  }
  expect(columns.length).toBeGreaterThan(0);
}

/** Line numbers have no gaps, and each entry states the correct balance and held credits. */
function expectLedger({ entries, jobs }: Contents): void {
  let balance = 0;
  const held = new Map<string, number>();
  entries.forEach((entry, index) => {
    expect(entry.line).toBe(index + 1);
    balance += entry.amount;
    expect(entry.balance_after).toBe(balance);
    const { job_id, kind, amount } = entry;
    if (job_id !== null && jobs.some(({ id }) => id === job_id)) {
      // A reserve adds to what its job holds, and a refund takes from it: all of it at the job's end.
      const is_hold = kind === "reserve" || kind === "refund";
      held.set(job_id, is_hold ? (held.get(job_id) ?? 0) - amount : 0);
    }
    expect(entry.reserved_after).toBe([...held.values()].reduce((sum, one) => sum + one, 0));
  });
}

/**
 * In any two months that follow each other, each job has one row with its change, and the rows add up to the change of
 * what the holder owns.
 */
async function expectStatementRows(
  identity_id: string,
  { entries, jobs }: Contents,
): Promise<void> {
  const newest = new Map<string, number>();
  for (const { line, job_id, previous_line } of entries) {
    expect(previous_line).toBe(job_id === null ? null : (newest.get(job_id) ?? null));
    if (job_id !== null) newest.set(job_id, line);
  }
  const cut_ms = entries[Math.floor(entries.length / 2)]?.at_ms ?? 0;
  const end_ms = (entries.at(-1)?.at_ms ?? 0) + 1;
  const spent = new Map<string, number>();
  for (const [from_ms, to_ms] of [
    [0, cut_ms],
    [cut_ms, end_ms],
  ] as const) {
    const rows: StatementRow[] = [];
    for (let before_line: number | null = null; ;) {
      const page = { from_ms, to_ms, app_slug: null, group: null, by: null, before_line, limit: 3 };
      const read = await env.ACCOUNT.getByName(identity_id).readStatementRows(SERVICE, page);
      if (!read.ok) throw new Error("the statement was refused");
      const { opening, closing, sums, next } = read.value;
      rows.push(...(read.value.rows as StatementRow[]));
      before_line = next;
      if (next !== null) continue;
      const total = rows.reduce((sum, row) => sum + row.change, 0);
      expect(total).toBe(closing.credits + closing.held - opening.credits - opening.held);
      expect((sums?.spent ?? 0) + (sums?.added ?? 0)).toBe(total);
      break;
    }
    const shown = rows.flatMap(({ job }) => job?.id ?? []);
    expect(new Set(shown).size).toBe(shown.length);
    for (const { job, change } of rows) {
      if (job !== null) spent.set(job.id, (spent.get(job.id) ?? 0) - change);
    }
  }
  for (const job of jobs) expect(spent.get(job.id)).toBe(job.actual_cost - job.refunded);
}

/** Each reserve is resolved at most once, and the held credits are those that started jobs reserve. */
function expectJobs({ entries, jobs, long_jobs }: Contents): void {
  let held = 0;
  for (const job of jobs) {
    const lines = entries.filter((entry) => entry.job_id === job.id);
    const kinds = lines.map((line) => line.kind).filter((kind) => kind !== "job_refund");
    const given_back = lines.slice(kinds.length);
    const spent = 0 - lines.reduce((sum, line) => sum + line.amount, 0);
    expect(job.line).toBe(lines.at(-1)?.line);
    // Refunds follow all other entries of the job, and never exceed its cost.
    expect(given_back.map((line) => line.kind)).toEqual(given_back.map(() => "job_refund"));
    expect(job.refunded).toBe(given_back.reduce((sum, line) => sum + line.amount, 0));
    expect(job.refunded).toBeLessThanOrEqual(job.actual_cost);
    expect(kinds[0]).toBe("reserve");
    // Each step has at most one entry, after the first one.
    const steps = job.progress_json === null ? 0 : JSON.parse(job.progress_json).count;
    expect(job.spent ?? 0).toBeLessThanOrEqual(job.reserved);
    // Only a job that was completed after its expiry ends twice.
    const ends =
      job.status === "started" ? [""] : ["settle", "refund", "refund settle", "settle settle"];
    const splits = Array.from({ length: steps + 1 }, (_, count) => [
      kinds.slice(1, 1 + count),
      kinds.slice(1 + count).join(" "),
    ]);
    const fits = splits.some(
      ([of_steps, rest]) => !of_steps?.includes("settle") && ends.includes(String(rest)),
    );
    expect({ kinds, fits }).toEqual({ kinds, fits: true });
    if (job.status === "started") {
      expect(spent).toBe(job.reserved);
      held += job.reserved;
    } else {
      expect(spent).toBe(job.actual_cost - job.refunded);
    }
  }
  const reserved_by_ledger = entries
    .filter((entry) => jobs.find((job) => job.id === entry.job_id)?.status === "started")
    .reduce((sum, entry) => sum - entry.amount, 0);
  expect(reserved_by_ledger).toBe(held);
  const started = jobs.filter((job) => job.status === "started");
  expect(entries.at(-1)?.open_jobs ?? 0).toBe(started.length);
  expect(entries.at(-1)?.reserved_after ?? 0).toBe(held);
  expectOpenJobs(entries.at(-1), jobs, long_jobs);
}

/** Every started job is either recent or has a row in `long_jobs`. The number of recent jobs is bounded. */
function expectOpenJobs(
  newest: EntryRow | undefined,
  jobs: Contents["jobs"],
  long_jobs: Contents["long_jobs"],
): void {
  const after_id = newest?.recent_after_job_id ?? "";
  const recent = jobs.filter(({ id }) => id > after_id);
  expect(newest?.recent_jobs ?? 0).toBe(recent.length);
  expect(recent.length).toBeLessThanOrEqual(RECENT_JOBS_MAX);
  const others = jobs.filter(({ id, status }) => status === "started" && id <= after_id);
  expect(long_jobs.map(({ job_id }) => job_id).toSorted()).toEqual(others.map(({ id }) => id));
}

/** Each granted app has one grant. The balance is the sum of all credits added, less the cost of jobs. */
function expectGrants({ entries, apps, jobs }: Contents): void {
  const granted = entries.filter((entry) => entry.kind === "grant");
  expect(new Map(granted.map((entry) => [entry.app_slug, entry.amount]))).toEqual(
    new Map(
      apps
        .filter((app) => app.granted_at_ms !== null)
        .map((app) => [app.slug, app.starter_credits]),
    ),
  );
  expect(granted).toHaveLength(new Set(granted.map((entry) => entry.app_slug)).size);
  const put_in = entries
    .filter(({ kind }) =>
      [
        "grant",
        "adjustment",
        "purchase",
        "purchase_refund",
        "debt",
        "expire",
        "recurring",
      ].includes(kind),
    )
    .reduce((sum, entry) => sum + entry.amount, 0);
  const taken = jobs.reduce(
    (sum, job) => sum + (job.status === "started" ? job.reserved : job.actual_cost - job.refunded),
    0,
  );
  expect(entries.at(-1)?.balance_after ?? 0).toBe(put_in - taken);
}

interface StoredLot {
  readonly id: string;
  readonly bought: 0 | 1;
  readonly app_slugs_json: string | null;
  readonly credits_left: number;
  readonly credits_held: number;
  readonly paid_json: string | null;
}

interface StoredPayment extends PaidCredits {
  readonly before_credits: number;
}

/**
 * The balance is the base and what is left in lots, of which the bought part is never below zero. Each lot has what started
 * jobs hold of it, and each job's parts add up to what it holds or cost.
 */
async function expectLots(identity_id: string, { entries, jobs }: Contents): Promise<void> {
  const lots = await query<StoredLot>(identity_id, "select * from lots order by line, id");
  const newest = entries.at(-1);
  const left = (of: readonly StoredLot[]): number =>
    of.reduce((sum, { credits_left }) => sum + credits_left, 0);
  const bought = (newest?.bought_after ?? 0) - left(lots.filter((lot) => lot.bought === 1));
  const base = (newest?.balance_after ?? 0) - left(lots);
  expect(bought).toBeGreaterThanOrEqual(0);
  if (base < bought) expect(bought).toBe(0);
  for (const job of jobs) {
    const sum = partsOf(job).reduce((all, { credits }) => all + credits, 0);
    expect(sum).toBe(job.status === "started" ? job.reserved : job.actual_cost);
  }
  const held = jobs.filter(({ status }) => status === "started").flatMap(partsOf);
  const sumOfParts = (parts: typeof held): number =>
    parts.reduce((sum, { credits }) => sum + credits, 0);
  for (const lot of lots) {
    const own = held.filter(({ lot_id }) => lot_id === lot.id);
    expect(lot.credits_held).toBe(sumOfParts(own));
    expect(lot.credits_left).toBeGreaterThanOrEqual(0);
    expect(own.every((part) => Number(part.bought) === lot.bought)).toBe(true);
  }
  expect(newest?.reserved_bought_after ?? 0).toBe(sumOfParts(held.filter((it) => it.bought)));
  const scoped = lots.filter((lot) => lot.app_slugs_json !== null);
  const noted = JSON.parse(newest?.scoped_json ?? "[]");
  expect(noted.reduce((sum: number, it: { left: number }) => sum + it.left, 0)).toBe(left(scoped));
}

/**
 * The newest entry says what the bought credits are worth by the payments for what each place has left. In the base, each
 * payment says what came before it.
 */
export async function expectPaid(
  identity_id: string,
  { entries }: Pick<Contents, "entries">,
): Promise<void> {
  const lots = await query<StoredLot>(identity_id, "select * from lots where bought = 1");
  const payments = await query<StoredPayment>(
    identity_id,
    "select * from base_payments order by number",
  );
  const newest = entries.at(-1);
  const bought = (newest?.bought_after ?? 0) + (newest?.reserved_bought_after ?? 0);
  const ownedOf = (lot: StoredLot): number => lot.credits_left + lot.credits_held;
  const in_lots = lots.reduce((sum, lot) => sum + ownedOf(lot), 0);
  const worth = lots.reduce(
    (sum, lot) => plus(sum, worthOf(newestOf(JSON.parse(lot.paid_json ?? "[]"), ownedOf(lot)))),
    worthOf(newestOf(payments, bought - in_lots)),
  );
  expect(newest?.paid_json ?? null).toBe(worthJson(worth));
  payments.forEach(({ before_credits }, at) => {
    const before = payments.slice(0, at);
    expect(before_credits).toBe(before.reduce((sum, one) => sum + countOf(one), 0));
  });
}

/** Each purchase has one entry. Its refunds are entries of 0 to all of its credits. */
async function expectPurchases(identity_id: string, { entries }: Contents): Promise<void> {
  const rows = await query<PurchaseRow>(identity_id, "select * from purchases");
  const money = await query<{ line: number; checkout_session_id: string; amount_minor: number }>(
    identity_id,
    "select * from purchase_entries order by line",
  );
  const of_purchases = entries.filter(({ kind }) => kind.startsWith("purchase"));
  expect(money.map(({ line }) => line)).toEqual(of_purchases.map(({ line }) => line));
  const sumOf = (kind: EntryRow["kind"]): number =>
    entries.filter((entry) => entry.kind === kind).reduce((sum, { amount }) => sum + amount, 0);
  const total = (column: "credits" | "taken_back"): number =>
    rows.reduce((sum, row) => sum + row[column], 0);
  expect(entries.filter(({ kind }) => kind === "purchase")).toHaveLength(rows.length);
  expect(sumOf("purchase")).toBe(total("credits"));
  expect(0 - sumOf("purchase_refund")).toBe(total("taken_back"));
  for (const { credits, taken_back, paid_minor, refunded_minor, ...row } of rows) {
    const own = money.filter((it) => it.checkout_session_id === row.checkout_session_id);
    expect(own.reduce((sum, it) => sum + it.amount_minor, 0)).toBe(paid_minor - refunded_minor);
    expect(refunded_minor).toBeGreaterThanOrEqual(0);
    expect(refunded_minor).toBeLessThanOrEqual(paid_minor);
    expect(taken_back).toBeGreaterThanOrEqual(0);
    expect(taken_back).toBeLessThanOrEqual(credits);
  }
}

/**
 * Every bought credit that came in is left or held, or was spent, expired, taken back, taken by an operator or an earlier
 * account's debt, or paid what this account owed. Every other credit was given, so this holds for those too.
 */
async function expectBought(identity_id: string, { entries, jobs }: Contents): Promise<void> {
  const lots = await query<StoredLot>(identity_id, "select * from lots");
  const purchases = await query<PurchaseRow>(identity_id, "select * from purchases");
  const ownedAfter = (entry: EntryRow | undefined): number =>
    (entry?.bought_after ?? 0) + (entry?.reserved_bought_after ?? 0);
  const owed = lots.length > 0 || entries.some(({ balance_after }) => balance_after < 0);
  /** Expects that a debt was paid only if there was one. */
  const paidBy = (paid: number): number => {
    expect(paid).toBeGreaterThanOrEqual(0);
    if (!owed) expect(paid).toBe(0);
    return paid;
  };
  const of_jobs = new Map<string, number>();
  let came_in = purchases.reduce((sum, it) => sum + it.credits - it.taken_back, 0);
  let paid = 0;
  entries.forEach((entry, at) => {
    const { kind, amount, job_id, lot_id, terms_json } = entry;
    const change = ownedAfter(entry) - ownedAfter(entries[at - 1]);
    if (kind === "purchase") paid += paidBy(amount - change);
    // A refund takes given credits if too few bought ones are left.
    else if (kind === "purchase_refund") paid += amount - change;
    else if (kind === "adjustment" && terms_json !== null && JSON.parse(terms_json).bought) {
      came_in += amount;
      paid += paidBy(amount - change);
    } else if (kind === "adjustment" || kind === "debt") came_in += change;
    else if (kind === "expire") {
      expect(change).toBe(lots.find(({ id }) => id === lot_id)?.bought === 1 ? amount : 0);
      came_in += change;
    } else if (job_id !== null) of_jobs.set(job_id, (of_jobs.get(job_id) ?? 0) - change);
    else expect(change).toBe(0);
  });
  for (const job of jobs) {
    let counted = job.status === "started" ? 0 : job.actual_cost - job.refunded;
    let spent = 0;
    for (const { bought, credits } of partsOf(job)) {
      if (bought) spent += Math.min(counted, credits);
      counted -= Math.min(counted, credits);
    }
    paid += paidBy((of_jobs.get(job.id) ?? 0) - spent);
    came_in -= spent;
  }
  expect(ownedAfter(entries.at(-1))).toBe(came_in - paid);
}

interface StoredAllowance {
  readonly id: string;
  readonly path: string;
  readonly caps_json: string;
  readonly stored_bytes: number;
  readonly expires_at_ms: number;
  readonly revoked_at_ms: number | null;
}

const isOf = ({ allowance_path }: Contents["jobs"][number], id: string): boolean =>
  idsOfPath(allowance_path).includes(id);

/**
 * The stored spending of each cap equals what the jobs of its allowance and of its descendants took in its window, and
 * what they took is what they hold, cost or claim.
 */
async function expectSpending(identity_id: string, { entries, jobs }: Contents): Promise<void> {
  const all = await query<StoredAllowance>(identity_id, "select * from allowances");
  const ends = new Map(
    all.map(({ id, revoked_at_ms, expires_at_ms }) => [
      id,
      Math.min(revoked_at_ms ?? expires_at_ms, expires_at_ms),
    ]),
  );
  const revoked = all.filter(({ revoked_at_ms }) => revoked_at_ms !== null).map(({ id }) => id);
  for (const { status, allowance_path } of jobs) {
    if (status !== "started") continue;
    // The started jobs of an allowance and of its descendants expire when it is revoked.
    for (const id of idsOfPath(allowance_path)) {
      expect(ends.has(id)).toBe(true);
      expect(revoked).not.toContain(id);
    }
  }
  for (const { id, path, caps_json } of all) {
    const end_ms = Math.min(...idsOfPath(path).map((one) => ends.get(one) ?? 0));
    const own = jobs.filter((job) => isOf(job, id));
    for (const cap of JSON.parse(caps_json) as CapSpending[]) {
      const taken = own.flatMap(takingsOf).filter(({ line, at_ms }) => {
        const window = windowAt(cap, Math.min(at_ms, end_ms));
        return line >= cap.since_line && window === cap.window;
      });
      const spent = sumOf(taken);
      expect({ id, ...cap }).toEqual({ id, ...cap, spent });
      for (const job of own.filter((one) => firstLine(one, entries) > cap.since_line)) {
        expect({ job, credits: sumOf(takingsOf(job)) }).toEqual({ job, credits: countedOf(job) });
      }
    }
  }
}

const takingsOf = ({ takings_json }: Contents["jobs"][number]): readonly Taking[] =>
  takings_json === null ? [] : (JSON.parse(takings_json) as readonly Taking[]);

const sumOf = (takings: readonly Taking[]): number =>
  takings.reduce((sum, { credits }) => sum + credits, 0);

const firstLine = ({ id }: Contents["jobs"][number], entries: Contents["entries"]): number =>
  entries.find(({ job_id }) => job_id === id)?.line ?? 0;

/** What caps count for a job: what it holds, or what it cost and still claims. */
function countedOf(job: Contents["jobs"][number]): number {
  if (job.status === "started" || job.claimed_until_ms !== null) return job.reserved;
  return job.actual_cost - job.refunded;
}

/** An allowance's stored bytes are those of its and its descendants' jobs. The histories never shrink metadata. */
async function expectStoredBytes(identity_id: string, { jobs }: Contents): Promise<void> {
  const all = await query<StoredAllowance>(identity_id, "select * from allowances");
  for (const { id, stored_bytes } of all) {
    const bytes = jobs
      .filter((job) => isOf(job, id))
      .map(({ metadata_json, progress_json }) => {
        const steps = progress_json === null ? 0 : JSON.parse(progress_json).count;
        return JOB_ROWS_BYTES + steps * JOB_STEP_BYTES + new Blob([metadata_json ?? ""]).size;
      });
    expect({ id, stored_bytes }).toEqual({
      id,
      stored_bytes: bytes.reduce((sum, it) => sum + it, 0),
    });
  }
}

/** Each debt has one entry. */
async function expectDebts(identity_id: string, { entries }: Contents): Promise<void> {
  const rows = await query(identity_id, "select id from debts");
  expect(entries.filter(({ kind }) => kind === "debt")).toHaveLength(rows.length);
}

/**
 * The object counts the started jobs of each token and app correctly: with a share equal to the count, it refuses the
 * next job. With a share one higher, the other share or the balance refuses it, so that the check creates no job.
 */
async function expectStartedShares(identity_id: string): Promise<void> {
  const account = env.ACCOUNT.getByName(identity_id);
  const started = await query<{ allowance_path: string | null; app_slug: string }>(
    identity_id,
    "select allowance_path, app_slug from jobs where status = 'started'",
  );
  const usual = { ...OPEN_JOBS_SHARE };
  const refusedFor = async (
    caller: Parameters<typeof account.createJob>[0],
    app_slug: string,
    cost_estimate: number,
  ): Promise<string | undefined> => {
    const request = { app_slug, cost_estimate, action: "probe", ttl_seconds: 60 };
    const rest = { policy: { ...DEFAULT_POLICY }, metadata_json: null };
    const answer = await account.createJob(caller, { ...request, ...rest }, null);
    if (answer.ok) return expect.fail("a probe created a job");
    const { refusal } = answer;
    return refusal.code === "limit_reached" ? refusal.of : refusal.code;
  };
  try {
    for (const [app_slug, jobs] of Map.groupBy(started, (job) => job.app_slug)) {
      for (const [app, expected] of [
        [jobs.length, "started_jobs_of_app"],
        [jobs.length + 1, "insufficient_credits"],
      ] as const) {
        Object.assign(OPEN_JOBS_SHARE, { token: OPEN_JOBS_MAX, app });
        const refused = await refusedFor({ kind: "holder" }, app_slug ?? "", COST_MAX_CREDITS);
        expect({ app_slug, app, refused }).toEqual({ app_slug, app, refused: expected });
      }
    }
    const allowances = await query<{ id: string }>(
      identity_id,
      `select id from allowances
       where scopes like '%write%' and app_slugs_json is null and revoked_at_ms is null
         and parent_id is null and expires_at_ms > ${Date.now()}`,
    );
    for (const { id } of allowances) {
      const caller = withToken(id);
      const jobs = started.filter((job) => idsOfPath(job.allowance_path).includes(id));
      for (const [token, expected] of [
        [jobs.length, "started_jobs_of_token"],
        [jobs.length + 1, "started_jobs_of_app"],
      ] as const) {
        Object.assign(OPEN_JOBS_SHARE, { token, app: 0 });
        const refused = await refusedFor(caller, "probe", 0);
        expect({ id, token, refused }).toEqual({
          id,
          token,
          refused: expected,
        });
      }
    }
  } finally {
    Object.assign(OPEN_JOBS_SHARE, usual);
  }
}

/** Columns of a job that only the object has. */
export const NOT_IN_D1 = [
  "done",
  "message",
  "metadata_json",
  "progress_json",
  "is_capped",
  "approved",
  "takings_json",
  "claimed_until_ms",
  "settle",
  "on_expiry",
  "cost_estimate",
  "max_overage_percent",
  "from_json",
  "idempotency_caller",
  "idempotency_key",
  "idempotency_fingerprint",
];

/** D1 has the same account, grants and jobs as the object, in every column, and nothing else of this person. */
export async function expectReadModel(identity_id: string): Promise<void> {
  const { entries, apps, jobs } = await readContents(identity_id);
  const [account] = await query<AccountRow>(identity_id, "select * from account");
  const newest = entries.at(-1);
  const select = async (statement: string, value: string) =>
    (await env.DB.prepare(statement).bind(value).all()).results;
  const shown = await select("select * from accounts where identity_id = ?", identity_id);
  if (account === undefined || newest === undefined) return expect(shown).toEqual([]);
  const { id, plan, plan_json, created_at_ms, suspended_at_ms } = account;
  const plan_version = plan_json === null ? 0 : JSON.parse(plan_json).version;
  const { line, balance_after: credits, reserved_after: reserved, at_ms: updated_at_ms } = newest;
  const bought = newest.bought_after + newest.reserved_bought_after;
  const started = jobs
    .filter(({ status }) => status === "started")
    .map(({ expires_at_ms }) => expires_at_ms);
  expect(shown).toEqual([
    {
      id,
      identity_id,
      plan,
      plan_version,
      created_at_ms,
      line,
      credits,
      reserved,
      bought,
      paid_json: newest.paid_json,
      updated_at_ms,
      suspended_at_ms,
      due_at_ms: started.length === 0 ? null : Math.min(...started),
    },
  ]);
  expect(await select("select * from grants where account_id = ? order by app_slug", id)).toEqual(
    apps.flatMap(({ slug, starter_credits, granted_at_ms }) =>
      granted_at_ms === null
        ? []
        : [{ account_id: id, app_slug: slug, amount: starter_credits, granted_at_ms }],
    ),
  );
  const stored = await select("select * from jobs where account_id = ? order by id", id);
  expect(stored).toEqual(
    jobs.map((row, at) => {
      const job: Record<string, unknown> = { account_id: id, ...row };
      for (const column of NOT_IN_D1) delete job[column];
      // A report of progress without an entry reaches D1 with the next entry of the job.
      const { step, updated_at_ms } = stored[at] ?? {};
      return row.status === "started" && row.step > 0 ? { ...job, step, updated_at_ms } : job;
    }),
  );
}

/**
 * Deletes the account, and expects that its rows are gone from the object and from D1. The daily totals change only by
 * the end of its started jobs and by what it forfeits.
 */
export async function expectDeletion(identity_id: string): Promise<void> {
  const { jobs, entries } = await readContents(identity_id);
  const started = jobs.filter(({ status }) => status === "started");
  const { balance_after = 0, reserved_after = 0 } = entries.at(-1) ?? {};
  const before = await sumOfDays();
  await env.ACCOUNT.getByName(identity_id).deleteAccount({ kind: "holder" } as const);
  for (let alarms = 0; alarms < 4; alarms += 1) await repeatAlarm(identity_id);
  const gone = { entries: [], jobs: [], long_jobs: [], apps: [] };
  expect(await readContents(identity_id)).toEqual(gone);
  const rows = "select id from accounts where identity_id = ?";
  expect((await env.DB.prepare(rows).bind(identity_id).all()).results).toEqual([]);
  const spent = started.reduce((sum, job) => sum + (job.spent ?? 0), 0);
  const given_up = started.reduce((sum, job) => sum + (job.spent ? 0 : job.reserved), 0);
  expect(await sumOfDays()).toEqual({
    ...before,
    settled: (before["settled"] ?? 0) + spent,
    refunded: (before["refunded"] ?? 0) + given_up,
    failed: (before["failed"] ?? 0) + started.length,
    forfeited: (before["forfeited"] ?? 0) - (balance_after + reserved_after - spent),
  });
}

/** Sums the daily totals over all days and accounts. */
async function sumOfDays(): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { day: _, active_accounts: __, ...totals } of await readDailyTotals(
    env.DB,
    0,
    1_000_000,
    null,
  )) {
    for (const [name, value] of Object.entries(totals)) sums[name] = (sums[name] ?? 0) + value;
  }
  return sums;
}

interface PurchaseRow {
  readonly checkout_session_id: string;
  readonly credits: number;
  readonly taken_back: number;
  readonly paid_minor: number;
  readonly refunded_minor: number;
}

interface AccountRow {
  readonly id: string;
  readonly plan: string;
  readonly plan_json: string | null;
  readonly created_at_ms: number;
  readonly suspended_at_ms: number | null;
}
