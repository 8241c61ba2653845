/** Everything that may act on the account: what each may do, what it spent, and how to stop it. */
import type { PropsWithChildren } from "hono/jsx";
import type { AccessAllowance, ListedAllowance } from "../../account/contract.ts";
import type { AccessList, ListedApp } from "../../http/allowances/access_list.ts";
import { rich, t, type PlainText, type Said } from "../language/text.tsx";
import { AppIcon, type AppLooks } from "../layout/app_icon.tsx";
import { ConfirmPage } from "../layout/confirm_page.tsx";
import { counted, credits, number } from "../layout/labels.ts";
import { NoticeLine, Page } from "../layout/layout.tsx";
import { Time, timeText, Zone } from "../layout/time.tsx";
import { Browsers } from "./browsers_section.tsx";
import { sequence } from "./sequence.ts";
import {
  AllowanceTimes,
  CapList,
  describeRights,
  holderOf,
  nestAllowances,
} from "./connection_facts.tsx";

const LIST = "/account/access";

interface AccessPageProps {
  readonly access: AccessList;
  readonly appLook: AppLooks;
  readonly now_ms: number;
  /** The result of the form that led here; null if there was none. */
  readonly notice: Said | null;
}

export function AccessPage({ access, appLook, now_ms, notice }: AccessPageProps) {
  const { apps, allowances, browsers } = access;
  const appName = (slug: string): string => appLook(slug).name;
  const groups = groupAllowances(allowances);
  return (
    <Page title={t("Access")} section="access" scripts={["times.js"]}>
      <NoticeLine notice={notice} />
      <div class="page-head">
        <h1>{t("Access")}</h1>
        <MonthSpent access={access} now_ms={now_ms} />
      </div>
      <p class="lead">{leadText(access)}</p>
      <AppsSection apps={apps} appLook={appLook} />
      <AllowancesSection
        id="connections"
        title="Connections"
        hint="Apps and agents that you connected. Each keeps to the limits that you gave it."
        empty="No app or agent is connected."
        allowances={groups.connections}
        appName={appName}
      />
      <AllowancesSection
        id="tokens"
        title="Tokens"
        hint="Devices and programs that you signed in."
        empty="No device or program has a token."
        allowances={groups.tokens}
        appName={appName}
      >
        <p class="acts">
          <a class="button quiet" href="/device">
            {t("Connect a device")}
          </a>
          <a class="button quiet" href="/account/tokens/new">
            {t("Make a token")}
          </a>
        </p>
      </AllowancesSection>
      <Browsers browsers={browsers} />
      <Zone note={t("The month of “spent this month” is that of UTC.")} />
    </Page>
  );
}

/** Whether nothing but the browser of this request has access. */
export function isOnlyThisBrowser(access: AccessList): boolean {
  const { apps, allowances, browsers, sign_in_services } = access;
  const listed = apps.length + allowances.length + sign_in_services.length;
  return listed === 0 && browsers.every(({ current }) => current);
}

/** "" if no app's own sign-in service knows the person. */
export function signInServicesText({ sign_in_services: services }: AccessList): string {
  return services.length === 0
    ? ""
    : t(
        "Apps that sign you in with {services} can use your account, also if they are not listed.",
        {
          services: sequence(services),
        },
      );
}

/** An app that was stopped is listed, but has no access. */
function leadText(access: AccessList): string {
  if (isOnlyThisBrowser(access))
    return t(
      "Only this browser can use your account, with the apps in which you signed in here. Nothing else has access.",
    );
  const others = countOthers(access);
  const unlisted = signInServicesText(access);
  if (others === "" && unlisted === "")
    return t(
      "Only this browser can use your account, with the apps in which you signed in here. The apps below are stopped.",
    );
  const listed = t("{others} can use your account. You can stop each of them here.", { others });
  return [others === "" ? "" : listed, unlisted].filter((text) => text !== "").join(" ");
}

/** "2 apps, 1 connection and 1 other browser"; "" if nothing but this browser has access. */
function countOthers({ apps, allowances, browsers }: AccessList): string {
  const { connections, tokens } = groupAllowances(allowances);
  const open = apps.filter(({ state }) => state === "open").length;
  const others = browsers.filter(({ current }) => !current).length;
  const parts = [
    ["app", "apps", open],
    ["connection", "connections", connections.length],
    ["token", "tokens", tokens.length],
    ["other browser", "other browsers", others],
  ] as const;
  const named = parts.filter(([, , count]) => count > 0);
  return sequence(named.map(([one, many, count]) => counted(count, one, many)));
}

