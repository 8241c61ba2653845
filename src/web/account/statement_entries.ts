/** Ledger entries with the labels that pages show. */
import type { EntryRow, JobRow, Statement } from "../../account/contract.ts";
import { credits, number } from "../layout/labels.ts";
import { titleOf } from "./job_metadata.ts";
import { entryName } from "./statement_texts.ts";

export interface StatementEntry {
  readonly line: number;
  readonly job_id: string | null;
  readonly at_ms: number;
  readonly name: string;
  /** The job, the app and the note; null if the entry has none of them. */
  readonly about: string | null;
  readonly amount: number;
  /** The effect of a hold on the balance; null if the amount is income or a charge. */
  readonly movement: string | null;
  readonly balance_after: number;
  /** Null: the entry has none, or jobs were not read. */
  readonly job: JobRow | null;
  /** Holds and their releases change the available balance, but cost nothing. */
  readonly is_hold: boolean;
}

export function statementEntries(
  { rows, jobs }: Pick<Statement, "rows" | "jobs">,
  appName: (slug: string | null) => string,
): readonly StatementEntry[] {
  const job_by_id = new Map(jobs.map((job) => [job.id, job]));
  return rows.map((entry) => {
    const job = entry.job_id === null ? undefined : job_by_id.get(entry.job_id);
    const about = [
      job === undefined ? null : titleOf(job),
      entry.app_slug === null ? null : appName(entry.app_slug),
      entry.note,
    ].filter((text) => text !== null);
    return {
      line: entry.line,
      job_id: entry.job_id,
      at_ms: entry.at_ms,
      name: nameOf(entry, job),
      about: about.length === 0 ? null : about.join(" · "),
      amount: entry.amount,
      movement: movementOf(entry),
      balance_after: entry.balance_after,
      job: job ?? null,
      is_hold: entry.kind === "reserve" || entry.kind === "refund",
    };
  });
}

function movementOf({ kind, amount, previous_line }: EntryRow): string | null {
  if (kind === "reserve" && previous_line !== null) return "more held";
  if (kind === "reserve") return "held";
  if (kind === "refund") return "no longer held";
  if (kind !== "settle" || amount === 0) return null;
  return amount > 0 ? "no longer held" : "more than was held";
}

/** The amount of a settlement is the difference to its hold, so the name says what the job cost. */
function nameOf(entry: EntryRow, job: JobRow | undefined): string {
  const name = entryName(entry);
  if (entry.kind !== "settle" || job === undefined) return name;
  const charged = `${name} ${credits(job.actual_cost)}`;
  if (entry.amount + job.actual_cost !== job.reserved) {
    return `${charged}, after its credits were no longer held`;
  }
  return `${charged} of ${number(job.reserved)} held`;
}
