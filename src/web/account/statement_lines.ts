/** Lines of the passbook in words. */
import type { EntryRow, JobRow, StatementAnswer } from "../../account/contract.ts";
import type { StatementLine } from "./statement_page.tsx";
import { credits, DISPUTE_WON, ENTRY_NAMES, number } from "../layout/account_words.ts";
import { shownJob } from "./shown_job.ts";

/** The lines of a statement, each with what it was for. */
export function statementLines(
  { rows, jobs }: Pick<StatementAnswer, "rows" | "jobs">,
  appName: (slug: string | null) => string,
): readonly StatementLine[] {
  const job_by_id = new Map(jobs.map((job) => [job.id, job]));
  return rows.map((entry) => {
    const job = entry.job_id === null ? undefined : job_by_id.get(entry.job_id);
    const about = [
      job === undefined ? null : (shownJob(job, appName).description ?? job.action),
      entry.app_slug === null ? null : appName(entry.app_slug),
      entry.note,
    ].filter((text) => text !== null);
    return {
      line: entry.line,
      at_ms: entry.at_ms,
      name: nameOf(entry, job),
      about: about.length === 0 ? null : about.join(" · "),
      amount: entry.amount,
      movement: movementOf(entry),
      balance_after: entry.balance_after,
      is_hold: entry.kind === "reserve" || entry.kind === "refund",
    };
  });
}

/** Holds and what becomes of them move the balance without being income or a charge of their own. */
function movementOf({ kind, amount }: EntryRow): string | null {
  if (kind === "reserve") return "held";
  if (kind === "refund") return "given back";
  if (kind !== "settle" || amount === 0) return null;
  return amount > 0 ? "left of the hold" : "beyond the hold";
}

/** A settlement's amount is what the hold left over or lacked; what was charged is the job's cost. */
function nameOf(entry: EntryRow, job: JobRow | undefined): string {
  if (entry.kind === "purchase_refund" && entry.amount > 0) return DISPUTE_WON;
  const name = ENTRY_NAMES[entry.kind];
  if (entry.kind !== "settle" || job === undefined) return name;
  const charged = `${name} ${credits(job.actual_cost)}`;
  if (entry.amount + job.actual_cost !== job.reserved)
    return `${charged}, after the hold had ended`;
  return `${charged} of ${number(job.reserved)} held`;
}
