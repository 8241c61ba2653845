/** Shows the consent page, with the choices that it starts with. */
import { isAssured, type ConsentStep } from "../../domain/consent.ts";
import { isLoopbackRedirect } from "../../domain/redirect_match.ts";
import type { AppContext } from "../../http/context.ts";
import type { ApprovalProblems } from "../allowance/choices.tsx";
import type { PlainText } from "../language/text.tsx";
import { lifetimes } from "../allowance/offered.ts";
import { outlivesSession, type AccountFacts } from "./account.ts";
import { ConsentPage, type ConsentChoices } from "./consent_page.tsx";
import type { AskingRequest } from "./read_request.ts";
import { pageOf } from "./respond.tsx";
import { askedSeconds, chargingApp, readStart, type SuggestingApp } from "./start.ts";

/** How long a shown page can be used. Then the person gets a new one, with their balance of then. */
const CONSENT_FORM_TTL_MS = 15 * 60 * 1000;

/** The account's data about a request that the person decides. */
type AskingFacts = AccountFacts<Extract<ConsentStep, { kind: "ask" | "ask_more" }>>;

/** A form that was sent, and cannot be accepted as it is. */
export interface SentForm {
  readonly choices: ConsentChoices;
  readonly problems: ApprovalProblems;
}

/** The request that the sealed form returns. */
export interface ConsentForm {
  readonly query: string;
  readonly session_id: string;
}

/** `sent`: null if the page is shown for the first time. `notice`: why it is shown again. */
export async function showConsent(
  context: AppContext,
  request: AskingRequest,
  facts: AskingFacts,
  { sent = null, notice = null }: { sent?: SentForm | null; notice?: PlainText | null } = {},
): Promise<Response> {
  const { identity, apps, consent_forms } = context.get("services");
  const { client, address, resource, session, scopes, query } = request;
  const [person, registered] = await Promise.all([
    identity.readPerson(session.identity_id),
    apps.all(),
  ]);
  const nameOf = (slug: string): string => registered.get(slug)?.name ?? slug;
  const client_app = client.kind === "registered" ? client.app_slug : "";
  const app = registered.get(chargingApp(resource) ?? client_app) ?? null;
  const start = readStart(context, request, facts, app);
  const own = request.own_app === null ? [] : [{ slug: request.own_app, name: request.own_app }];
  const form: ConsentForm = { query, session_id: session.id };
  const page = (
    <ConsentPage
      step={facts.step}
      client={client}
      app_look={registered.get(client_app) ?? null}
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
      only_app={chargingApp(resource)}
      ends_with_session={!outlivesSession(request)}
      credits={facts.credits}
      choices={sent?.choices ?? start.choices}
      wished={start.wished}
      asked_seconds={askedSeconds(context, request)}
      problems={sent?.problems ?? {}}
      registered_apps={[
        ...own,
        ...[...registered.values()].map(({ slug, name }) => ({ slug, name })),
      ]}
      upstream_names={scopes.includes("upstream") ? upstreamNames(context, app) : null}
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

function upstreamNames(context: AppContext, app: SuggestingApp | null): readonly string[] {
  const methods = context.get("services").identity.sign_in_methods;
  const nameOf = (id: string): string => methods.find((method) => method.id === id)?.name ?? id;
  return (app?.upstream_providers ?? []).map(nameOf);
}
