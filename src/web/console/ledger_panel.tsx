/** The ledger of an account in the console, with its filters. */
import { ENTRY_KINDS } from "../../domain/ledger.ts";
import { EntryTable } from "../account/entry_table.tsx";
import type { StatementEntry } from "../account/statement_entries.ts";
import { ENTRY_NAMES } from "../layout/labels.ts";
import { Panel } from "./panel.tsx";
import {
  accountPath,
  ChosenFilter,
  consolePath,
  DayFilter,
  FilterForm,
  jobPath,
  TypedFilter,
  type Filters,
} from "./table.tsx";

export interface LedgerPanelProps {
  readonly person: { readonly identity_id: string };
  readonly entries: readonly StatementEntry[];
  /** `kind`, `app`, `job`, `first` and `last`, as they were typed. */
  readonly filters: Filters;
  /** The apps of the account, by slug and name. */
  readonly app_options: readonly (readonly [slug: string, name: string])[];
  readonly is_first_page: boolean;
  /** The number before which the next page begins; null on the last page. */
  readonly next_line: number | null;
}

export function LedgerPanel(props: LedgerPanelProps) {
  const { person, entries, filters, app_options, is_first_page, next_line } = props;
  const path = accountPath(person.identity_id);
  const filtered = Object.values(filters).some((value) => value !== undefined && value !== "");
  const typed = (name: string): string => String(filters[name] ?? "");
  return (
    <Panel
      id="ledger"
      title={is_first_page ? "Ledger" : "Ledger, older entries"}
      aside={
        <a href={consolePath("/console/jobs", { identity_id: person.identity_id })}>All jobs</a>
      }
    >
      <p class="hint">Every change of the balance, newest first, with the balance after it.</p>
      <FilterForm path={`${path}#ledger`}>
        <ChosenFilter
          name="kind"
          label="Kind"
          value={typed("kind")}
          options={[["", "All"], ...ENTRY_KINDS.map((kind) => [kind, ENTRY_NAMES[kind]] as const)]}
        />
        <ChosenFilter
          name="app"
          label="App"
          value={typed("app")}
          options={[["", "All apps"], ...app_options]}
        />
        <TypedFilter name="job" label="Job id" value={typed("job")} />
        <DayFilter name="first" label="First day" value={typed("first")} />
        <DayFilter name="last" label="Last day" value={typed("last")} />
      </FilterForm>
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
