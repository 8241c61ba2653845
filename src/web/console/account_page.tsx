/** One account in full: what it has, the lines that made it, and what may be done to it. */
import type { ListedSession, Person } from "../../identity/port.ts";
import type { PersonalTokenLimits } from "../../domain/personal_token.ts";
import { StatementLines, type StatementLine } from "../account/statement_page.tsx";
import { Page } from "../layout/layout.tsx";
import { Time, Zone } from "../layout/time.tsx";
import { number } from "../layout/account_words.ts";
import { ActLink, Apps, Sessions, State, Tokens, Who } from "./account_side.tsx";
import { ActRows, type ShownAct } from "./audit_page.tsx";
import { Panel } from "./panel.tsx";
import { accountAddress, consoleAddress, Table } from "./table.tsx";

export interface ShownToken {
  readonly id: string;
  readonly label: string;
  readonly limits: PersonalTokenLimits;
  readonly spent: number | null;
  readonly last_used_at_ms: number | null;
  readonly expires_at_ms: number;
}

export interface ShownStartedJob {
  readonly id: string;
  readonly app_slug: string | null;
  readonly action: string;
  readonly reserved: number;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
}

export interface AccountInFull {
  readonly account: {
    readonly id: string;
    readonly plan: string;
    readonly credits: number;
    readonly created_at_ms: number;
    readonly suspended_at_ms: number | null;
  };
  readonly reserved: number;
  /** The newest line. */
  readonly line: number;
  readonly apps: readonly {
    readonly slug: string;
    readonly starter_credits: number;
    readonly granted_at_ms: number | null;
  }[];
  readonly personal_tokens: readonly ShownToken[];
  readonly started_jobs: readonly ShownStartedJob[];
}

export interface ConsoleAccountPageProps {
  readonly person: Person;
  readonly it: AccountInFull;
  readonly sessions: readonly ListedSession[];
  readonly lines: readonly StatementLine[];
  /** Whether the lines are the newest. */
  readonly newest: boolean;
  /** The address of older lines; null where all are shown. */
  readonly older: string | null;
  readonly acts: readonly ShownAct[];
  /** How far the read model follows the account, in words. */
  readonly standing: string;
  readonly appName: (slug: string | null) => string;
  readonly personName: (identity_id: string) => string;
  readonly notice: string | null;
}

export function ConsoleAccountPage(props: ConsoleAccountPageProps) {
  const { person, it, sessions, notice, appName } = props;
  const name = person.email ?? person.name ?? person.identity_id;
  return (
    <Page title={name} section="accounts" scripts={["times.js"]}>
      {notice === null ? null : (
        <p class="notice" role="status">
          {notice}
        </p>
      )}
      <div class="page-head">
        <h1 class="cut">
          {name}
          {it.account.suspended_at_ms === null ? null : <span class="tag is-bad">Suspended</span>}
        </h1>
      </div>
      <div class="columns">
        <div class="main-column">
          <Balance person={person} it={it} />
          <StartedJobs person={person} it={it} appName={appName} />
          <Passbook {...props} />
          <Acts {...props} />
        </div>
        <div class="side-column">
          <Who person={person} it={it} />
          <Apps apps={it.apps} appName={appName} />
          <Tokens person={person} tokens={it.personal_tokens} appName={appName} />
          <Sessions person={person} sessions={sessions} />
          <State {...props} />
          <Zone />
        </div>
      </div>
    </Page>
  );
}

type Of = Pick<ConsoleAccountPageProps, "person" | "it">;

function Balance({ person, it: { account, reserved } }: Of) {
  return (
    <Panel id="balance" title="Balance" class="balance">
      <p class={account.credits < 0 ? "balance-now is-negative" : "balance-now"}>
        {number(account.credits)} <small>credits to spend</small>
      </p>
      <p class="held">
        {reserved === 0 ? (
          "Nothing on hold"
        ) : (
          <>
            <span class="held-sign" aria-hidden="true"></span>
            {number(reserved)} on hold for running jobs, apart from that
          </>
        )}
      </p>
      <div class="acts">
        <ActLink to={person} act="credits" text="Give or take credits" />
      </div>
    </Panel>
  );
}

/** As many as there is room for before the passbook. */
const STARTED_JOBS_SHOWN = 5;

function StartedJobs({
  person,
  it: { started_jobs: jobs },
  appName,
}: Of & Pick<ConsoleAccountPageProps, "appName">) {
  if (jobs.length === 0) return null;
  const all = { identity_id: person.identity_id, status: "started" };
  return (
    <Panel
      id="started"
      title="Running jobs"
      aside={
        jobs.length <= STARTED_JOBS_SHOWN ? null : (
          <a href={consoleAddress("/console/jobs", all)}>All running jobs</a>
        )
      }
    >
      <Table
        label="Running jobs"
        columns={["Job", { amount: "Held" }, "Started", "Ends by itself"]}
        rows={jobs.slice(0, STARTED_JOBS_SHOWN).map((job) => [
          <>
            {job.action}
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

function Passbook({ person, lines, newest, older }: ConsoleAccountPageProps) {
  const here = accountAddress(person.identity_id);
  return (
    <Panel
      id="passbook"
      title={newest ? "Passbook" : "Passbook, older lines"}
      aside={
        <a href={consoleAddress("/console/jobs", { identity_id: person.identity_id })}>All jobs</a>
      }
    >
      <p class="hint">Every change of the balance, newest first, with the balance after it.</p>
      {lines.length === 0 ? <p class="empty">No lines.</p> : <StatementLines lines={lines} />}
      {newest && older === null ? null : (
        <nav class="pages" aria-label="Pages of the passbook">
          {newest ? <span></span> : <a href={`${here}#passbook`}>Newest lines</a>}
          {older === null ? null : (
            <a href={`${older}#passbook`} rel="next">
              Older lines
            </a>
          )}
        </nav>
      )}
    </Panel>
  );
}

function Acts({ person, acts, personName }: ConsoleAccountPageProps) {
  return (
    <Panel
      id="acts"
      title="What operators did here"
      aside={
        acts.length === 0 ? null : (
          <a href={consoleAddress("/console/audit", { subject: person.identity_id })}>All acts</a>
        )
      }
    >
      {acts.length === 0 ? (
        <p class="empty">No operator has done anything to this account.</p>
      ) : (
        <ActRows acts={acts} personName={personName} />
      )}
    </Panel>
  );
}
