/** Shows the consent page, with the choices that it starts with. */
import type { Connection } from "../../account/contract.ts";
import { rightsOf } from "../../domain/allowance.ts";
import {
  isAssured,
  preselectedCaps,
  suggestedCap,
  type ConsentStep,
} from "../../domain/consent.ts";
import type { OAuthClient } from "../../domain/oauth_client.ts";
import { isLoopbackRedirect } from "../../domain/redirect_match.ts";
import type { SpendingCap } from "../../domain/spending_cap.ts";
import type { AppContext } from "../../http/context.ts";
import type { ApprovalProblems } from "../device/choices.tsx";
import { fieldsOfCaps } from "../device/cap_choice.tsx";
import { lifetimes } from "../device/offered.ts";
import { outlivesSession, type AccountFacts } from "./account.ts";
import { ConsentPage, type ConsentChoices, type Lifetime } from "./consent_page.tsx";
import type { AskingRequest } from "./read_request.ts";
import { pageOf } from "./respond.tsx";

/** How long a shown page can be used. Then the person gets a new one, with their balance of then. */
const CONSENT_FORM_TTL_MS = 15 * 60 * 1000;

/** The lifetime that the page suggests for a client without a registration. */
const SUGGESTED_DAYS = 30;

/** The account's data about a request that the person decides. */
export type AskingFacts = AccountFacts<Extract<ConsentStep, { kind: "ask" | "ask_more" }>>;

/** A form that was sent, and cannot be accepted as it is. */
export interface SentForm {
  readonly choices: ConsentChoices;
  readonly problems: ApprovalProblems;
}

/** What the sealed form returns. */
export interface ConsentForm {
  readonly query: string;
  readonly session_id: string;
}

/** `sent`: null if the page is shown for the first time. `notice`: why it is shown again. */
export async function showConsent(
  context: AppContext,
  request: AskingRequest,
  facts: AskingFacts,
  { sent = null, notice = null }: { sent?: SentForm | null; notice?: string | null } = {},
): Promise<Response> {
  const { identity, apps, consent_forms } = context.get("services");
  const { client, address, resource, session, scopes, query } = request;
  const [person, registered] = await Promise.all([
    identity.readPerson(session.identity_id),
    apps.all(),
  ]);
  const nameOf = (slug: string): string => registered.get(slug)?.name ?? slug;
  const app = client.kind === "registered" ? (registered.get(client.app_slug) ?? null) : null;
  const form: ConsentForm = { query, session_id: session.id };
  const page = (
    <ConsentPage
      step={facts.step}
      client={client}
      return_host={isLoopbackRedirect(address.redirect_uri) ? null : hostOf(address.redirect_uri)}
      is_assured={isAssured(client, address.redirect_uri)}
      person={person?.email ?? person?.name ?? null}
      scopes={scopes}
      connection={facts.connection}
      resource={
        resource === null
          ? null
          : { host: new URL(resource.uri).host, app_name: nameOf(resource.app_slug) }
      }
      ends_with_session={!outlivesSession(request)}
      credits={facts.credits}
      choices={
        sent?.choices ??
        (facts.connection === null
          ? suggestedChoices(context, request, app, facts.credits)
          : presentChoices(context, request, app, { ...facts, connection: facts.connection }))
      }
      wished_caps={capsFor(request, app, facts.credits).shown}
      asked_seconds={askedSeconds(context, request)}
      problems={sent?.problems ?? {}}
      registered_apps={[...registered.values()].map(({ slug, name }) => ({ slug, name }))}
      upstream_names={scopes.includes("upstream") ? upstreamNames(context, app) : []}
      lifetimes_days={lifetimes(context)}
      sealed={await consent_forms.seal(
        context.get("base_url"),
        JSON.stringify(form),
        CONSENT_FORM_TTL_MS,
      )}
      this_page={pageOf(context, request)}
      notice={notice}
    />
  );
  return context.html(page, sent === null ? 200 : 400);
}

