/** The account page's markup: the balance and what moved it, and who the account is. */
import type { AppSpending, BalancePoint } from "../../domain/history.ts";
import type { Person, SignInMethod } from "../../identity/port.ts";
import { BalanceChart } from "../chart/balance.tsx";
import { SpendingChart } from "../chart/spending.tsx";
import { Page } from "../layout/layout.tsx";
import { NoticeLine } from "../layout/notice.tsx";
import { Time, Zone } from "../layout/time.tsx";
import type { Notice } from "../layout/words.ts";
import {
  counted,
  credits,
  debtWords,
  holdSentence,
  nameFromSlug,
  number,
} from "../layout/account_words.ts";
import { Apps, type ShownApp } from "./apps.tsx";
import { BuyCredits, type ShownPackage } from "./packages.tsx";
import { JobCards, type ShownJob } from "./job_card.tsx";
import { Sessions, type ShownSession } from "./sessions.tsx";
import { SignInMethods } from "./sign_in_methods.tsx";
import { Yours } from "./yours.tsx";

/** The account at a glance, over a time in milliseconds since the epoch. */
export interface ShownOverview {
  readonly account: {
    readonly id: string;
    readonly plan: string;
    readonly credits: number;
    readonly created_at_ms: number;
  };
  /** The newest line of the passbook: the page follows what comes after it. */
  readonly line: number;
  readonly reserved: number;
  readonly open_jobs: number;
  readonly apps: readonly ShownApp[];
  /** Whether apps may still give starter credits. */
  readonly takes_starters: boolean;
  readonly debt_cause: Parameters<typeof debtWords>[0];
  readonly recent_jobs: readonly ShownJob[];
  readonly balance: readonly BalancePoint[];
  readonly balance_is_complete: boolean;
  readonly spending: readonly AppSpending[];
  readonly from_ms: number;
  readonly to_ms: number;
}

/** A device or program with access, in a word. */
export interface ShownDevice {
  readonly label: string;
  readonly last_used_at_ms: number | null;
}

export interface AccountPageProps {
  readonly person: Person;
  readonly overview: ShownOverview;
  readonly appName: (slug: string | null) => string;
  readonly tokens: readonly ShownDevice[];
  readonly sessions: readonly ShownSession[];
  readonly methods: readonly SignInMethod[];
  /** What can be bought; none where nothing is sold. */
  readonly packages: readonly ShownPackage[];
  readonly notice: Notice | null;
}

export function AccountPage(props: AccountPageProps) {
  const { person, overview, appName, tokens, sessions, methods, packages, notice } = props;
  return (
    <Page title="Your account" section="account" scripts={["times.js", "live.js"]}>
      <NoticeLine notice={notice} />
      <div class="columns" data-live-after={overview.line}>
        <div class="main-column">
          <Balance overview={overview} />
          <BuyCredits packages={packages} />
          <RecentJobs jobs={overview.recent_jobs} />
          <Spending overview={overview} appName={appName} />
          <Apps apps={overview.apps} takes_starters={overview.takes_starters} appName={appName} />
        </div>
        <div class="side-column">
          <Profile person={person} overview={overview} />
          <SignInMethods person={person} methods={methods} />
          <Sessions sessions={sessions} />
          <Devices tokens={tokens} />
          <Yours />
          <Zone />
        </div>
      </div>
    </Page>
  );
}

function Balance({ overview }: { overview: ShownOverview }) {
  const { account, reserved, open_jobs, balance, from_ms, to_ms } = overview;
  const held = holdSentence(reserved, open_jobs);
  return (
    <section class="panel balance" id="balance" data-live aria-labelledby="balance-name">
      <h1 id="balance-name">Your balance</h1>
      <p class={account.credits < 0 ? "balance-now is-negative" : "balance-now"}>
        <span data-credits>{number(account.credits)}</span> <small>credits</small>
      </p>
      <p class="held" data-held>
        {held === null ? (
          "Nothing on hold"
        ) : (
          <>
            <span class="held-sign" aria-hidden="true"></span>
            {held}
          </>
        )}
      </p>
      {account.credits < 0 ? (
        <p class="hint">
          {debtWords(overview.debt_cause)} New jobs start again once the balance is above zero.
        </p>
      ) : null}
      {balance.length < 2 && account.credits === 0 ? (
        <p class="empty">
          {overview.takes_starters
            ? "Open one of the apps that use this account: your first credits come with it."
            : "You had starter credits in the account that you deleted; they come once."}
        </p>
      ) : (
        <BalanceChart points={balance} from_ms={from_ms} to_ms={to_ms} />
      )}
      <p class="panel-foot" hidden={balance.length < 2 && account.credits === 0}>
        <span class="hint">
          {overTime(overview)} A hold lowers what you can spend, and what a job does not use comes
          back.
        </span>
        <a href="/account/statement">Statement</a>
      </p>
    </section>
  );
}

