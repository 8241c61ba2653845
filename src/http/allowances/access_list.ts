/** Everything that may act on the caller's account, for the API and the pages. */
import type { Access, AccessApp, Answer } from "../../account/contract.ts";
import { locationName, programOf } from "../../domain/client_description.ts";
import type { Language } from "../../domain/language.ts";
import type { AllowedOrigin } from "../../domain/origins.ts";
import { accepted } from "../../domain/result.ts";
import type { ListedSession } from "../../identity/port.ts";
import { accountOf, callerOf, type AppContext } from "../context.ts";

/** An app with what its operator registered. */
export interface ListedApp extends AccessApp {
  /** Null: the app is not registered, or the registry cannot be read. */
  readonly registered: {
    readonly name: string;
    readonly icon_hash: string | null;
    /** The host of its pages; null: it has none. */
    readonly host: string | null;
  } | null;
}

/** A browser session with its place and whether it is the one of this request. */
export interface ListedBrowser extends Omit<ListedSession, "city" | "country"> {
  readonly place: string | null;
  readonly current: boolean;
}

export interface AccessList extends Omit<Access, "apps"> {
  readonly apps: readonly ListedApp[];
  readonly browsers: readonly ListedBrowser[];
  /** The sign-in services of apps that know the person: their tokens are accepted, and nothing here lists them. */
  readonly sign_in_services: readonly string[];
}

/** Refused as `scope` to a caller that may not see all of the account. `language`: of the places. */
export async function readAccessList(
  context: AppContext,
  language?: Language,
): Promise<Answer<AccessList>> {
  const { apps: registry, identity } = context.get("services");
  const { identity_id } = context.get("caller");
  const [access, sessions, registered, sign_in_services] = await Promise.all([
    accountOf(context).readAccess(callerOf(context)),
    identity.listSessions(identity_id),
    registry.all(),
    signInServicesOf(context, identity_id),
  ]);
  if (!access.ok) return access;
  const apps = access.value.apps.map((app) => {
    const known = registered.get(app.slug);
    return { ...app, registered: known === undefined ? null : lookOf(known) };
  });
  const browsers = listBrowsers(context, sessions, language);
  return accepted({ ...access.value, apps, browsers, sign_in_services });
}

async function signInServicesOf(
  context: AppContext,
  identity_id: string,
): Promise<readonly string[]> {
  const { config, identity } = context.get("services");
  const issuers = config.trusted_issuers;
  if (issuers.length === 0) return [];
  const linked = (await identity.readPerson(identity_id))?.linked ?? [];
  return issuers
    .filter(({ id }) => linked.some(({ provider }) => provider === id))
    .map(({ name }) => name);
}

function lookOf(app: {
  readonly name: string;
  readonly icon_hash: string | null;
  readonly origins: readonly AllowedOrigin[];
}) {
  const { name, icon_hash, origins } = app;
  // Of a custom scheme, such as `myapp://callback`, the host says nothing.
  const page = origins.flatMap((allowed) => (allowed.kind === "exact" ? allowed.origin : []));
  const address = page.find((origin) => origin.startsWith("http"));
  const host = address === undefined ? null : new URL(address).host;
  return { name, icon_hash, host };
}

/** The name of this request's browser is known from its own header, if it was not stored. Newest use first. */
export function listBrowsers(
  context: AppContext,
  sessions: readonly ListedSession[],
  language?: Language,
): readonly ListedBrowser[] {
  const { proof } = context.get("caller");
  const current_id = proof.kind === "session" ? proof.session_id : null;
  return sessions.map(({ city, country, ...session }) => {
    const current = session.id === current_id;
    const this_browser = current ? programOf(context.req.header("User-Agent") ?? "") : null;
    return {
      ...session,
      browser: session.browser ?? this_browser,
      place: locationName({ city, country }, language),
      current,
    };
  });
}
