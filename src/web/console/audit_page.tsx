/** The audit log: who did what to whom, when, and why. */
import { Page } from "../layout/layout.tsx";
import { Time, Zone } from "../layout/time.tsx";
import { accountAddress, ChosenFilter, FilterForm, Pager, Table, TypedFilter } from "./table.tsx";
import { ACT_NAMES, OUTCOME_NAMES } from "./words.ts";

export interface ShownAct {
  readonly at_ms: number;
  readonly actor: string;
  readonly act: string;
  readonly subject: string;
  readonly reason: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly outcome: string;
}

export interface AuditPageProps {
  readonly filters: {
    readonly actor: string | undefined;
    readonly act: string | undefined;
    readonly subject: string | undefined;
  };
  readonly cursor: string | null;
  readonly acts: readonly ShownAct[];
  readonly personName: (identity_id: string) => string;
  readonly next_cursor: string | undefined;
}

export function AuditPage({ filters, cursor, acts, personName, next_cursor }: AuditPageProps) {
  const filtered = Object.values(filters).some((value) => value !== undefined);
  return (
    <Page title="Audit log" section="audit" scripts={["times.js"]}>
      <div class="page-head">
        <h1>Audit log</h1>
        <FilterForm path="/console/audit">
          <ChosenFilter
            name="act"
            label="Act"
            value={filters.act}
            options={[["", "Any"], ...Object.entries(ACT_NAMES)]}
          />
          <TypedFilter name="actor" label="By" value={filters.actor} />
          <TypedFilter name="subject" label="Done to" value={filters.subject} />
        </FilterForm>
      </div>
      <section class="panel" aria-label="Acts">
        <Table
          label="Acts of operators, newest first"
          columns={["When", "Act", "Done to", "Reason", "By"]}
          rows={acts.map((it) => [
            <Time at_ms={it.at_ms} />,
            <ActName {...it} />,
            it.act.startsWith("account.") ? (
              <a href={accountAddress(it.subject)}>{personName(it.subject)}</a>
            ) : (
              <a href={`/console/apps/${encodeURIComponent(it.subject)}`}>{it.subject}</a>
            ),
            it.reason ?? "–",
            personName(it.actor),
          ])}
          empty={
            filtered || cursor !== null ? (
              <>
                No act matches. <a href="/console/audit">Show all acts</a>
              </>
            ) : (
              "No operator has done anything yet. What they do is written here, before it is done."
            )
          }
        />
      </section>
      <Pager path="/console/audit" filters={filters} {...{ cursor, next_cursor }} />
      <Zone />
    </Page>
  );
}

/** Acts beside what they were done to, each with its actor, its time and its reason. */
export function ActRows({ acts, personName }: Pick<AuditPageProps, "acts" | "personName">) {
  return (
    <ul class="rows">
      {acts.map((it) => (
        <li>
          <span>
            <ActName {...it} />
            {it.reason === null ? null : <span class="below">“{it.reason}”</span>}
          </span>
          <span class="hint">
            {personName(it.actor)}, <Time at_ms={it.at_ms} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function ActName({ act, outcome, details }: ShownAct) {
  return (
    <>
      <strong>{ACT_NAMES[act] ?? act}</strong>
      {outcome === "done" ? null : <span class="tag">{OUTCOME_NAMES[outcome] ?? outcome}</span>}
      <span class="hint below">{inWords(details)}</span>
    </>
  );
}

function inWords(details: ShownAct["details"]): string {
  return Object.entries(details)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${valueInWords(value)}`)
    .join(" · ");
}

function valueInWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueInWords).join(", ") || "none";
  if (value === null) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}
