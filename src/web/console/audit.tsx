/** `GET /console/audit[.csv][?actor=&act=&subject=&request_id=&from=&to=&cursor=]`: the audit log of operators' actions. */
import type { Changes } from "../../domain/audit.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { sendCsv } from "../../http/download.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import {
  listAuditQuery,
  readAudit,
  readAuditCsv,
  type AuditPage as Entries,
} from "../../operator/read_audit.ts";
import { ConsolePage } from "./console_page.tsx";
import { Time, timeText, Zone } from "../layout/time.tsx";
import { ACT_NAMES, OUTCOME_NAMES } from "./labels.ts";
import { cursorOf, personNames, problemOf, readQuery } from "./queries.ts";
import {
  accountPath,
  Address,
  consolePath,
  FilterForm,
  type Filter,
  FilterProblem,
  Pager,
  Table,
} from "./table.tsx";
import * as z from "zod/mini";

/** The page's filter has days; `to` is the last day. */
const day = z.pipe(z.iso.date(), z.transform(Date.parse));
const pageQuery = z.extend(listAuditQuery, { from: z.optional(day), to: z.optional(day) });

function readFilter(context: AppContext) {
  const query = readQuery(context, pageQuery);
  return query.to === undefined ? query : { ...query, to: query.to + DAY_MS };
}

export const showAudit = factory.createHandlers(async (context) => {
  const page = await readAuditPage(context);
  return context.html(<AuditPage {...page} />, page.problem === null ? 200 : 400);
});

async function readAuditPage(context: AppContext) {
  const query = readFilter(context);
  const { actor, act, subject, request_id, cursor } = query;
  // Days as they are in the address, both included.
  const from = query.from === undefined ? undefined : context.req.query("from");
  const to = query.to === undefined ? undefined : context.req.query("to");
  return {
    filters: { actor, act, subject, request_id, from, to },
    cursor: cursor === undefined ? null : cursorOf(context),
    ...(await readAuditLog(context, query)),
  };
}

export const downloadAudit = factory.createHandlers(async (context) => {
  const csv = await readAuditCsv(context.get("services"), readFilter(context));
  if (!csv.ok) return refuseWithPage(context, csv.refusal);
  return sendCsv(context, { name: "audit.csv", body: csv.value });
});

/** A page of the log, with the names of the people in it. */
export async function readAuditLog(context: AppContext, query: Parameters<typeof readAudit>[1]) {
  const read = await readAudit(context.get("services"), query);
  const { entries, next_cursor } = read.ok ? read.value : { entries: [] };
  const people = entries.flatMap(({ actor, subject }) => [actor, subject]);
  const personName = await personNames(context, people);
  return { entries, next_cursor, personName, problem: problemOf(read) };
}

export type AuditEntry = Entries["entries"][number];
type PersonName = (identity_id: string) => string;

const FILTERS: readonly Filter[] = [
  { name: "act", label: "Action", options: [["", "Any"], ...Object.entries(ACT_NAMES)] },
  { name: "actor", label: "By" },
  { name: "subject", label: "Account or app" },
  { name: "request_id", label: "Request id" },
  { name: "from", label: "From", type: "date" },
  { name: "to", label: "To", type: "date" },
];

const COLUMNS = [
  { name: "When", place: "start" },
  { name: "Action", place: "title" },
  { name: "Account or app", place: "middle" },
  "Reason",
  { name: "By", place: "side" },
] as const;

function AuditPage(props: Awaited<ReturnType<typeof readAuditPage>>) {
  const { filters, cursor, entries, personName, next_cursor, problem } = props;
  const filtered = Object.values(filters).some((value) => value !== undefined);
  const folds = folded(entries);
  return (
    <ConsolePage
      title="Audit log"
      section="audit"
      scripts={["times.js"]}
      aside={
        problem === null && entries.length > 0 ? (
          <a href={consolePath("/console/audit.csv", filters)} download>
            Download as CSV
          </a>
        ) : null
      }
    >
      <FilterForm path="/console/audit" values={filters} filters={FILTERS} />
      {problem === null ? (
        <section class="panel" aria-label="Actions">
          <Table
            label="Actions of operators, newest first"
            columns={COLUMNS}
            names={folds.map(
              ([{ act, at }]) => `${ACT_NAMES[act] ?? act}, ${timeText(Date.parse(at), "minute")}`,
            )}
            rows={folds.map(([entry, ...others]) => [
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
              <Address text={actorName(entry, personName)} />,
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
    </ConsolePage>
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
  if (act.startsWith("account."))
    return (
      <a href={accountPath(subject)}>
        <Address text={personName(subject)} />
      </a>
    );
  if (!act.startsWith("app")) return <>{subject}</>;
  return <a href={`/console/apps/${encodeURIComponent(subject)}`}>{subject}</a>;
}

type ReadAudit = Pick<Awaited<ReturnType<typeof readAuditLog>>, "entries" | "personName">;

/** The short list of actions on an account's page. */
export function AuditRows({ entries, personName }: ReadAudit) {
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
