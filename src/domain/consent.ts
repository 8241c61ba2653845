/** The decisions of the consent page before it asks the person, and its suggestions. Pure: the caller passes the time. */
import { isSubset } from "./allowance.ts";
import type { Asked, AuthorizeError } from "./authorize_request.ts";
import { isLoopbackHost } from "./origins.ts";
import {
  REGISTRATION_ID_PATTERN,
  type OAuthClient,
  type ProtectedResource,
} from "./oauth_client.ts";
import { CHARGE_SCOPE, nameScopes, OAUTH_SCOPES, SIGNIN_SCOPES } from "./oauth_scopes.ts";
import { accepted, refused, type Result } from "./result.ts";
import type { SpendingCap } from "./spending_cap.ts";

/**
 * The scopes that a client can get of those that it requested. Unknown scopes are ignored (OpenID Connect Core, section
 * 3.1.2.1). `resource`: null: our API. One that charges adds the scope for that. Without `may_upstream`, the scope `upstream`
 * is left out, and the token response says so.
 */
export function chooseScopes(
  requested: readonly string[] | undefined,
  offer: {
    readonly resource: Pick<ProtectedResource, "scopes" | "charges"> | null;
    readonly may_upstream: boolean;
  },
): Result<readonly string[], AuthorizeError> {
  const { resource, may_upstream } = offer;
  const added = resource?.charges === true ? [CHARGE_SCOPE] : [];
  // A client that names no scope gets what a person expects least harm of: our API to read, or the resource as a whole.
  const wanted = requested ?? resource?.scopes ?? ["read"];
  if (wanted.includes("admin"))
    return refused(invalidScope("The scope admin is not available to OAuth clients."));
  if (requested?.length === 0) return refused(invalidScope("Name a scope, or leave scope out."));
  const known: readonly string[] =
    resource === null ? OAUTH_SCOPES : [...SIGNIN_SCOPES, ...resource.scopes, ...added];
  const available = known.filter((scope) => scope !== "upstream" || may_upstream);
  const scopes = wanted.filter((scope) => available.includes(scope));
  if (scopes.length === 0 && wanted.length > 0) {
    const named = nameScopes(wanted);
    const error_description = `None of the requested scopes is available: ${named}. Name at least one of these scopes: ${available.join(" ")}.`;
    return refused(invalidScope(error_description));
  }
  const has_access = scopes.includes("read") || scopes.includes("write");
  if (scopes.includes("upstream") && !has_access) {
    return refused(invalidScope("Name read or write in addition to upstream."));
  }
  return accepted([...new Set([...scopes, ...added])]);
}

/**
 * Whether the session of a browser suffices for a request. `again`: only a new sign-in does, also at a provider where the
 * person is signed in.
 */
export type SignInNeed = "none" | "first" | "again";

/** `started_at_ms`: when the person signed in; null: they are not signed in. */
export function signInNeed(
  { prompts, max_age_seconds }: Asked,
  started_at_ms: number | null,
  now_ms: number,
): SignInNeed {
  if (started_at_ms === null) {
    return prompts.includes("login") || max_age_seconds !== null ? "again" : "first";
  }
  if (prompts.includes("login")) return "again";
  if (max_age_seconds === null) return "none";
  return now_ms - started_at_ms > max_age_seconds * 1000 ? "again" : "none";
}

/**
 * Whether only the client itself can use a code that is sent to an address: it proves itself with a secret, or the address is on
 * the web. Any program of the person's device can listen on a loopback port, or claim a scheme (RFC 8252, section 8.6).
 */
export function isAssured(client: OAuthClient, redirect_uri: string): boolean {
  const has_secret = client.kind === "registered" && !client.public;
  const url = URL.parse(redirect_uri);
  return has_secret || (url?.protocol === "https:" && !isLoopbackHost(url.hostname));
}

/** Whether a former consent counts without a page. Never for a client that only a document describes. */
export function mayRemember(client: OAuthClient, redirect_uri: string): boolean {
  return client.kind === "registered" && isAssured(client, redirect_uri);
}

/** The outcome for the request of a signed-in person. */
export type ConsentStep =
  | { readonly kind: "remembered" }
  | { readonly kind: "ask" }
  /** `added`: the scopes that the client did not have so far. */
  | { readonly kind: "ask_more"; readonly added: readonly string[] }
  | { readonly kind: "room_full" };

interface ConsentFacts {
  readonly asked: Pick<Asked, "prompts">;
  /** Whether a code may be given without a page, {@link mayRemember}. */
  readonly may_remember: boolean;
  readonly scopes: readonly string[];
  /** The scopes of the client's connection to the same resource; null: it has none. */
  readonly connected_scopes: readonly string[] | null;
  /** Whether the client asks for other limits than its connection has, {@link wantsOtherLimits}. */
  readonly wants_other_limits: boolean;
  /** Whether the account has room for one more allowance. */
  readonly has_room: boolean;
}