function overTime({ account, balance_is_complete, from_ms }: ShownOverview): string {
  if (!balance_is_complete) return "The newest part of the last 30 days.";
  return account.created_at_ms >= from_ms ? "Since you joined." : "The last 30 days.";
}

function RecentJobs({ jobs }: { jobs: readonly ShownJob[] }) {
  return (
    <section class="panel" id="recent-jobs" data-live aria-labelledby="recent-jobs-name">
      <div class="panel-head">
        <h2 id="recent-jobs-name">Recent jobs</h2>
        {jobs.length === 0 ? null : <a href="/account/jobs">All jobs</a>}
      </div>
      {jobs.length === 0 ? (
        <p class="empty">No app has run a job for you yet. What they run shows up here at once.</p>
      ) : (
        <JobCards jobs={jobs} />
      )}
    </section>
  );
}

function Spending({ overview, appName }: Pick<AccountPageProps, "overview" | "appName">) {
  const { spending } = overview;
  if (spending.length === 0) return <div id="spending" data-live></div>;
  const total = spending.reduce((sum, it) => sum + it.credits, 0);
  return (
    <section class="panel" id="spending" data-live aria-labelledby="spending-name">
      <div class="panel-head">
        <h2 id="spending-name">Spending by app</h2>
        <span class="hint">{credits(total)} in the last 30 days</span>
      </div>
      <SpendingChart spending={spending} appName={appName} />
    </section>
  );
}

function Profile({ person, overview }: Pick<AccountPageProps, "person" | "overview">) {
  const { account } = overview;
  const name = person.name ?? person.email ?? "You";
  return (
    <section class="panel profile" aria-labelledby="profile-name">
      <h2 id="profile-name">{name}</h2>
      {person.email === null ? null : (
        <p>
          {person.name === null ? null : person.email}
          {person.email_verified ? null : <span class="tag">not verified</span>}
        </p>
      )}
      <dl class="details">
        <div>
          <dt>Plan</dt>
          <dd>{nameFromSlug(account.plan)}</dd>
        </div>
        <div>
          <dt>Member since</dt>
          <dd>
            <Time at_ms={account.created_at_ms} style="day" />
          </dd>
        </div>
        <div>
          <dt>Account id</dt>
          <dd>
            <code>{account.id}</code>
          </dd>
        </div>
      </dl>
    </section>
  );
}

function Devices({ tokens }: { tokens: readonly ShownDevice[] }) {
  return (
    <section class="panel" aria-labelledby="devices-name">
      <div class="panel-head">
        <h2 id="devices-name">Devices and tokens</h2>
        {tokens.length === 0 ? null : <a href="/account/tokens">Manage</a>}
      </div>
      {tokens.length === 0 ? (
        <p class="hint">
          No device or program has access. <a href="/device">Connect one</a> with the code it shows.
        </p>
      ) : (
        <ul class="rows">
          {tokens.slice(0, 3).map(({ label, last_used_at_ms }) => (
            <li>
              <span class="cut">{label}</span>
              <span class="hint">
                {last_used_at_ms === null ? (
                  "never used"
                ) : (
                  <>
                    used <Time at_ms={last_used_at_ms} style="day" />
                  </>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      {tokens.length > 3 ? (
        <p class="hint">And {counted(tokens.length - 3, "more", "more")}.</p>
      ) : null}
    </section>
  );
}
