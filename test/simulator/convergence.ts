/** What holds when faults have ended and everything had time: the read model and the receivers have everything. */
import { creditEvent } from "../../src/domain/webhook_events.ts";
import type { JobRow } from "../../src/account/sql/schema.ts";
import type { Books } from "./books.ts";
import type { Stored } from "./platform/storage.ts";
import { must } from "./violation.ts";
import { WEBHOOKS, type World } from "./world.ts";

/** Columns of the account's row, or of a job's, that D1 has too. */
const ACCOUNT = ["line", "credits", "reserved", "bought", "updated_at_ms"] as const;
const JOB = [
  "status",
  "app_slug",
  "reserved",
  "actual_cost",
  "refunded",
  "step",
  "failure",
  "line",
];

/** D1 shows each account as its object has it. */
export function expectReadModel({ read_model }: World, books: Books): void {
  const { identity_id, entries } = books;
  const newest = entries.at(-1);
  if (newest === undefined) return;
  const rows = read_model.all<Record<string, unknown>>(
    "select * from accounts where identity_id = ?",
    identity_id,
  );
  const { line, balance_after: credits, reserved_after: reserved, at_ms: updated_at_ms } = newest;
  const bought = newest.bought_after + newest.reserved_bought_after;
  const shown = rows.map((row) => ACCOUNT.map((column) => row[column]));
  const expected = [[line, credits, reserved, bought, updated_at_ms]];
  must(isSame(shown, expected), "the read model shows the newest entry", { shown, expected });
  const account_id = String(rows[0]?.["id"]);
  const jobs = read_model.all<JobRow>("select * from jobs where account_id = ?", account_id);
  must(jobs.length === books.jobs.size, "the read model has every job", {
    shown: jobs.length,
    expected: books.jobs.size,
  });
  for (const job of jobs) {
    const own = books.jobs.get(job.id)?.row;
    for (const column of JOB) {
      const is_same =
        Reflect.get(job, column) === (own === undefined ? null : Reflect.get(own, column));
      must(is_same, "the read model shows a job as it is", { column, job, own });
    }
  }
  const grants = read_model.all<{ app_slug: string; amount: number }>(
    "select app_slug, amount from grants where account_id = ? order by app_slug",
    account_id,
  );
  const granted = [...books.granted.keys()]
    .toSorted()
    .map((app_slug) => ({ app_slug, amount: books.granted.get(app_slug) }));
  must(isSame(grants, granted), "the read model has every grant", { grants, granted });
}

/** Each entry counts once in the totals of its day. */
export function expectTotals({ read_model }: World, all: readonly Books[]): void {
  const entries = all.flatMap((books) => books.entries);
  const sum = (kinds: readonly string[]): number =>
    entries
      .filter(({ kind }) => kinds.includes(kind))
      .reduce((total, { amount }) => total + amount, 0);
  const [totals] = read_model.all<Record<string, number>>(
    `select coalesce(sum(granted), 0) as granted, coalesce(sum(purchased), 0) as purchased,
       coalesce(sum(adjusted), 0) as adjusted, coalesce(sum(taken_back), 0) as taken_back,
       coalesce(sum(expired), 0) as expired,
       coalesce(sum(reserved), 0) as reserved, coalesce(sum(jobs), 0) as jobs,
       coalesce(sum(settled), 0) as settled, coalesce(sum(job_refunded), 0) as job_refunded
     from daily_totals`,
  );
  const jobs = all.flatMap((books) => [...books.jobs.values()]);
  const expected = {
    granted: sum(["grant", "recurring"]),
    purchased: sum(["purchase"]),
    adjusted: sum(["adjustment"]),
    taken_back: sum(["purchase_refund"]),
    expired: sum(["expire"]),
    reserved: 0 - sum(["reserve"]),
    jobs: jobs.length,
    settled: jobs.reduce(
      (cost, { row }) => cost + (row.status === "started" ? 0 : row.actual_cost),
      0,
    ),
    job_refunded: sum(["job_refund"]),
  };
  must(isSame(totals, expected), "each entry counts once in the totals of its day", {
    totals,
    expected,
  });
}

