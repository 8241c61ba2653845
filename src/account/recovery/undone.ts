/**
 * What a restored account keeps of the time after which it was restored. The platform replaces the object's whole storage,
 * so this is written to the archive before, and put back after:
 *
 * - the undone entries, so that the ledger stays append-only: entry numbers are never used twice, and a further entry of the
 *   kind `recovery` takes the balance back;
 * - who has access, since a restore must not give access back: a revoked token stays revoked, a new one stays valid;
 * - payments and debts, which are real;
 * - events for webhooks that have no entry, and what the archive has.
 */
import type { CapSpending } from "../../domain/spending_cap.ts";
import { assertInvariant } from "../../domain/result.ts";
import type { KnownAccount } from "../contract.ts";
import type { AccountDatabase, Rows, TableName } from "../sql/database.ts";

/** The most entries that a restore can undo: an object has 128 MB of memory. */
export const UNDONE_ENTRIES_MAX = 100_000;

/**
 * What becomes of each table. `kept`: it is afterwards as it was before. `merged`: the restored account keeps a part of each row.
 * `restored`: it is as it was at the time. Rows that left for the archive after the time are here again, and leave again.
 */
const TREATMENT = {
  account: "merged",
  allowances: "merged",
  approvals: "restored",
  apps: "merged",
  archive: "kept",
  balance_forward: "restored",
  base_payments: "restored",
  cap_claims: "restored",
  codes: "kept",
  data_format: "restored",
  debts: "merged",
  entries: "restored",
  idempotency_keys: "restored",
  jobs: "restored",
  kept_payments: "restored",
  left_jobs: "restored",
  left_segments: "restored",
  long_jobs: "restored",
  lots: "merged",
  purchase_entries: "kept",
  purchase_reversals: "kept",
  purchases: "kept",
  read_model_behind: "restored",
  stuck_jobs: "restored",
  token_families: "kept",
  // A number of a top-up names a charge at the payment service, so it is never used twice.
  top_up: "kept",
  top_up_setup: "kept",
  top_ups: "kept",
  unnumbered_events: "kept",
  upstream_tokens: "kept",
  upstream_unlinks: "kept",
} as const satisfies Readonly<Record<TableName, "kept" | "merged" | "restored">>;

type Treated<Kind> = {
  [Name in TableName]: (typeof TREATMENT)[Name] extends Kind ? Name : never;
}[TableName];

type KeptTable = Treated<"kept" | "merged">;

const TABLES = Object.entries(TREATMENT) as readonly (readonly [TableName, string])[];

/** The rows, and where the account was. */
export interface Undone {
  readonly account_id: string;
  readonly begun_at_ms: number;
  readonly bookmark: string;
  /** The newest entry before the restore. */
  readonly newest_line: number;
  readonly entries: readonly Rows["entries"][];
  readonly tables: { readonly [Name in KeptTable]: readonly Rows[Name][] };
}

/** Reads what stays, from the entry after `after_line` on. */
export function readUndone(
  database: AccountDatabase,
  at: Omit<Undone, "entries" | "tables">,
  after_line: number,
): Undone {
  const tables = Object.fromEntries(
    TABLES.filter(([, kind]) => kind !== "restored").map(([name]) => [
      name,
      database.rows(name, ""),
    ]),
  );
  const entries = database.rows("entries", "where line > ? order by line", after_line);
  return { ...at, entries, tables: tables as unknown as Undone["tables"] };
}

/** The columns of an entry of the kind `recovery` that do not follow from another entry. */
const OF_RECOVERY = {
  kind: "recovery",
  amount: 0,
  job_id: null,
  app_slug: null,
  note: null,
  previous_line: null,
  lot_id: null,
  terms_json: null,
} as const;

/** Puts the undone entries behind those of the restored account, and takes its credits back by one more entry. */
export function appendUndone(
  database: AccountDatabase,
  { entries, newest_line }: Undone,
  now_ms: number,
): void {
  const then = newestEntry(database);
  const by_line = new Map(entries.map((entry) => [entry.line, entry]));
  let last: Rows["entries"] = then;
  for (let line = then.line + 1; line <= newest_line; line += 1) {
    // A damaged ledger may lack entries. Their numbers must not be used again.
    last = by_line.get(line) ?? { ...last, ...OF_RECOVERY, line };
    database.insert("entries", last);
  }
  const note = `Restored to ${new Date(then.at_ms).toISOString()}`;
  takeBackTo(database, then, note, now_ms);
}

