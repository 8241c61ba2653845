/** The page on which a person decides what an OAuth client may do. */
import type { Connection } from "../../account/contract.ts";
import { shownAccess } from "../../domain/allowance.ts";
import type { ConsentStep } from "../../domain/consent.ts";
import type { OAuthClient } from "../../domain/oauth_client.ts";
import { AllowanceForm, ALLOWANCE_SCRIPTS, type Wished } from "../allowance/allowance_form.tsx";
import { fieldsOfCaps, PERIOD_NAMES } from "../allowance/cap_choice.tsx";
import type { ApprovalProblems, LimitChoices, RegisteredApp } from "../allowance/choices.tsx";
import { rich, say, t, type PlainText } from "../language/text.tsx";
import { termsText, untilText, type Lifetime } from "../allowance/money_sentence.tsx";
import { CLIENT_ICON_PATH } from "./client_icon.ts";
import { rightsInWords } from "../allowance/rights.ts";
import { number } from "../layout/labels.ts";
import { AppHead, type AppLook } from "../layout/app_icon.tsx";
import { Page } from "../layout/layout.tsx";
import { currentShell } from "../layout/shell.ts";

export interface ConsentChoices extends LimitChoices {
  /** When the access ends, in days, or as the client asks; null: nothing valid was chosen. */
  readonly days: Lifetime | null;
}

interface ConsentPageProps {
  readonly step: Extract<ConsentStep, { kind: "ask" | "ask_more" }>;
  readonly client: OAuthClient;
  /** The app of a registered client; null: the client belongs to no registered app. */
  readonly app_look: AppLook | null;
  /** Where the person returns to: a host, or null for a program on their own machine. */
  readonly return_host: string | null;
  /** Whether only the client itself can use the code; otherwise any program of the device can pretend to be it. */
  readonly is_assured: boolean;
  /** The e-mail address or name of the person; null if neither is known. */
  readonly person: string | null;
  readonly scopes: readonly string[];
  /** Its present limits; null: it is not connected. */
  readonly connection: Connection | null;
  /** The server that its tokens are for; null: our API. */
  readonly resource: { readonly host: string; readonly app_name: string } | null;
  /** The app of a resource that charges: it can spend there only; null: any app. */
  readonly only_app: string | null;
  /** Whether the access ends with the browser session. */
  readonly ends_with_session: boolean;
  /** The available credits. */
  readonly credits: number;
  readonly choices: ConsentChoices;
  /** The limits that the client asks for, and that the form does not start with. */
  readonly wished: Wished;
  /** The lifetime that the client asks for, if it is shorter than the suggested one; null: it asks for none. */
  readonly asked_seconds: number | null;
  readonly problems: ApprovalProblems;
  readonly registered_apps: readonly RegisteredApp[];
  /** The services whose tokens the client requests; null: it requests none. */
  readonly upstream_names: readonly string[] | null;
  readonly lifetimes_days: readonly number[];
  /** The sealed request, which the form returns. */
  readonly sealed: string;
  /** The address of this page. */
  readonly this_page: string;
  /** Why the page is shown again; null: it is shown for the first time. */
  readonly notice: PlainText | null;
}

export function ConsentPage(props: ConsentPageProps) {
  const { step, client, problems, notice, choices, scopes } = props;
  const has_problems = Object.keys(problems).length > 0;
  const app = client.name;
  const title =
    step.kind === "ask" ? t("Connect {app}?", { app }) : t("Let {app} do more?", { app });
  const { registered_apps, upstream_names, credits, wished } = props;
  const { lifetimes_days, asked_seconds, ends_with_session } = props;
  return (
    <Page title={has_problems ? t("Error: {title}", { title }) : title} scripts={ALLOWANCE_SCRIPTS}>
      {notice === null ? null : (
        <p class="notice" role="status">
          {say(notice)}
        </p>
      )}
      <AllowanceForm
        title={title}
        action="/oauth/authorize/allow"
        choices={choices}
        problems={problems}
        offered={{ registered_apps, upstream_names, may_operate: false }}
        fixed_access={shownAccess(scopes)}
        only_app={props.only_app}
        kept={keptBy(props)}
        balance={credits}
        wished={wished}
        end={{ days: choices.days, lifetimes_days, asked_seconds, ends_with_session }}
        head={props.app_look === null ? null : <AppHead look={props.app_look} />}
        asker={<AskerAndRights {...props} />}
        first_fields={<input type="hidden" name="request" value={props.sealed} />}
        buttons={
          <>
            <button type="submit">{t("Allow")}</button>
            <button type="submit" class="quiet" formaction="/oauth/authorize/deny">
              {t("Deny")}
            </button>
          </>
        }
      />
      <OtherAccount {...props} />
    </Page>
  );
}

/** Spending that the connection is allowed already and that the request does not mention. */
function keptBy({ scopes, connection }: ConsentPageProps) {
  if (connection === null) return null;
  const [asked, present] = [shownAccess(scopes), shownAccess(connection.scopes)];
  if (present === "none" || asked === "write" || asked === present) return null;
  const { app_slugs, caps } = connection;
  const reach = app_slugs === null ? ("all" as const) : ("some" as const);
  const apps = app_slugs ?? [];
  return { access: present, caps: fieldsOfCaps(caps), reach, apps, other_apps: "" };
}

function AskerAndRights(props: ConsentPageProps) {
  return (
    <>
      <Asker {...props} />
      <Rights {...props} />
      {props.is_assured ? null : <DeviceWarning name={props.client.name} />}
    </>
  );
}

