/** `GET /console/accounts/{identity_id}[?before=&kind=&app=&job=&by=&first=&last=]`: one account, read from its own object. */
import { OPERATOR, type InspectedAccount } from "../../account/contract.ts";
import { holderAccount } from "../../http/caller/holder.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { appNames } from "../account/apps.ts";
import { statementEntries } from "../account/statement_entries.ts";
import { number } from "../layout/labels.ts";
import { LotList } from "../layout/lot_list.tsx";
import { Time, Zone } from "../layout/time.tsx";
import {
  ActionLink,
  Apps,
  PersonPanel,
  Sessions,
  Status,
  Tokens,
  type AccountPanelsProps,
} from "./account_panels.tsx";
import { readAuditLog, AuditRows, type AuditEntry } from "./audit.tsx";
import { TopUpsPanel } from "./top_ups_panel.tsx";
import { ConsolePage } from "./console_page.tsx";
import { readLedgerPage, LedgerPanel, type LedgerPanelProps } from "./ledger.tsx";
import { Panel } from "./panel.tsx";
import { PurchasesPanel, type PurchasesPanelProps } from "./purchases_panel.tsx";
import { nullIfUnreadable } from "./queries.ts";
import { consolePath, jobPath, Table } from "./table.tsx";

/** Purchases shown with an account. */
const PURCHASES_SHOWN_MAX = 20;

/** Operator actions shown with an account. The audit log has all of them. */
const ACTIONS_SHOWN_MAX = 5;

export const showAccount = factory.createHandlers(async (context) => {
  const { identity } = context.get("services");
  const person = context.get("holder");
  const account = holderAccount(context);
  const { identity_id } = person;
  const [inspected, ledger, bought, sessions, appName, audited] = await Promise.all([
    account.inspect(),
    readLedgerPage(context),
    account.listPurchases(OPERATOR, { limit: PURCHASES_SHOWN_MAX }),
    identity.listSessions(identity_id),
    appNames(context),
    readAuditLog(context, { subject: identity_id, limit: ACTIONS_SHOWN_MAX }),
  ]);
  if (!inspected.ok) return refuseWithPage(context, inspected.refusal);
  if (!ledger.ok) return refuseWithPage(context, ledger.refusal);
  if (!bought.ok) return refuseWithPage(context, bought.refusal);
  const { payments } = context.get("services");
  return context.html(
    <ConsoleAccountPage
      person={person}
      inspected={inspected.value}
      sessions={sessions}
      {...ledger.value}
      entries={statementEntries(ledger.value, appName)}
      app_options={inspected.value.apps.map(({ slug }) => [slug, appName(slug)] as const)}
      purchases={bought.value.rows}
      paymentUrl={payments === null ? null : payments.paymentUrl}
      audit_entries={audited.entries}
      personName={audited.personName}
      read_model_progress={await readModelProgress(context, inspected.value)}
      appName={appName}
    />,
  );
});

/** How much of the account the read model has, as a sentence. */
async function readModelProgress(
  context: AppContext,
  { account: { id }, line }: InspectedAccount,
): Promise<string> {
  const { read_model } = context.get("services");
  const read = await nullIfUnreadable(read_model.readDelivered(id).then((known) => ({ known })));
  if (read === null)
    return "The database of lists and charts is not responding, so they may not show this account.";
  const known = read.known?.line ?? 0;
  return known >= line
    ? `Lists and charts include all ${line} of its ledger entries.`
    : `Lists and charts include ${known} of its ${line} ledger entries so far. The rest usually follows within seconds.`;
}

interface ConsoleAccountPageProps
  extends AccountPanelsProps, Omit<LedgerPanelProps, "person">, PurchasesPanelProps {
  readonly audit_entries: readonly AuditEntry[];
  readonly personName: (identity_id: string) => string;
}

