/** The audit log as comma-separated values. */
import type { AuditEntry, AuditFilter } from "../domain/audit.ts";
import { PAGE_MAX_ROWS } from "../domain/limits.ts";
import { csvRow } from "../domain/csv.ts";
import { timestamp } from "../domain/wire.ts";
import type { OperatorServices } from "./acting.ts";

/** The most records in one file: 10,000 rows take a few megabytes of memory. */
const AUDIT_CSV_RECORDS_MAX = 10_000;

const COLUMNS = ["at", "actor", "actor_email", "act", "subject", "subject_email", "reason"].concat([
  "outcome",
  "changed",
  "details",
  "request_id",
  "id",
]);

/** The records of a filter, newest first; of more than {@link AUDIT_CSV_RECORDS_MAX}, the newest ones. */
export async function auditCsv(
  { audit, identity }: OperatorServices,
  filter: Omit<AuditFilter, "limit">,
): Promise<string> {
  const parts = [csvRow(COLUMNS)];
  let { before_id } = filter;
  for (let count = 0; count < AUDIT_CSV_RECORDS_MAX; count += PAGE_MAX_ROWS) {
    const page = await audit.list({ ...filter, before_id, limit: PAGE_MAX_ROWS });
    const named = new Set(page.flatMap(({ actor, subject }) => [actor, subject]));
    const people = await identity.readPeople([...named]);
    const emailOf = (id: string): string | null => people.get(id)?.email ?? null;
    parts.push(...page.map((entry) => csvOf(entry, emailOf)));
    before_id = page.at(-1)?.id;
    if (page.length < PAGE_MAX_ROWS) break;
  }
  return parts.join("");
}

function csvOf(entry: AuditEntry, emailOf: (identity_id: string) => string | null): string {
  const { at_ms, actor, act, subject, reason, outcome, details, request_id, id } = entry;
  const changed = entry.changed === null ? null : JSON.stringify(entry.changed);
  const who = [actor, emailOf(actor), act, subject, emailOf(subject)];
  const what = [reason, outcome, changed, JSON.stringify(details), request_id, id];
  return csvRow([timestamp(at_ms), ...who, ...what]);
}