/** Connections of clients, and tokens that a person made for a program; each with what was exchanged from it. */
function groupAllowances(listed: readonly AccessAllowance[]) {
  const isToken = (id: string): boolean => listed.find((it) => it.id === id)?.kind === "device";
  const rootOf = ({ id, parent_id }: AccessAllowance): string => {
    const parent = listed.find((it) => it.id === parent_id);
    return parent === undefined ? id : rootOf(parent);
  };
  return {
    connections: listed.filter((it) => !isToken(rootOf(it))),
    tokens: listed.filter((it) => isToken(rootOf(it))),
  };
}

/** The spending of everything, including access that has ended since, so the rows may add up to less. */
function MonthSpent({ access, now_ms }: Pick<AccessPageProps, "access" | "now_ms">) {
  const { apps, allowances, spent_this_month } = access;
  if (spent_this_month === null) {
    return (
      <p class="hint">
        {t("Too many jobs ended this month to add them up here.")}{" "}
        <a href="/account/statement">{t("Statement")}</a>
      </p>
    );
  }
  const roots = allowances.filter(({ parent_id }) => parent_id === null);
  const listed = [...apps, ...roots].reduce((sum, it) => sum + (it.spent_this_month ?? 0), 0);
  const ended = spent_this_month - listed;
  const spent = <strong>{credits(spent_this_month)}</strong>;
  const month = timeText(now_ms, "month");
  return (
    <p class="month-spent">
      {ended > 0
        ? rich("{spent} spent in {month}, {ended} of them by what no longer has access", {
            spent,
            month,
            ended: number(ended),
          })
        : rich("{spent} spent in {month}", { spent, month })}
    </p>
  );
}

