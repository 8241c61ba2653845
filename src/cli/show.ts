/** The commands that show the caller's own data. */
import type { EntryPage, JobStatus, StartedBy } from "../client/index.ts";
import { ledgerFilterOf, type LedgerOptions } from "./filters.ts";
import { more, plain, print, table } from "./output.ts";
import { signedIn, type GlobalOptions } from "./session.ts";

export async function showMe(options: GlobalOptions): Promise<void> {
  const me = await (await signedIn(options)).me();
  print(options, me, () =>
    [
      plain(me.name ?? me.email ?? me.identity_id),
      me.name === null || me.email === null ? "" : ` <${plain(me.email)}>`,
      `, plan ${plain(me.plan)}`,
      me.role === undefined ? "" : `, operator (${me.role})`,
    ].join(""),
  );
}

export async function showWallet(
  options: GlobalOptions & { readonly app?: string },
): Promise<void> {
  const { app } = options;
  const wallet = await (await signedIn(options)).wallet(app === undefined ? {} : { app });
  print(options, wallet, () => {
    const { credits, plan } = wallet.account;
    const apps = wallet.apps.map(({ slug, starter_credits, granted_at }) => [
      slug,
      String(starter_credits),
      granted_at ?? "not granted",
    ]);
    const next = wallet.next_expiry;
    const expiry = next === null ? "" : `, ${next.credits} of them until ${next.at}`;
    const head = `${credits} credits${expiry}, plan ${plain(plan)}`;
    return apps.length === 0 ? head : `${head}\n\n${table(["APP", "STARTER", "GRANTED"], apps)}`;
  });
}

export interface JobOptions extends GlobalOptions {
  readonly app?: string;
  readonly status?: JobStatus;
  readonly by?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

export async function showJobs({ json = false, url, ...filter }: JobOptions): Promise<void> {
  const options = { json, ...(url === undefined ? {} : { url }) };
  const page = await (await signedIn(options)).jobs.list(filter);
  print(options, page, () => {
    if (page.jobs.length === 0) return "No jobs.";
    const rows = page.jobs.map((job) => [
      job.created_at,
      job.status === "failed" && job.failure !== null ? `failed (${job.failure})` : job.status,
      String(job.reserved),
      job.status === "started" ? "" : String(job.actual_cost),
      job.app_slug ?? "",
      starterText(job.by),
      job.action,
      job.id,
    ]);
    const names = ["CREATED", "STATUS", "RESERVED", "COST", "APP", "BY", "ACTION", "ID"];
    return table(names, rows) + more(page.next_cursor);
  });
}

export async function showJob(id: string, options: GlobalOptions): Promise<void> {
  const job = await (await signedIn(options)).jobs.get(id);
  const rows = () =>
    Object.entries(job).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]);
  print(options, job, () => table(["FIELD", "VALUE"], rows()));
}

export type OwnLedgerOptions = GlobalOptions & LedgerOptions;

export async function showLedger(given: OwnLedgerOptions): Promise<void> {
  const { json = false, url, ...filter } = given;
  const options = { json, ...(url === undefined ? {} : { url }) };
  const page = await (await signedIn(options)).ledger.list(ledgerFilterOf(filter));
  print(options, page, () => {
    if (page.entries.length === 0 && page.next_cursor === undefined) return "No entries.";
    return entryTable(page.entries) + more(page.next_cursor);
  });
}

/** The starter of a job: its name, or else its id; the holder's own browser has neither. */
export function starterText({ kind, id, name }: StartedBy): string {
  return name ?? id ?? kind;
}

/** Ledger entries as a table. */
export function entryTable(entries: EntryPage["entries"]): string {
  const rows = entries.map((entry) => [
    entry.at,
    entry.kind,
    entry.amount > 0 ? `+${entry.amount}` : String(entry.amount),
    String(entry.balance_after),
    entry.app ?? "",
    entry.by === null ? "" : starterText(entry.by),
    entry.note ?? entry.job_id ?? "",
  ]);
  return table(["AT", "KIND", "AMOUNT", "BALANCE", "APP", "BY", "JOB OR NOTE"], rows);
}
