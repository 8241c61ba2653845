/** What a restore to an earlier entry undoes: computed from the ledger, without changing anything. */
import type { AccountThen, RecoveryDecision, RecoveryPlan } from "../contract.ts";
import type { AccountDatabase } from "../sql/database.ts";
import type { EntryRow } from "../sql/schema.ts";

/** Decisions that one response lists. */
export const DECISIONS_LISTED = 500;

/** The entry's job existed before: none of the undone entries created it. */
const IS_OF_EARLIER_JOB = `job_id not in (
  select job_id from entries where line > ?1 and kind = 'reserve' and previous_line is null)`;

/** The undone entries about which a person decides. A job that ended names the entry that ended it. */
const DECISIONS = `
  select case kind when 'plan' then 'plan_undone' when 'reserve' then 'job_gone'
      when 'adjustment' then 'credits_undone' when 'job_refund' then 'credits_undone'
      else 'job_open_again' end as what,
    line, job_id, amount, note
  from entries where line > ?1 and (
    kind in ('plan', 'adjustment')
    or (kind = 'reserve' and previous_line is null)
    or (kind = 'job_refund' and ${IS_OF_EARLIER_JOB})
    or (kind in ('settle', 'refund') and ${IS_OF_EARLIER_JOB}
      and open_jobs < (select open_jobs from entries before where before.line = entries.line - 1)))`;

/** Their own credits: what they brought is booked again. */
const KEPT_KINDS = "('purchase', 'purchase_refund', 'debt')";

/** The difference between the newest entry and an earlier one. */
export function planOf(database: AccountDatabase, newest: EntryRow, then: EntryRow): RecoveryPlan {
  const all = `from (${DECISIONS})`;
  const sum = (query: string): number =>
    database.first<{ readonly value: number }>(query, then.line)?.value ?? 0;
  return {
    now: accountThen(newest),
    target: accountThen(then),
    undone_entries: newest.line - then.line,
    kept_credits: sum(
      `select coalesce(sum(amount), 0) as value from entries where line > ? and kind in ${KEPT_KINDS}`,
    ),
    decisions: database.all<RecoveryDecision>(
      `select * ${all} order by line limit ${DECISIONS_LISTED}`,
      then.line,
    ),
    decisions_total: sum(`select count(*) as value ${all}`),
  };
}

export function accountThen(entry: EntryRow): AccountThen {
  const { line, at_ms, balance_after: credits, reserved_after: held, open_jobs } = entry;
  return { line, at_ms, credits, held, started_jobs: open_jobs };
}
