/** The ledger of an account in the console, with its filters. */
import { OPERATOR } from "../../account/contract.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { ENTRY_KINDS } from "../../domain/ledger.ts";
import { holderAccount } from "../../http/caller/holder.ts";
import type { AppContext } from "../../http/context.ts";
import { appSlug, jobId, starterId } from "../../http/validation.ts";
import { EntryTable } from "../account/entry_table.tsx";
import { readEntryNumber } from "../account/statement.tsx";
import type { StatementEntry } from "../account/statement_entries.ts";
import { ENTRY_NAMES } from "../layout/labels.ts";
import { Panel } from "./panel.tsx";
import { readQuery } from "./queries.ts";
import { accountPath, consolePath, FilterForm, jobPath, type Filters } from "./table.tsx";
import * as z from "zod/mini";

export interface LedgerPanelProps {
  readonly person: { readonly identity_id: string };
  readonly entries: readonly StatementEntry[];
  /** `kind`, `app`, `job`, `by`, `first` and `last`, as they were typed. */
  readonly filters: Filters;
  /** The apps of the account, by slug and name. */
  readonly app_options: readonly (readonly [slug: string, name: string])[];
  readonly is_first_page: boolean;
  /** The number before which the next page begins; null on the last page. */
  readonly next_line: number | null;
}

const KINDS = [
  ["", "All"],
  ...ENTRY_KINDS.map((kind) => [kind, ENTRY_NAMES[kind]] as const),
] as const;

export function LedgerPanel(props: LedgerPanelProps) {
  const { person, entries, filters, app_options, is_first_page, next_line } = props;
  const path = accountPath(person.identity_id);
  const filtered = Object.values(filters).some((value) => value !== undefined && value !== "");
  return (
    <Panel
      id="ledger"
      title={is_first_page ? "Ledger" : "Ledger, older entries"}
      aside={
        <a href={consolePath("/console/jobs", { identity_id: person.identity_id })}>All jobs</a>
      }
    >
      <p class="hint">Every change of the balance, newest first, with the balance after it.</p>
      <FilterForm
        path={`${path}#ledger`}
        values={filters}
        filters={[
          { name: "kind", label: "Kind", options: KINDS },
          { name: "app", label: "App", options: [["", "All apps"], ...app_options] },
          { name: "job", label: "Job id" },
          { name: "by", label: "Started by (id)" },
          { name: "first", label: "First day", type: "date" },
          { name: "last", label: "Last day", type: "date" },
        ]}
      />
      {entries.length > 0 ? (
        <EntryTable entries={entries} jobPath={(id) => jobPath(person.identity_id, id)} />
      ) : (
        <p class="empty">
          {next_line === null ? "No entries match." : "No entries on this page match."}{" "}
          {filtered ? <a href={`${path}#ledger`}>Show all entries</a> : null}
        </p>
      )}
      {is_first_page && next_line === null ? null : (
        <nav class="pages" aria-label="Pages of the ledger">
          {is_first_page ? (
            <span></span>
          ) : (
            <a href={`${consolePath(path, filters)}#ledger`}>Newest entries</a>
          )}
          {next_line === null ? null : (
            <a href={`${consolePath(path, { ...filters, before: next_line })}#ledger`} rel="next">
              Older entries
            </a>
          )}
        </nav>
      )}
    </Panel>
  );
}

/** Ledger entries on one page of an account in the console. */
const ENTRIES_SHOWN_MAX = 25;

const ledgerQuery = z.object({
  kind: z.optional(z.enum(ENTRY_KINDS)),
  app: z.optional(appSlug),
  job: z.optional(jobId),
  by: z.optional(starterId),
  first: z.optional(z.iso.date()),
  last: z.optional(z.iso.date()),
});

/** Without filters, entries come with their jobs, which give them better names. */
export async function readLedgerPage(context: AppContext) {
  const account = holderAccount(context);
  const filters = readQuery(context, ledgerQuery);
  const before_line = readEntryNumber(context.req.query("before"));
  const { kind, app: app_slug, job: job_id, by, first, last } = filters;
  const is_first_page = before_line === null;
  const limit = ENTRIES_SHOWN_MAX;
  if (Object.keys(filters).length === 0) {
    const period = { from_ms: 0, to_ms: Date.now() + DAY_MS };
    const read = await account.readStatement(OPERATOR, { ...period, before_line, limit });
    if (!read.ok) return read;
    const { rows, jobs, next: next_line } = read.value;
    return { ok: true, value: { rows, jobs, next_line, filters, is_first_page } } as const;
  }
  const read = await account.listEntries(OPERATOR, {
    kind,
    app_slug,
    job_id,
    by,
    limit,
    from_ms: first === undefined ? undefined : Date.parse(first),
    to_ms: last === undefined ? undefined : Date.parse(last) + DAY_MS,
    before_line: before_line ?? undefined,
  });
  if (!read.ok) return read;
  const { rows, next: next_line } = read.value;
  return { ok: true, value: { rows, jobs: [], next_line, filters, is_first_page } } as const;
}