/** The client and the account. Any client can choose any name, so the page also says whether an operator registered it. */
function Asker({ client, return_host, person }: ConsentPageProps) {
  const { service_name, host } = currentShell();
  const stranger = client.kind === "document" && client.host !== host ? client.host : null;
  return (
    <>
      <dl class="facts">
        <dt>{t("Who asks")}</dt>
        <dd>
          {stranger === null ? (
            rich(
              client.kind === "registered"
                ? "{app}, registered with {service}"
                : "{app}, part of {service}",
              { app: <strong>{client.name}</strong>, service: service_name },
            )
          ) : (
            <>
              <ClientIcon client={client} />{" "}
              {rich("An app of {host}", {
                host: (
                  <>
                    <strong class="host">{stranger}</strong>
                    <span class="host">{new URL(client.client_id).pathname}</span>
                  </>
                ),
              })}
            </>
          )}
        </dd>
        <Addresses client={client} />
        {person === null ? null : (
          <>
            <dt>{t("Your account")}</dt>
            <dd class="host">{person}</dd>
          </>
        )}
        <dt>{t("You return to")}</dt>
        <dd class="host">{return_host ?? t("a program on this device")}</dd>
      </dl>
      {stranger === null ? null : (
        <p>
          <strong class="alarming">
            {t("{service} has not checked this app.", { service: service_name })}
          </strong>{" "}
          {rich("Anyone can choose the name “{app}”. Allow it only if you expect {host} to ask.", {
            app: client.name,
            host: <strong class="host">{stranger}</strong>,
          })}
        </p>
      )}
    </>
  );
}

/**
 * The copy of the icon, small because anyone can choose it, since the page loads nothing from other hosts. Without one,
 * nothing is shown.
 */
function ClientIcon({ client }: { client: OAuthClient }) {
  if (client.kind !== "document" || client.icon === null) return null;
  const src = `${CLIENT_ICON_PATH}?${new URLSearchParams({ client_id: client.client_id }).toString()}`;
  return <img class="app-icon" src={src} alt="" width={24} height={24} />;
}

/** Links to the client's own pages. They open in a new tab, so the consent page stays open. */
function Addresses({ client }: { client: OAuthClient }) {
  if (client.kind !== "document") return null;
  const { site, privacy, terms } = client;
  const links = [["Site", site] as const, ["Privacy", privacy] as const, ["Terms", terms] as const];
  const known = links.flatMap(([name, href]) => (href === null ? [] : [{ name, href }]));
  if (known.length === 0) return null;
  return (
    <>
      <dt>{t("More about it")}</dt>
      <dd>
        {known.map(({ name, href }, index) => (
          <>
            {index === 0 ? null : ", "}
            <a href={href} target="_blank" rel="noopener noreferrer">
              {t(name)}
            </a>
          </>
        ))}
      </dd>
    </>
  );
}

function Rights(props: ConsentPageProps) {
  const { step, scopes, connection, resource } = props;
  const added = step.kind === "ask_more" ? step.added : scopes;
  const kept = (connection?.scopes ?? []).filter((scope) => !added.includes(scope));
  const already = step.kind === "ask_more" ? rightsInWords(kept, resource) : [];
  return (
    <>
      <h2>{t(step.kind === "ask_more" ? "It also wants to" : "It wants to")}</h2>
      <ul class="rights">
        {rightsInWords(added, resource).map((right) => (
          <li>{right}</li>
        ))}
      </ul>
      {already.length === 0 ? null : (
        <>
          <h2>{t("It can already")}</h2>
          <ul class="rights is-old">
            {already.map((right) => (
              <li>{right}</li>
            ))}
          </ul>
        </>
      )}
      {connection === null ? null : <SoFar {...props} connection={connection} />}
    </>
  );
}

/** The limits that the person gave before, so that they see what would change. */
function SoFar(props: ConsentPageProps & { readonly connection: Connection }) {
  const { connection, registered_apps } = props;
  const access = shownAccess(connection.scopes);
  const nameOf = (slug: string) => registered_apps.find((it) => it.slug === slug)?.name ?? slug;
  const app_names = connection.app_slugs?.map(nameOf) ?? null;
  const end = untilText(connection.expires_at_ms, Date.now());
  return (
    <>
      <p>
        <strong>{t("So far:")}</strong>{" "}
        {termsText({ access, caps: connection.caps, app_names, end })}
        {connection.caps.map(
          ({ credits, period, spent }) =>
            ` ${t("{spent} of {credits} credits {period} are spent.", {
              spent: number(spent),
              credits: number(credits),
              period: t(PERIOD_NAMES[period]),
            })}`,
        )}
      </p>
      <p class="hint">
        {t("It is connected already, and allowing it again makes no second limit.")}
      </p>
    </>
  );
}

function DeviceWarning({ name }: { name: string }) {
  return (
    <p class="problem">
      <strong>
        {t("Allow only if you have just started {app} on this device.", { app: name })}
      </strong>{" "}
      {t("Any other program on it can claim to be {app}.", { app: name })}
    </p>
  );
}

/** The way to another account of the same person. */
function OtherAccount({ this_page }: ConsentPageProps) {
  return (
    <form method="post" action="/signout" class="other-account">
      <input type="hidden" name="redirect_to" value={this_page} />
      <button type="submit" class="plain">
        {t("Use another account")}
      </button>
    </form>
  );
}