/** Each app that was always allowed got every event of its jobs, and in order. */
export function expectWebhooks(
  { receivers }: World,
  { sqlite }: Stored,
  books: Books,
  ever_stopped: ReadonlySet<string>,
): void {
  const [{ id: account_id } = { id: "" }] = sqlite.all<{ id: string }>("select id from account");
  for (const { uid, app_slug, events } of WEBHOOKS) {
    const accepted = receivers.accepted.get(`${uid} ${books.identity_id}`) ?? new Map();
    let last_line = 0;
    for (const { id, line, credits, held } of accepted.values()) {
      if (line === null) continue;
      must(line >= last_line, "a receiver gets events in order", { app_slug, id, line, last_line });
      last_line = line;
      const entry = books.entries[line - 1];
      must(entry !== undefined, "an event is of an entry", { id });
      const shows =
        credits === null || (credits === entry.balance_after && held === entry.reserved_after);
      must(shows, "an event shows the balance after its entry", { id, credits, held, entry });
    }
    if (ever_stopped.has(app_slug)) continue;
    for (const { row, first_line } of books.jobs.values()) {
      if (row.app_slug !== app_slug) continue;
      const expected = [`${first_line}.job.created`, ...endOf(books, row)];
      for (const event of expected) {
        const id = `${account_id}.${event}`;
        must(accepted.has(id), "a receiver gets every event at least once", { app_slug, id, row });
      }
    }
    const sees_credits = (events as readonly string[]).includes("credits.granted");
    const opened = "select opened_after_line from apps where slug = ? and access = 'open'";
    const [open] = sqlite.all<{ opened_after_line: number }>(opened, app_slug);
    if (!sees_credits || open === undefined) continue;
    const { line: newest = 0 } = books.entries.at(-1) ?? {};
    const balance = `${account_id}.${newest}.credits.changed`;
    const has_it = newest <= open.opened_after_line || accepted.has(balance);
    must(has_it, "an app learns of the newest balance", { app_slug, newest });
    for (const entry of books.entries.slice(open.opened_after_line)) {
      const type = entry.job_id === null ? creditEvent(entry) : null;
      if (type === null) continue;
      // Only an app that could use a lot learns that it expired.
      const lot = entry.kind === "expire" ? books.credits.lots.get(entry.lot_id ?? "") : undefined;
      if (lot !== undefined && lot.app_slugs?.includes(app_slug) === false) continue;
      const id = `${account_id}.${entry.line}.${type}`;
      must(accepted.has(id), "an app learns of every change of credits", { app_slug, id });
    }
  }
}

/** The event of a job's end; none while it is started. */
function endOf({ entries }: Books, row: JobRow): string[] {
  if (row.status === "started") return [];
  const of_job = entries.filter(({ job_id, kind }) => job_id === row.id && kind !== "job_refund");
  const end = of_job.at(-1);
  const is_early = row.failure === "expired" || row.failure === "cancelled";
  const type = row.status === "completed" ? "completed" : is_early ? "expired" : "failed";
  return [`${end?.line}.job.${type}`];
}

/** The tables of the object agree with each other. */
export function expectTables({ sqlite, name }: Stored, books: Books): void {
  const started = sqlite.all<{ id: string }>(
    "select id from jobs where status = 'started' order by id",
  );
  const known = [...books.started.keys()].toSorted();
  must(
    isSame(
      started.map(({ id }) => id),
      known,
    ),
    "the started jobs are those of the entries",
    { name },
  );
  const newest = books.entries.at(-1);
  const after_id = newest?.recent_after_job_id ?? "";
  const long = sqlite.all<{ job_id: string }>("select job_id from long_jobs order by job_id");
  const expected = known.filter((id) => id <= after_id);
  must(
    isSame(
      long.map(({ job_id }) => job_id),
      expected,
    ),
    "a job that is not recent is among the long ones",
    {
      long,
      expected,
    },
  );
  const [stuck] = sqlite.all<{ jobs: number }>("select count(*) as jobs from stuck_jobs");
  must(stuck?.jobs === 0, "no job is stuck");
  for (const row of sqlite.all<{ id: string; caps_json: string }>(
    "select id, caps_json from allowances",
  )) {
    const caps = JSON.parse(row.caps_json) as { credits: number; period: string; spent: number }[];
    const total = caps.find(({ period }) => period === "total");
    if (total === undefined) continue;
    // Claims that ended since the last call are still counted.
    const used = books.usageOf(row.id, Number.POSITIVE_INFINITY);
    const claimed = books.usageOf(row.id, Number.NEGATIVE_INFINITY);
    must(total.spent >= used && total.spent <= claimed, "a cap counts what its jobs took", {
      total,
      used,
      claimed,
      id: row.id,
    });
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
