/** `passbook admin jobs` and `passbook admin job`. */
import type { Admin, JobFilter } from "../client/index.ts";
import { more, print, table } from "./output.ts";
import type { GlobalOptions } from "./session.ts";
import { entryTable } from "./show.ts";

export type AllJobsFilter = JobFilter & { readonly identity?: string };

export async function showJobs(
  admin: Admin,
  options: GlobalOptions,
  filter: AllJobsFilter,
): Promise<void> {
  const page = await admin.jobs(filter);
  print(options, page, () => {
    const rows = page.jobs.map((it) => [
      it.created_at,
      it.status,
      String(it.reserved),
      String(it.actual_cost),
      it.app_slug ?? "",
      it.action,
      it.identity_id,
      it.id,
    ]);
    const names = ["CREATED", "STATUS", "RESERVED", "COST", "APP", "ACTION", "IDENTITY", "ID"];
    return rows.length === 0 ? "No jobs." : table(names, rows) + more(page.next_cursor);
  });
}

/** A job and its ledger entries. */
export async function showJob(
  admin: Admin,
  options: GlobalOptions,
  identity: string,
  id: string,
): Promise<void> {
  const job = await admin.accountJob(identity, id);
  const { entries } = await admin.accountLedger(identity, { jobId: job.id });
  print(options, { job, entries }, () => {
    const shown = Object.entries(job).map(([name, value]) => [
      name,
      value !== null && typeof value === "object" ? JSON.stringify(value) : String(value ?? ""),
    ]);
    return `${table(["FIELD", "VALUE"], shown)}\n\n${entryTable(entries)}`;
  });
}
