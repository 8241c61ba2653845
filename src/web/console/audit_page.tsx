/** The audit log: each operator's action with its subject, time, reason and what it changed. */
import type { Changes } from "../../domain/audit.ts";
import type { AuditPage as Entries } from "../../http/api/admin/list_audit.ts";
import { Page } from "../layout/layout.tsx";
import { Time, Zone } from "../layout/time.tsx";
import {
  accountPath,
  ChosenFilter,
  consolePath,
  FilterForm,
  FilterProblem,
  Pager,
  Table,
  TypedFilter,
} from "./table.tsx";
import { ACT_NAMES, OUTCOME_NAMES } from "./labels.ts";

export type AuditEntry = Entries["entries"][number];
type PersonName = (identity_id: string) => string;

export interface AuditPageProps {
  readonly filters: {
    readonly actor: string | undefined;
    readonly act: string | undefined;
    readonly subject: string | undefined;
    /** Days, both included. */
    readonly from: string | undefined;
    readonly to: string | undefined;
  };
  readonly cursor: string | null;
  readonly entries: readonly AuditEntry[];
  readonly personName: PersonName;
  readonly next_cursor?: string | undefined;
  /** Why a filter was refused; null: it was not. */
  readonly problem: string | null;
}

export function AuditPage(props: AuditPageProps) {
  const { filters, cursor, entries, personName, next_cursor, problem } = props;
  const filtered = Object.values(filters).some((value) => value !== undefined);
  return (
    <Page title="Audit log" section="audit" scripts={["times.js"]}>
      <div class="page-head">
        <h1>Audit log</h1>
        {problem === null && entries.length > 0 ? (
          <a href={consolePath("/console/audit.csv", filters)} download>
            Download as CSV
          </a>
        ) : null}
      </div>
      <FilterForm path="/console/audit">
        <ChosenFilter
          name="act"
          label="Action"
          value={filters.act}
          options={[["", "Any"], ...Object.entries(ACT_NAMES)]}
        />
        <TypedFilter name="actor" label="By" value={filters.actor} />
        <TypedFilter name="subject" label="Account or app" value={filters.subject} />
        <TypedFilter name="from" label="From" type="date" value={filters.from} />
        <TypedFilter name="to" label="To" type="date" value={filters.to} />
      </FilterForm>
      {problem === null ? (
        <section class="panel" aria-label="Actions">
          <Table
            label="Actions of operators, newest first"
            columns={["When", "Action", "Account or app", "Reason", "By"]}
            rows={folded(entries).map(([entry, ...others]) => [
              <Time at_ms={Date.parse(entry.at)} />,
              others.length === 0 ? (
                <ActionName {...entry} />
              ) : (
                <FoldedName entries={[entry, ...others]} />
              ),
              others.length === 0 ? (
                <Subject {...{ entry, personName }} />
              ) : (
                <details>
                  <summary>{1 + others.length} accounts</summary>
                  <ul class="rows">
                    {[entry, ...others].map((one) => (
                      <li>
                        <Subject {...{ entry: one, personName }} />
                        <Outcome {...one.details} />
                      </li>
                    ))}
                  </ul>
                </details>
              ),
              entry.reason ?? "–",
              actorName(entry, personName),
            ])}
            empty={
              filtered || cursor !== null ? (
                <>
                  No actions match. <a href="/console/audit">Show all actions</a>
                </>
              ) : (
                "No operator has done anything yet. Every action is recorded here before it is carried out."
              )
            }
          />
        </section>
      ) : (
        <FilterProblem problem={problem} />
      )}
      <Pager path="/console/audit" filters={filters} {...{ cursor, next_cursor }} />
      <Zone />
    </Page>
  );
}

type Fold = readonly [AuditEntry, ...AuditEntry[]];

/** Groups neighbouring records of one request: an action on several accounts has one record for each. */
function folded(entries: readonly AuditEntry[]): readonly Fold[] {
  const folds: [AuditEntry, ...AuditEntry[]][] = [];
  for (const entry of entries) {
    const last = folds.at(-1);
    if (last?.[0].request_id === entry.request_id && last[0].act === entry.act) last.push(entry);
    else folds.push([entry]);
  }
  return folds;
}

/** The audit log names an app's server by its key. */
function actorName({ actor, subject }: AuditEntry, personName: PersonName): string {
  return actor.startsWith("app_key:") ? `a key of ${subject}` : personName(actor);
}

function Subject({ entry, personName }: { entry: AuditEntry; personName: PersonName }) {
  const { act, subject } = entry;
  if (act.startsWith("account.")) return <a href={accountPath(subject)}>{personName(subject)}</a>;
  if (!act.startsWith("app")) return <>{subject}</>;
  return <a href={`/console/apps/${encodeURIComponent(subject)}`}>{subject}</a>;
}

/** The short list of actions on an account's page. */
export function AuditRows({ entries, personName }: Pick<AuditPageProps, "entries" | "personName">) {
  return (
    <ul class="rows">
      {entries.map((entry) => (
        <li>
          <span>
            <ActionName {...entry} />
            {entry.reason === null ? null : <span class="below">“{entry.reason}”</span>}
          </span>
          <span class="hint">
            {actorName(entry, personName)}, <Time at_ms={Date.parse(entry.at)} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function ActionName({ act, changed, details }: AuditEntry) {
  const { outcome: _, ...request } = details;
  return (
    <>
      <strong>{ACT_NAMES[act] ?? act}</strong>
      <Outcome {...details} />
      {"own_account" in request && <span class="tag">Own account</span>}
      <span class="hint below">
        {changed === null ? detailsText(request) : changesText(namesIn(request), changed)}
      </span>
    </>
  );
}

function FoldedName({ entries: [{ act }] }: { entries: Fold }) {
  return <strong>{ACT_NAMES[act] ?? act}</strong>;
}

/** Shown unless the action was done. */
function Outcome({ outcome }: Pick<AuditEntry["details"], "outcome">) {
  if (outcome === "done") return null;
  return <span class="tag">{OUTCOME_NAMES[outcome] ?? outcome}</span>;
}

/** Details that name what an action changed, if its subject does not. */
const NAMES: readonly string[] = ["job_id", "key_id", "webhook_id", "client", "resource"];

const namesIn = (details: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(details).filter(([name]) => NAMES.includes(name)));

function changesText(names: Readonly<Record<string, unknown>>, changed: Changes): string {
  const texts = Object.entries(changed).map(
    ([name, { from, to }]) => `${fieldName(name)}: ${valueText(from)} → ${valueText(to)}`,
  );
  const text = texts.join(" · ") || "No setting was changed.";
  return Object.keys(names).length === 0 ? text : `${detailsText(names)} · ${text}`;
}

function detailsText(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .map(([name, value]) => `${fieldName(name)}: ${valueText(value)}`)
    .join(" · ");
}

const fieldName = (name: string): string => name.replaceAll("_", " ");

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(", ") || "none";
  if (value === null) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}
