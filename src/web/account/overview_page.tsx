/** The account page: balance, jobs and spending, and on the side the person and what has access. */
import type { Overview as AccountOverview, PurchaseRecord } from "../../account/contract.ts";
import type { CreditPackage, PackagePrices } from "../../domain/purchases.ts";
import type { AccessList } from "../../http/allowances/access_list.ts";
import type { Person } from "../../identity/port.ts";
import { BalanceChart } from "../chart/balance.tsx";
import { SpendingChart } from "../chart/spending.tsx";
import { rich, t, type PlainText, type Said } from "../language/text.tsx";
import { NoticeLine, Page } from "../layout/layout.tsx";
import { LotList } from "../layout/lot_list.tsx";
import { Time, Zone } from "../layout/time.tsx";
import {
  counted,
  credits,
  debtReason,
  holdSentence,
  nameFromSlug,
  number,
} from "../layout/labels.ts";
import { AccessSummary } from "./access_summary.tsx";
import type { PurchaseReturn } from "./purchase_return.ts";
import { BuyCredits } from "./packages_section.tsx";
import { Purchases } from "./purchases_section.tsx";
import type { AppLooks } from "../layout/app_icon.tsx";
import { JobRows, type JobRowsProps } from "./job_rows.tsx";
import { DataSection } from "./data_section.tsx";
import { sequence } from "./sequence.ts";

/** The account and its charts, until `to_ms`. */
export type Overview = AccountOverview & { readonly to_ms: number };

interface AccountPageProps {
  readonly person: Person;
  readonly overview: Overview;
  readonly appLook: AppLooks;
  readonly access: AccessList;
  readonly packages: readonly CreditPackage[];
  readonly prices: PackagePrices;
  /** The page that the person came from; null: none. */
  readonly back: PurchaseReturn | null;
  readonly purchases: readonly PurchaseRecord[];
  readonly has_more_purchases: boolean;
  readonly notice: Said | null;
}

export function AccountPage(props: AccountPageProps) {
  const { person, overview, appLook, packages, notice } = props;
  const appName = (slug: string | null): string => appLook(slug).name;
  const shop = <BuyCredits packages={packages} prices={props.prices} back={props.back} />;
  // A person whom an app or an approval sent here to buy credits looks for them first.
  const came_to_buy = props.back !== null;
  return (
    <Page title={t("Your account")} section="account" scripts={["times.js", "live.js"]}>
      <NoticeLine notice={notice} />
      <div class="columns" data-live-after={overview.line}>
        <div class="main-column">
          <Balance overview={overview} appName={appName} sells={packages.length > 0} />
          {came_to_buy ? shop : null}
          <RecentJobs jobs={overview.recent_jobs} appLook={appLook} />
          <Spending overview={overview} appName={appName} />
          {came_to_buy ? null : shop}
          <Purchases
            purchases={props.purchases}
            has_more={props.has_more_purchases}
            has_receipts={packages.length > 0}
          />
        </div>
        <div class="side-column">
          <Profile person={person} overview={overview} />
          <AccessSummary access={props.access} appLook={appLook} />
          <DataSection />
          <Zone />
        </div>
      </div>
    </Page>
  );
}

interface OfApps {
  readonly overview: Overview;
  readonly appName: (slug: string | null) => string;
}

function Balance({ overview, appName, sells }: OfApps & { readonly sells: boolean }) {
  const { account, open_jobs, balance, from_ms, to_ms } = overview;
  const held = holdSentence(overview.held, open_jobs);
  // The account was opened, and perhaps got credits. A chart of that would be empty.
  const is_unused = overview.recent_jobs.length === 0 && balance.length <= 2;
  const has_nothing = is_unused && account.credits === 0;
  return (
    <section class="panel balance" id="balance" data-live aria-labelledby="balance-name">
      <h1 id="balance-name">{t("Your balance")}</h1>
      <p
        class={account.credits < 0 ? "balance-now is-negative" : "balance-now"}
        data-say={t("Your balance is {credits}. {held}.", {
          credits: credits(account.credits),
          held: held ?? t("Nothing held"),
        })}
      >
        <span data-credits>{number(account.credits)}</span> <small>{t("credits")}</small>
      </p>
      <p class="held" data-held>
        {held === null ? (
          t("Nothing held")
        ) : (
          <>
            <span class="held-sign" aria-hidden="true"></span>
            {held}
          </>
        )}
      </p>
      <LotList lots={overview.lots} appName={appName} />
      {account.credits < 0 ? (
        <p class="hint">
          {debtReason(overview.debt_cause)}{" "}
          {t("You can start new jobs when the balance is above zero again.")}
        </p>
      ) : null}
      {is_unused ? (
        <p class="empty">
          {has_nothing ? t(firstCredits(overview)) : givenCredits(overview, appName)}
        </p>
      ) : (
        <BalanceChart points={balance} from_ms={from_ms} to_ms={to_ms} />
      )}
      <p class="panel-foot" hidden={has_nothing}>
        <span class="hint">
          {is_unused ? "" : `${t(chartPeriod(overview))} `}
          {t(
            "Held credits are set aside for running jobs. When a job ends, you pay what it cost, and the rest is available again.",
          )}
        </span>
        {sells ? <a href="#buy">{t("Buy credits")}</a> : null}
        <a href="/account/statement">{t("Statement")}</a>
      </p>
    </section>
  );
}