/** The host of a web page, or the scheme of an app on the device. */
function hostOf(redirect_uri: string): string {
  const { protocol, host } = new URL(redirect_uri);
  return protocol === "https:" || protocol === "http:" ? host : protocol;
}

/** What a registered app may suggest. */
type SuggestingApp = {
  readonly suggested_cap: SpendingCap | null;
  readonly upstream_providers: readonly string[];
} | null;

/**
 * What the page starts with. A registered app's client starts with that app only; it is unknown which apps another client is for.
 * A client may name the apps that it is for, and less spending and a shorter lifetime than the page suggests.
 */
function suggestedChoices(
  context: AppContext,
  request: AskingRequest,
  app: SuggestingApp,
  credits: number,
): ConsentChoices {
  const { client, resource, suggested } = request;
  const slug = appOf(client, resource);
  return choicesFrom({
    app_slugs: suggested?.apps ?? (slug === null ? null : [slug]),
    caps: capsFor(request, app, credits).caps,
    days: askedSeconds(context, request) === null ? suggestedDays(context, client) : "asked",
  });
}

function capsFor({ suggested }: AskingRequest, app: SuggestingApp, credits: number) {
  return preselectedCaps(suggestedCap(app, credits), suggested?.caps ?? []);
}

/** The lifetime that the client asks for, if it is shorter than the suggested one; or null. */
export function askedSeconds(
  context: AppContext,
  { client, suggested }: AskingRequest,
): number | null {
  const seconds = suggested?.expires_in ?? null;
  const is_shorter = seconds !== null && seconds < suggestedDays(context, client) * DAY_SECONDS;
  return is_shorter ? seconds : null;
}

/** The app that a client's tokens are for; null: any. */
function appOf(client: OAuthClient, resource: { readonly app_slug: string } | null): string | null {
  return resource?.app_slug ?? (client.kind === "registered" ? client.app_slug : null);
}

/**
 * The choices that the holder made before; the access lasts longer. A connection that could not spend, or not use apps, has
 * no choice about it yet, so the page suggests one as it does for a new connection.
 */
function presentChoices(
  context: AppContext,
  request: AskingRequest,
  app: SuggestingApp,
  { connection, credits }: { readonly connection: Connection; readonly credits: number },
): ConsentChoices {
  const { access } = rightsOf(connection.scopes);
  const { app_slugs, caps } = connection;
  const suggested = suggestedChoices(context, request, app, credits);
  const present = choicesFrom({ app_slugs, caps, days: suggestedDays(context, request.client) });
  const { reach, apps } = access === "none" && app_slugs === null ? suggested : present;
  const has_chosen_caps = access === "write" || caps.length > 0;
  const { caps: shown, no_limit } = has_chosen_caps ? present : suggested;
  return { ...present, reach, apps, caps: shown, no_limit };
}

/** The longest offered lifetime that is suggested. */
function suggestedDays(context: AppContext, client: OAuthClient): number {
  const days = lifetimes(context);
  const short = days.filter((offered) => offered <= SUGGESTED_DAYS);
  return Math.max(...(client.kind === "registered" || short.length === 0 ? days : short));
}

const DAY_SECONDS = 24 * 60 * 60;

function choicesFrom(limits: {
  readonly app_slugs: readonly string[] | null;
  readonly caps: readonly SpendingCap[];
  readonly days: Lifetime;
}): ConsentChoices {
  const { app_slugs, caps, days } = limits;
  return {
    access: "write",
    reach: app_slugs === null ? "all" : "some",
    apps: app_slugs ?? [],
    other_apps: "",
    caps: fieldsOfCaps(caps),
    no_limit: caps.length === 0,
    upstream: false,
    admin: false,
    days,
  };
}

function upstreamNames(context: AppContext, app: SuggestingApp): readonly string[] {
  const methods = context.get("services").identity.sign_in_methods;
  const nameOf = (id: string): string => methods.find((method) => method.id === id)?.name ?? id;
  return (app?.upstream_providers ?? []).map(nameOf);
}