function AppsSection({ apps, appLook }: { apps: readonly ListedApp[]; appLook: AppLooks }) {
  return (
    <section class="panel access" id="apps" aria-labelledby="apps-name">
      <h2 id="apps-name">{t("Apps")}</h2>
      {apps.length === 0 ? (
        <p class="hint">{t("Your account is not open for any app.")}</p>
      ) : (
        <>
          <p class="hint">
            {t(
              "Apps that you opened. Each can use your whole balance for its own jobs, also while you are away. If you stop one, nothing but you can start jobs for it.",
            )}
          </p>
          <ul>
            {apps.map((app) => (
              <App app={app} appLook={appLook} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function App({ app, appLook }: { app: ListedApp; appLook: AppLooks }) {
  const { slug, state, registered, started_jobs, last_used_at_ms } = app;
  const look = appLook(slug);
  return (
    <li id={`app-${slug}`}>
      <div class="who">
        <h3>
          <AppIcon look={look} size={28} /> {look.name}
          {state === "stopped" ? <span class="tag">{t("stopped")}</span> : null}
          {look.pause_message === null ? null : <span class="tag">{t("paused")}</span>}
        </h3>
        {look.pause_message === null ? null : (
          <p class="hint">
            {t("The operator paused this app: “{message}”", { message: look.pause_message })}
          </p>
        )}
        <p class="hint">
          {registered === null
            ? t("Not registered here")
            : (registered.host ?? t("No address registered"))}
          {" · "}
          <LastUse at_ms={last_used_at_ms} never={t("no job yet")} />
          {started_jobs === 0 ? null : (
            <>
              {" · "}
              <a href={`/account/jobs?app=${slug}`}>
                {started_jobs === 1
                  ? t("1 running job")
                  : `${number(started_jobs)} ${t("running jobs")}`}
              </a>
            </>
          )}
        </p>
      </div>
      <Spent spent={app.spent_this_month} />
      <div class="acts">
        {state === "open" ? (
          <a
            class="button quiet small"
            href={`${LIST}/stop?app=${slug}`}
            aria-label={t("Stop {name}", { name: look.name })}
          >
            {t("Stop")}
          </a>
        ) : (
          <form method="post" action={`${LIST}/allow`}>
            <input type="hidden" name="app" value={slug} />
            <button type="submit" class="quiet small">
              {t("Allow again")}
              <span class="unseen">{` ${look.name}`}</span>
            </button>
          </form>
        )}
      </div>
    </li>
  );
}

type AllowancesSectionProps = PropsWithChildren<{
  readonly id: string;
  readonly title: PlainText;
  readonly hint: PlainText;
  readonly empty: PlainText;
  readonly allowances: readonly AccessAllowance[];
  readonly appName: (slug: string) => string;
}>;

function AllowancesSection(props: AllowancesSectionProps) {
  const { id, title, hint, empty, allowances, appName, children } = props;
  const has_resource = allowances.some(({ resource }) => resource !== null);
  return (
    <section class="panel access" id={id} aria-labelledby={`${id}-name`}>
      <h2 id={`${id}-name`}>{t(title)}</h2>
      <p class="hint">
        {allowances.length === 0
          ? t(empty)
          : `${t(hint)} ${t("If you revoke one, it stops at once.")}`}
        {has_resource
          ? ` ${t(
              "One for a resource stops there within ten minutes. What the resource does itself is not seen here: “last used” is when its access was renewed or checked.",
            )}`
          : ""}
      </p>
      {allowances.length === 0 ? null : (
        <ul>
          {nestAllowances(allowances).map(({ allowance, depth }) => (
            <Allowance allowance={allowance} depth={depth} appName={appName} />
          ))}
        </ul>
      )}
      {children}
    </section>
  );
}

type AllowanceProps = {
  readonly allowance: AccessAllowance;
  readonly depth: number;
} & Pick<AllowancesSectionProps, "appName">;

function Allowance({ allowance, depth, appName }: AllowanceProps) {
  const { id, label } = allowance;
  const query = new URLSearchParams({ id }).toString();
  return (
    <li id={id} class={depth === 0 ? undefined : `below-${Math.min(depth, 3)}`}>
      <div class="who">
        <h3>{label}</h3>
        <Facts allowance={allowance} appName={appName} />
      </div>
      <Spent spent={allowance.spent_this_month} />
      <div class="acts">
        <a
          class="button quiet small"
          href={`${LIST}/edit?${query}`}
          aria-label={t("Edit {name}", { name: label })}
        >
          {t("Edit")}
        </a>
        <a
          class="button quiet small"
          href={`${LIST}/revoke?${query}`}
          aria-label={t("Revoke {name}", { name: label })}
        >
          {t("Revoke")}
        </a>
      </div>
    </li>
  );
}

function Facts({
  allowance,
  appName,
}: { readonly allowance: ListedAllowance } & Pick<AllowanceProps, "appName">) {
  return (
    <>
      <p>{describeRights(allowance, appName)}</p>
      <CapList allowance={allowance} />
      <p class="hint">
        {holderOf(allowance)}. <AllowanceTimes allowance={allowance} />
      </p>
    </>
  );
}

/** `never`: what is said if nothing is known. */
export function LastUse({
  at_ms,
  never,
}: {
  readonly at_ms: number | null;
  readonly never: string;
}) {
  if (at_ms === null) return <>{never}</>;
  return rich("used {day}", { day: <Time at_ms={at_ms} style="day" /> });
}

function Spent({ spent }: { readonly spent: number | null }) {
  return (
    <p class="spent">
      {spent === null ? "" : <strong>{number(spent)}</strong>}{" "}
      <span class="hint">{spent === null ? t("not added up") : t("spent this month")}</span>
    </p>
  );
}

/** Asks before an allowance is revoked. `children_count`: the allowances that end with it. */
export function RevokePage(props: {
  readonly allowance: ListedAllowance;
  readonly appName: (slug: string) => string;
  readonly children_count: number;
}) {
  const { allowance, appName, children_count } = props;
  const { label, resource, limits } = allowance;
  return (
    <ConfirmPage
      title={t("Revoke “{name}”?", { name: label })}
      section="access"
      path={`${LIST}/revoke`}
      fields={[["id", allowance.id]]}
      button={t("Revoke")}
      cancel_path={LIST}
    >
      <Facts allowance={allowance} appName={appName} />
      <p>
        {resource === null
          ? t(
              "It stops at once, and its running jobs end. If an app still completes one, you pay what it cost.",
            )
          : t("It gets no new access at once. At {resource} it stops within ten minutes.", {
              resource,
            })}
        {children_count === 0
          ? ""
          : ` ${t("So does everything below it: {count}.", {
              count: counted(children_count, "agent or service", "agents and services"),
            })}`}
        {limits.upstream
          ? ` ${t("Tokens for other services that it already got work there until they expire.")}`
          : ""}{" "}
        {t("You cannot undo this; connect it again if you need it.")}
      </p>
    </ConfirmPage>
  );
}