/** Adds the entry after which the account is again as after `then`. */
export function takeBackTo(
  database: AccountDatabase,
  then: Rows["entries"],
  note: string,
  now_ms: number,
): void {
  const last = newestEntry(database);
  const amount = then.balance_after - last.balance_after;
  const at_ms = Math.max(now_ms, last.at_ms);
  const of_then = { previous_line: then.line, line: last.line + 1, amount, note, at_ms };
  database.insert("entries", { ...then, ...OF_RECOVERY, ...of_then });
}

/**
 * Adds entries in the place of lost ones. All that is known of them is the read model's row of the account, which has the
 * balance after the last one. @returns how many
 */
export function appendLost(database: AccountDatabase, known: KnownAccount): number {
  const before = newestEntry(database);
  const note = "Lost: what these entries changed together";
  for (let line = before.line + 1; line <= known.line; line += 1) {
    database.insert("entries", {
      ...before,
      ...OF_RECOVERY,
      line,
      ...(line === known.line
        ? { ...stateOf(known), amount: known.credits - before.balance_after, note }
        : {}),
    });
  }
  return Math.max(0, known.line - before.line);
}

/** The columns of an entry that make the read model's row one of this account. */
function stateOf({ credits, reserved, bought, paid_json, updated_at_ms }: KnownAccount) {
  return {
    balance_after: credits,
    reserved_after: reserved,
    bought_after: bought,
    reserved_bought_after: 0,
    paid_json,
    at_ms: updated_at_ms,
  };
}

function newestEntry(database: AccountDatabase): Rows["entries"] {
  const newest = database.row("entries", "order by line desc limit 1");
  assertInvariant(newest !== null, "a restored account has entries");
  return newest;
}

/** Puts back what is not about credits. Debts and lots are for `kept_credits.ts`. */
export function putBackKept(database: AccountDatabase, { tables }: Undone): void {
  for (const [name, kind] of TABLES) {
    if (kind !== "kept") continue;
    database.run(`delete from ${name}`);
    for (const row of tables[name as Treated<"kept">]) database.insert(name, row);
  }
  const [account] = tables.account;
  if (account !== undefined) {
    const { suspended_at_ms, suspended_public_reason, returned } = account;
    const kept = { suspended_at_ms, suspended_public_reason, returned };
    database.update("account", kept, { singleton: 1 });
  }
  putBackAllowances(database, tables.allowances);
  for (const { id, warnings } of tables.lots) {
    // Webhooks got them.
    database.run("update lots set warnings = max(warnings, ?) where id = ?", warnings, id);
  }
  for (const app of tables.apps) {
    const restored = database.row("apps", "where slug = ?", app.slug);
    // The grant is about credits: one that was undone is granted again when the app is next used.
    const granted_at_ms = restored?.granted_at_ms ?? null;
    database.save("apps", ["slug"], { ...app, granted_at_ms });
  }
}

/** The allowances of now, with what they had spent then. */
function putBackAllowances(
  database: AccountDatabase,
  allowances: readonly Rows["allowances"][],
): void {
  const restored = new Map(database.rows("allowances", "").map((row) => [row.id, row]));
  database.run("delete from allowances");
  for (const row of allowances) {
    const then = restored.get(row.id);
    database.insert("allowances", {
      ...row,
      caps_json: withSpending(row.caps_json, then?.caps_json ?? "[]"),
      stored_bytes: then?.stored_bytes ?? 0,
    });
  }
}

function withSpending(caps_json: string, then_json: string): string {
  const spent_then = JSON.parse(then_json) as readonly CapSpending[];
  const caps = (JSON.parse(caps_json) as readonly CapSpending[]).map((cap) => {
    const then = spent_then.find(
      ({ period, since_line }) => period === cap.period && since_line === cap.since_line,
    );
    const { spent, approved, window } = then ?? { spent: 0, approved: 0, window: cap.window };
    return { ...cap, spent, approved, window };
  });
  return JSON.stringify(caps);
}

/**
 * Gives jobs that are started again time until `until_ms`, so that a person can decide before they expire.
 */
export function postponeExpiries(database: AccountDatabase, until_ms: number): void {
  const later = "set expires_at_ms = ?1 where expires_at_ms < ?1";
  database.run(`update jobs ${later} and status = 'started'`, until_ms);
  database.run(`update long_jobs ${later}`, until_ms);
}
