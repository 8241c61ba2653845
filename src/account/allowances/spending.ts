/**
 * The use of allowances: credits of their caps, and storage. Both are columns of an allowance's own
 * row. A job uses what its allowance has, and what each ancestor of that allowance has: the job's path names them. All
 * their rows are written in the transaction of the job.
 */
import { TOKEN_STORAGE_MAX_BYTES } from "../../domain/limits.ts";
import { idsOfPath, whyCapExceeded } from "../../domain/allowance.ts";
import { isRegisteredClientId } from "../../domain/oauth_client.ts";
import type { Refusal } from "../../domain/refusals.ts";
import {
  afterReturn,
  afterTaking,
  roomNow,
  tightestCap,
  withoutReturned,
  withTaking,
  type Taking,
} from "../../domain/spending_cap.ts";
import { actingAllowance, isCapped, whyNotForApp } from "../caller.ts";
import { capsOf, type AllowanceRow } from "../sql/allowance_store.ts";
import { momentOf } from "../ledger/posting.ts";
import type { JobRow } from "../sql/schema.ts";
import type { Transaction } from "../transaction.ts";

/** Why the caller may not reserve so many credits for an app; null if it may. */
export function whyNotReserve(
  transaction: Transaction,
  app_slug: string,
  credits: number,
): Refusal | null {
  const not_for_app = whyNotForApp(transaction, app_slug);
  if (not_for_app !== null || !isCapped(transaction)) return not_for_app;
  const path = readActingPath(transaction);
  const exceeded = whyCapExceeded(path.flatMap(capsOf), credits, transaction.now_ms);
  const allowance_id = path[0]?.id;
  return exceeded === null || allowance_id === undefined ? exceeded : { ...exceeded, allowance_id };
}

/** Why the acting allowance may not store so many bytes more; null if it may, or if no allowance acts. */
export function whyNoStorage(transaction: Transaction, bytes: number): Refusal | null {
  const is_full = readActingPath(transaction).some(
    ({ stored_bytes }) => stored_bytes + bytes > TOKEN_STORAGE_MAX_BYTES,
  );
  return is_full ? { code: "token_storage_full", limit_bytes: TOKEN_STORAGE_MAX_BYTES } : null;
}

/** The credits that the caps of the acting allowance and its ancestors still allow; null: there is no cap. */
export function readRoom(transaction: Transaction): number | null {
  const { now_ms } = transaction;
  const tightest = tightestCap(readActingPath(transaction).flatMap(capsOf), now_ms);
  return tightest === null ? null : roomNow(tightest, now_ms);
}

/** Whether a client that nobody registered holds the acting allowance or one of its ancestors. */
export function isOfUnregisteredClient(transaction: Transaction): boolean {
  return readActingPath(transaction).some(
    ({ client_id }) => client_id !== null && !isRegisteredClientId(client_id),
  );
}

/** The acting allowance and its ancestors, as they are now; empty for another caller. */
function readActingPath(transaction: Transaction): readonly AllowanceRow[] {
  return transaction.allowances.readPath(actingAllowance(transaction)?.path ?? null);
}

/**
 * Why a job may not be settled at `actual_cost`, which takes `credits` more off the balance; null if it may. All caps of
 * the job's path bind a capped allowance and an app's key that settle it, even after one of its allowances has ended.
 * Then the job may not cost more than its reserve either, whichever of its allowances has the cap.
 */
export function whyOverCap(
  transaction: Transaction,
  job: JobRow,
  actual_cost: number,
  credits: number,
): Refusal | null {
  const { caller, allowances, now_ms } = transaction;
  const is_bound = caller.kind === "app" || isCapped(transaction);
  if (!is_bound) return null;
  const path = allowances.readPath(job.allowance_path);
  const is_complete = path.length === idsOfPath(job.allowance_path).length;
  // The holder's approval covers the job up to its amount, also if it expired and is completed late.
  const not_approved = Math.min(credits, actual_cost - job.approved);
  const is_beyond = actual_cost > job.reserved;
  // The row was deleted long after its end, so its remaining cap is unknown: it counts as 0.
  if (!is_complete && job.is_capped && (is_beyond || not_approved > 0)) {
    return { code: "scope", reason: "cap_ended" };
  }
  const has_cap = path.some((row) => capsOf(row).length > 0);
  if (has_cap && is_beyond && endOf(path) <= now_ms) return { code: "scope", reason: "cap_ended" };
  for (const [index, row] of path.entries()) {
    const counted_at_ms = Math.min(endOf(path.slice(index)), now_ms);
    const over_cap = whyCapExceeded(capsOf(row), not_approved, counted_at_ms);
    if (over_cap !== null) return over_cap;
  }
  return null;
}

/** When the first of these allowances was revoked or expires. */
function endOf(path: readonly AllowanceRow[]): number {
  return Math.min(
    ...path.map(({ revoked_at_ms, expires_at_ms }) =>
      Math.min(revoked_at_ms ?? expires_at_ms, expires_at_ms),
    ),
  );
}

/**
 * Adds to what the allowances of a job's path have used: `credits` of each cap, negative if they are given back, and
 * `bytes` stored. Writes nothing if a browser session or an app created the job, or if nothing changes.
 * @returns the job's column after that.
 */
export function chargePath(
  transaction: Transaction,
  job: Pick<JobRow, "allowance_path" | "takings_json" | "approved">,
  { credits, bytes }: { readonly credits: number; readonly bytes: number },
): Pick<JobRow, "takings_json"> {
  const { allowances, now_ms } = transaction;
  const { allowance_path, takings_json } = job;
  const is_approved = job.approved > 0;
  const path = allowances.readPath(allowance_path);
  const takings = takings_json === null ? [] : (JSON.parse(takings_json) as readonly Taking[]);
  const { left, returned } = withoutReturned(takings, Math.max(0, 0 - credits));
  for (const [index, row] of path.entries()) {
    const caps = capsOf(row);
    const is_spending = caps.length > 0 && credits !== 0;
    if (!is_spending && bytes === 0) continue;
    // An allowance that has ended, itself or with an ancestor, begins no new period.
    const end_ms = endOf(path.slice(index));
    const counted_at_ms = Math.min(end_ms, now_ms);
    const given = returned.map((one) => ({ ...one, at_ms: Math.min(end_ms, one.at_ms) }));
    const charged = caps.map((cap) =>
      credits > 0
        ? afterTaking(cap, credits, counted_at_ms, is_approved)
        : afterReturn(cap, given, counted_at_ms, is_approved),
    );
    allowances.change(row.id, {
      caps_json: is_spending ? JSON.stringify(charged) : row.caps_json,
      stored_bytes: row.stored_bytes + bytes,
    });
  }
  const caps = path.flatMap(capsOf);
  if (caps.length === 0) return { takings_json };
  const taking = { ...momentOf(transaction), credits };
  return { takings_json: JSON.stringify(credits > 0 ? withTaking(left, taking, caps) : left) };
}
