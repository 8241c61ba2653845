/** The audit log: each operator's action with its subject, time and reason. */
import type { readAudit } from "../../http/api/admin/list_audit.ts";
import { Page } from "../layout/layout.tsx";
import { Time, Zone } from "../layout/time.tsx";
import { accountPath, ChosenFilter, FilterForm, Pager, Table, TypedFilter } from "./table.tsx";
import { ACT_NAMES, OUTCOME_NAMES } from "./labels.ts";

export type AuditEntry = Awaited<ReturnType<typeof readAudit>>["entries"][number];

export interface AuditPageProps {
  readonly filters: {
    readonly actor: string | undefined;
    readonly act: string | undefined;
    readonly subject: string | undefined;
  };
  readonly cursor: string | null;
  readonly entries: readonly AuditEntry[];
  readonly personName: (identity_id: string) => string;
  readonly next_cursor: string | undefined;
}

export function AuditPage({ filters, cursor, entries, personName, next_cursor }: AuditPageProps) {
  const filtered = Object.values(filters).some((value) => value !== undefined);
  return (
    <Page title="Audit log" section="audit" scripts={["times.js"]}>
      <div class="page-head">
        <h1>Audit log</h1>
        <FilterForm path="/console/audit">
          <ChosenFilter
            name="act"
            label="Action"
            value={filters.act}
            options={[["", "Any"], ...Object.entries(ACT_NAMES)]}
          />
          <TypedFilter name="actor" label="By" value={filters.actor} />
          <TypedFilter name="subject" label="Account or app" value={filters.subject} />
        </FilterForm>
      </div>
      <section class="panel" aria-label="Actions">
        <Table
          label="Actions of operators, newest first"
          columns={["When", "Action", "Account or app", "Reason", "By"]}
          rows={entries.map((entry) => [
            <Time at_ms={Date.parse(entry.at)} />,
            <ActionName {...entry} />,
            entry.act.startsWith("account.") ? (
              <a href={accountPath(entry.subject)}>{personName(entry.subject)}</a>
            ) : (
              <a href={`/console/apps/${encodeURIComponent(entry.subject)}`}>{entry.subject}</a>
            ),
            entry.reason ?? "–",
            personName(entry.actor),
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
      <Pager path="/console/audit" filters={filters} {...{ cursor, next_cursor }} />
      <Zone />
    </Page>
  );
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
            {personName(entry.actor)}, <Time at_ms={Date.parse(entry.at)} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function ActionName({ act, details: { outcome, ...details } }: AuditEntry) {
  return (
    <>
      <strong>{ACT_NAMES[act] ?? act}</strong>
      {outcome === "done" ? null : <span class="tag">{OUTCOME_NAMES[outcome] ?? outcome}</span>}
      <span class="hint below">{detailsText(details)}</span>
    </>
  );
}

function detailsText(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${valueText(value)}`)
    .join(" · ");
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(", ") || "none";
  if (value === null) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}