function firstCredits({ takes_starters }: Overview): PlainText {
  return takes_starters
    ? "You get your first credits when you open an app that uses this account."
    : "This account gets no starter credits: you had an account before, or this one began with a passkey or in an app with its own sign-in.";
}

/** Where the credits of an account without jobs come from, and what they are for. */
function givenCredits({ apps }: Overview, appName: OfApps["appName"]): string {
  const givers = apps.filter((app) => app.granted_at_ms !== null && app.starter_credits > 0);
  const sum = givers.reduce((total, { starter_credits }) => total + starter_credits, 0);
  const given = counted(sum, "starter credit", "starter credits");
  const names = sequence(givers.map(({ slug }) => appName(slug)));
  const begun = names === "" ? "" : `${t("You got {given} from {apps}.", { given, apps: names })} `;
  return (
    begun +
    t(
      "When an app runs a job for you, you pay with credits. A chart of your balance appears here with the first job.",
    )
  );
}

function chartPeriod({ account, balance_is_complete, from_ms }: Overview): PlainText {
  if (!balance_is_complete) return "The most recent part of the last 30 days.";
  return account.created_at_ms >= from_ms ? "Since your account was opened." : "The last 30 days.";
}

function RecentJobs({ jobs, appLook }: JobRowsProps) {
  return (
    <section class="panel" id="recent-jobs" data-live aria-labelledby="recent-jobs-name">
      <div class="panel-head">
        <h2 id="recent-jobs-name">{t("Recent jobs")}</h2>
        {jobs.length === 0 ? null : <a href="/account/jobs">{t("All jobs")}</a>}
      </div>
      {jobs.length === 0 ? (
        <p class="empty">
          {t("No app has run a job for you yet. Jobs appear here as soon as they start.")}
        </p>
      ) : (
        <JobRows jobs={jobs} appLook={appLook} />
      )}
    </section>
  );
}

function Spending({ overview, appName }: OfApps) {
  const { spending } = overview;
  const total = spending.reduce((sum, it) => sum + it.credits, 0);
  return (
    <section class="panel" id="spending" data-live aria-labelledby="spending-name">
      <div class="panel-head">
        <h2 id="spending-name">{t("Spending by app")}</h2>
        <span class="hint">
          {spending.length === 0
            ? null
            : t("{credits} in the last 30 days", { credits: credits(total) })}
        </span>
      </div>
      {spending.length === 0 ? (
        <p class="empty">
          {t("You have spent nothing in the last 30 days. What each app’s jobs cost appears here.")}
        </p>
      ) : (
        <SpendingChart spending={spending} appName={appName} />
      )}
    </section>
  );
}

function Profile({ person, overview }: Pick<AccountPageProps, "person" | "overview">) {
  const { account, next_credits: next } = overview;
  const name = person.name ?? person.email ?? t("You");
  return (
    <section class="panel profile" aria-labelledby="profile-name">
      <h2 id="profile-name">{name}</h2>
      {person.email === null ? null : (
        <p>
          {person.name === null ? null : person.email}
          {person.email_verified ? null : <span class="tag">{t("not verified")}</span>}
        </p>
      )}
      <p>
        <a href="/account/security">{t("How you sign in")}</a>
      </p>
      <dl class="details">
        <div>
          <dt>{t("Plan")}</dt>
          <dd>{overview.plan_name ?? nameFromSlug(account.plan)}</dd>
        </div>
        {next === null ? null : (
          <div>
            <dt>{t("Next credits")}</dt>
            <dd>
              {rich("{credits} on {day}", {
                credits: credits(next.credits),
                day: <Time at_ms={next.at_ms} style="day" />,
              })}
            </dd>
          </div>
        )}
        <div>
          <dt>{t("Member since")}</dt>
          <dd>
            <Time at_ms={account.created_at_ms} style="day" />
          </dd>
        </div>
        <div>
          <dt>{t("Account id")}</dt>
          <dd>
            <code>{account.id}</code>
          </dd>
        </div>
      </dl>
    </section>
  );
}