function ConsoleAccountPage(props: ConsoleAccountPageProps) {
  const { person, inspected, sessions, appName } = props;
  const { account } = inspected;
  const name = person.email ?? person.name ?? person.identity_id;
  return (
    <ConsolePage
      title={name}
      heading={
        <>
          {name}
          {account.suspended_at_ms === null ? null : <span class="tag is-bad">Suspended</span>}
        </>
      }
      section="accounts"
      scripts={["times.js"]}
    >
      <div class="columns">
        <div class="main-column">
          <Balance person={person} inspected={inspected} appName={appName} />
          <StartedJobs person={person} inspected={inspected} appName={appName} />
          <TopApps {...props} />
          <PurchasesPanel {...props} />
          <TopUpsPanel {...props} />
          <LedgerPanel {...props} />
          <AuditPanel {...props} />
        </div>
        <div class="side-column">
          <PersonPanel person={person} inspected={inspected} />
          <Apps apps={inspected.apps} appName={appName} />
          <Tokens person={person} tokens={inspected.allowances} appName={appName} />
          <Sessions person={person} sessions={sessions} />
          <Status {...props} />
          <Zone />
        </div>
      </div>
    </ConsolePage>
  );
}

type AccountProps = Pick<ConsoleAccountPageProps, "person" | "inspected">;

function Balance({
  person,
  inspected: { account, held, lots },
  appName,
}: AccountProps & Pick<ConsoleAccountPageProps, "appName">) {
  return (
    <Panel id="balance" title="Balance" class="balance">
      <p class={account.credits < 0 ? "balance-now is-negative" : "balance-now"}>
        {number(account.credits)} <small>credits available</small>
      </p>
      <p class="held">
        {held === 0 ? (
          "Nothing held"
        ) : (
          <>
            <span class="held-sign" aria-hidden="true"></span>
            {number(held)} more held for running jobs
          </>
        )}
      </p>
      <LotList lots={lots} appName={appName} />
      <div class="acts">
        <ActionLink to={person} action="credits" text="Give or take credits" />
      </div>
    </Panel>
  );
}

/** Few enough that the ledger is still on the first screen. */
const STARTED_JOBS_SHOWN = 5;

function StartedJobs({
  person,
  inspected: { started_jobs: jobs },
  appName,
}: AccountProps & Pick<ConsoleAccountPageProps, "appName">) {
  if (jobs.length === 0) return null;
  const all = { identity_id: person.identity_id, status: "started" };
  return (
    <Panel
      id="started"
      title="Running jobs"
      aside={
        jobs.length <= STARTED_JOBS_SHOWN ? null : (
          <a href={consolePath("/console/jobs", all)}>All running jobs</a>
        )
      }
    >
      <Table
        label="Running jobs"
        columns={["Job", { amount: "Held" }, "Started", "Times out"]}
        rows={jobs.slice(0, STARTED_JOBS_SHOWN).map((job) => [
          <>
            <a href={jobPath(person.identity_id, job.id)}>{job.action}</a>
            <span class="hint below">{appName(job.app_slug)}</span>
          </>,
          number(job.reserved),
          <Time at_ms={job.created_at_ms} style="clock" />,
          <Time at_ms={job.expires_at_ms} style="clock" />,
        ])}
        empty=""
      />
    </Panel>
  );
}

/** Nothing without jobs in that time: most accounts have none. */
function TopApps({ person, inspected: { spending = [] }, appName }: ConsoleAccountPageProps) {
  if (spending.length === 0) return null;
  const { identity_id } = person;
  return (
    <Panel id="top-apps" title="Apps that spend most, last 24 hours">
      <Table
        label="Apps that spend most, last 24 hours"
        columns={["App", { amount: "Spent" }, { amount: "Held" }, { amount: "Jobs" }]}
        rows={spending.map(({ app_slug, spent, held, jobs }) => [
          <a href={consolePath("/console", { days: "24h", app: app_slug })}>{appName(app_slug)}</a>,
          number(spent),
          number(held),
          <a
            href={consolePath("/console/jobs", { app: app_slug, identity_id, sort: "cost" })}
            aria-label={`${number(jobs)} jobs in ${appName(app_slug)}, show them by cost`}
          >
            {number(jobs)}
          </a>,
        ])}
        empty=""
      />
    </Panel>
  );
}

function AuditPanel({ person, audit_entries, personName }: ConsoleAccountPageProps) {
  return (
    <Panel
      id="acts"
      title="Operator actions"
      aside={
        audit_entries.length === 0 ? null : (
          <a href={consolePath("/console/audit", { subject: person.identity_id })}>All actions</a>
        )
      }
    >
      {audit_entries.length === 0 ? (
        <p class="empty">No operator has changed this account.</p>
      ) : (
        <AuditRows entries={audit_entries} personName={personName} />
      )}
    </Panel>
  );
}
