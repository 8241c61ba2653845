/** One account: its balance, jobs, ledger and audit log, and what an operator can do to it. */
import { NoticeLine, Page } from "../layout/layout.tsx";
import { Time, Zone } from "../layout/time.tsx";
import { number } from "../layout/labels.ts";
import {
  ActionLink,
  Apps,
  PersonPanel,
  Sessions,
  Status,
  Tokens,
  type AccountPanelsProps,
} from "./account_panels.tsx";
import { AuditRows, type AuditEntry } from "./audit_page.tsx";
import { LedgerPanel, type LedgerPanelProps } from "./ledger_panel.tsx";
import { Panel } from "./panel.tsx";
import { PurchasesPanel, type PurchasesPanelProps } from "./purchases_panel.tsx";
import { consolePath, jobPath, Table } from "./table.tsx";

export interface ConsoleAccountPageProps
  extends AccountPanelsProps, Omit<LedgerPanelProps, "person">, PurchasesPanelProps {
  readonly audit_entries: readonly AuditEntry[];
  readonly personName: (identity_id: string) => string;
  readonly notice: string | null;
}

export function ConsoleAccountPage(props: ConsoleAccountPageProps) {
  const { person, inspected, sessions, notice, appName } = props;
  const { account } = inspected;
  const name = person.email ?? person.name ?? person.identity_id;
  return (
    <Page title={name} section="accounts" scripts={["times.js"]}>
      <NoticeLine notice={notice} />
      <div class="page-head">
        <h1>
          {name}
          {account.suspended_at_ms === null ? null : <span class="tag is-bad">Suspended</span>}
        </h1>
      </div>
      <div class="columns">
        <div class="main-column">
          <Balance person={person} inspected={inspected} />
          <StartedJobs person={person} inspected={inspected} appName={appName} />
          <PurchasesPanel {...props} />
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
    </Page>
  );
}

type AccountProps = Pick<ConsoleAccountPageProps, "person" | "inspected">;

function Balance({ person, inspected: { account, reserved } }: AccountProps) {
  return (
    <Panel id="balance" title="Balance" class="balance">
      <p class={account.credits < 0 ? "balance-now is-negative" : "balance-now"}>
        {number(account.credits)} <small>credits available</small>
      </p>
      <p class="held">
        {reserved === 0 ? (
          "Nothing held"
        ) : (
          <>
            <span class="held-sign" aria-hidden="true"></span>
            {number(reserved)} more held for running jobs
          </>
        )}
      </p>
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