export function consentStep(facts: ConsentFacts): ConsentStep {
  const { asked, may_remember, scopes, connected_scopes, wants_other_limits, has_room } = facts;
  if (connected_scopes === null) return { kind: has_room ? "ask" : "room_full" };
  const added = scopes.filter((scope) => !connected_scopes.includes(scope));
  if (added.length > 0) return { kind: "ask_more", added };
  const { prompts } = asked;
  const must_show =
    prompts.includes("consent") || prompts.includes("select_account") || wants_other_limits;
  return { kind: may_remember && !must_show ? "remembered" : "ask" };
}

/** The limit that a form suggests if no registration suggests another: enough to try a program. */
const DEFAULT_CAP: SpendingCap = { credits: 50, period: "total" };

/**
 * The cap that a form starts with: the one that the app's registration suggests, or a small one. It is at most the balance,
 * unless the balance is 0 or less. `registered`: null if nobody registered the app.
 */
export function suggestedCap(
  registered: { readonly suggested_cap: SpendingCap | null } | null,
  credits: number,
): SpendingCap {
  const cap = registered?.suggested_cap ?? DEFAULT_CAP;
  return credits <= 0 ? cap : { ...cap, credits: Math.min(cap.credits, credits) };
}

/**
 * The caps that the consent page starts with. A client may wish for less, in its own period; a higher wish is only shown,
 * because otherwise a stranger would choose its own limit. An empty wish does not count: a client cannot suggest to have no limit.
 */
export function preselectedCaps(
  suggested: SpendingCap,
  wished: readonly SpendingCap[],
): { readonly caps: readonly SpendingCap[]; readonly shown: readonly SpendingCap[] } {
  const is_modest = wished.every(({ credits }) => credits <= suggested.credits);
  if (wished.length > 0 && is_modest) return { caps: wished, shown: [] };
  return { caps: [suggested], shown: wished };
}

/**
 * The caps of a connection that a client asks to change. A lower wish is chosen and a higher one is only shown. Every cap of the
 * connection stays, unless a lower one of its period replaces it.
 */
export function loweredCaps(
  present: readonly SpendingCap[],
  wished: readonly SpendingCap[],
): { readonly caps: readonly SpendingCap[]; readonly shown: readonly SpendingCap[] } {
  const isHigher = ({ credits, period }: SpendingCap): boolean =>
    present.some(
      (cap) => (cap.period === period || cap.period === "total") && cap.credits < credits,
    );
  const lower = wished.filter((wish) => !isHigher(wish));
  const kept = present.filter(({ period }) => lower.every((wish) => wish.period !== period));
  return { caps: [...kept, ...lower], shown: wished.filter(isHigher) };
}

/** The apps that the page starts with. A wish for other apps than `start` (null: all) is only shown. */
export function preselectedApps(
  start: readonly string[] | null,
  wished: readonly string[] | undefined,
): { readonly apps: readonly string[] | null; readonly shown: readonly string[] } {
  if (wished === undefined) return { apps: start, shown: [] };
  if (isSubset(wished, start)) return { apps: wished, shown: [] };
  return { apps: start, shown: wished.filter((slug) => start?.includes(slug) !== true) };
}

/** Limits that a client names in a request. */
interface WishedLimits {
  readonly caps?: readonly SpendingCap[] | undefined;
  readonly apps?: readonly string[] | undefined;
  /** In seconds. */
  readonly expires_in?: number | undefined;
}

/** Whether a client asks for other limits than its connection has, so that the person decides again. */
export function wantsOtherLimits(
  { caps, apps, expires_in }: WishedLimits,
  present: {
    readonly caps: readonly SpendingCap[];
    readonly app_slugs: readonly string[] | null;
    readonly expires_at_ms: number;
  },
  now_ms: number,
): boolean {
  const has = (wish: SpendingCap): boolean =>
    present.caps.some((cap) => cap.period === wish.period && cap.credits === wish.credits);
  const has_caps = caps === undefined || (caps.length === present.caps.length && caps.every(has));
  const has_apps =
    apps === undefined || (isSubset(apps, present.app_slugs) && isSubset(present.app_slugs, apps));
  const ends_earlier =
    expires_in !== undefined && now_ms + expires_in * 1000 < present.expires_at_ms;
  return !has_caps || !has_apps || ends_earlier;
}

/**
 * The name under which a client that nobody registered acts: its own host, so that nobody can bill in the name of another
 * app. Null: the host cannot be the name of an app, or is that of a registered one, so the client cannot connect.
 */
export function ownAppOf(
  client_id: string,
  isRegistered: (slug: string) => boolean,
): string | null {
  const { hostname } = new URL(client_id);
  return REGISTRATION_ID_PATTERN.test(hostname) && !isRegistered(hostname) ? hostname : null;
}

function invalidScope(error_description: string): AuthorizeError {
  return { error: "invalid_scope", error_description };
}
