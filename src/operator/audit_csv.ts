/** The audit log as comma-separated values. */
import type { AuditEntry, AuditFilter } from "../domain/audit.ts";
import { PAGE_MAX_ROWS } from "../domain/limits.ts";
import { csvRow } from "../domain/csv.ts";
import { timestamp } from "../domain/wire.ts";
import type { OperatorServices } from "./acting.ts";

/** The most records in one file: 10,000 rows take a few megabytes of memory. */
const AUDIT_CSV_RECORDS_MAX = 10_000;

/** The most pages that one file reads: few records may match. Each is up to four queries, and a request may make a thousand. */
const AUDIT_CSV_PAGES_MAX = 200;

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
  for (let [records, pages] = [0, 0]; records < AUDIT_CSV_RECORDS_MAX; pages += 1) {
    const limit = Math.min(PAGE_MAX_ROWS, AUDIT_CSV_RECORDS_MAX - records);
    const { entries: page, next_id } = await audit.list({ ...filter, before_id, limit });
    records += page.length;
    const named = new Set(page.flatMap(({ actor, subject }) => [actor, subject]));
    const people = await identity.readPeople([...named]);
    const emailOf = (id: string): string | null => people.get(id)?.email ?? null;
    parts.push(...page.map((entry) => csvOf(entry, emailOf)));
    if (next_id === null || pages === AUDIT_CSV_PAGES_MAX) break;
    before_id = next_id;
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
