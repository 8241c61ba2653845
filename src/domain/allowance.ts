/**
 * An allowance is a revocable right to use an account: a personal access token, or what an app or agent holds. Its limits
 * say whether it reads or writes, for which apps, how many credits it may spend, and whether it gets upstream tokens.
 * Pure; the Account object applies these rules inside the transaction of the operation.
 */
import { CHARGE_SCOPE, readScope } from "./oauth_scopes.ts";
import type { Refusal } from "./refusals.ts";
import {
  resetsAt,
  roomNow,
  spentNow,
  tightestCap,
  type CapSpending,
  type SpendingCap,
} from "./spending_cap.ts";

/**
 * How an allowance came to be. `device`: a personal access token; `code`: a person agreed to a client's authorization
 * request; `exchange`: a client exchanged a token for a narrower one.
 */
export const ALLOWANCE_KINDS = ["device", "code", "exchange"] as const;
export type AllowanceKind = (typeof ALLOWANCE_KINDS)[number];

/**
 * The access to its holder's account. Each level includes the ones before it. `none`: no access to the account; it only
 * operates the service.
 */
const ALLOWANCE_ACCESS = ["none", "read", "write"] as const;
export type AllowanceAccess = (typeof ALLOWANCE_ACCESS)[number];

/**
 * The scopes of the API. `write` includes reading. `upstream` adds the holder's upstream tokens, and needs
 * `read` or `write`. `admin` operates the service; it gives no access to accounts, and `read` and `write` give
 * none to operating.
 */
export const API_SCOPES = ["read", "write", "upstream", "admin"] as const;
type ApiScope = (typeof API_SCOPES)[number];

/** The rights that the scopes of an allowance give. */
interface ScopeRights {
  readonly access: AllowanceAccess;
  /**
   * Whether it may receive the holder's upstream tokens. Apps and caps cannot limit what those give access to,
   * so the approver decides this separately.
   */
  readonly upstream: boolean;
  /**
   * Whether it operates the service, as long as its holder is an operator. Only an operator can approve this.
   * The other limits concern the holder's account and do not apply then.
   */
  readonly admin: boolean;
}

/** The limits that a person sets when approving an allowance. */
export interface AllowanceLimits extends ScopeRights {
  /** The slugs of the only apps that it may act for; null: all. */
  readonly app_slugs: readonly string[] | null;
  /** At most one for each period; empty: only the balance limits it. */
  readonly caps: readonly SpendingCap[];
}

/** No limits: the default of an approval. Never `admin`. */
export const FULL_ACCESS: AllowanceLimits = {
  access: "write",
  upstream: true,
  admin: false,
  app_slugs: null,
  caps: [],
};

/** A personal access token to be created. */
export interface NewAllowance {
  readonly id: string;
  /** The name that its holder sees. */
  readonly label: string;
  /** The app that requested it. The device client states this; it is not verified. */
  readonly app_slug: string | null;
  /** The OAuth client that collected it; left out: none. */
  readonly client_id?: string;
  readonly limits: AllowanceLimits;
  /** The session that approved it, and that session's sign-in method; null: the method was unlinked since. */
  readonly session_id: string;
  readonly signin_method: string | null;
  /** Whether it ends with the session. It always ends with the sign-in method. */
  readonly ends_with_session: boolean;
  readonly expires_at_ms: number;
}

/** The rights that scopes give. Scopes of other servers, and those about the person such as `openid`, permit nothing here. */
export function rightsOf(scopes: readonly string[]): ScopeRights {
  const access = scopes.includes("write") ? "write" : scopes.includes("read") ? "read" : "none";
  return { access, upstream: scopes.includes("upstream"), admin: scopes.includes("admin") };
}

/** The scopes that permit this. */
export function scopesOf({ access, upstream, admin }: ScopeRights): readonly ApiScope[] {
  return [
    ...(access === "none" ? [] : (["read"] as const)),
    ...(access === "write" ? (["write"] as const) : []),
    ...(upstream ? (["upstream"] as const) : []),
    ...(admin ? (["admin"] as const) : []),
  ];
}

/** A holder's changes to an allowance; undefined: unchanged. */
export interface AllowanceChange {
  readonly label?: string | undefined;
  readonly caps?: readonly SpendingCap[] | undefined;
  readonly app_slugs?: readonly string[] | null | undefined;
}

/** Whether a change permits anything that the limits do not. */
export function widens(
  limits: Pick<AllowanceLimits, "app_slugs" | "caps">,
  { caps = limits.caps, app_slugs = limits.app_slugs }: AllowanceChange,
): boolean {
  const keeps_caps = limits.caps.every(({ period, credits }) =>
    caps.some((cap) => cap.period === period && cap.credits <= credits),
  );
  return !keeps_caps || !isSubset(app_slugs, limits.app_slugs);
}

/** Whether one list of apps allows no app that the other does not; null: all apps. */
export function isSubset(apps: readonly string[] | null, of: readonly string[] | null): boolean {
  return of === null || (apps !== null && apps.every((slug) => of.includes(slug)));
}

/**
 * The ids in a path: the allowance's own, then those of the allowances that it was exchanged from, up to the root. Each
 * limits those before it.
 */
export function idsOfPath(path: string | null): readonly string[] {
  return path === null ? [] : path.split(" ");
}

/** The id of the allowance at the root of a path, which the holder approved. */
export function rootOfPath(path: string): string {
  return path.slice(path.lastIndexOf(" ") + 1);
}

/** The limits of an allowance, given its own limits and then those of its ancestors: what all of them permit. */
export function limitsOfChain(
  own: AllowanceLimits,
  ancestors: readonly AllowanceLimits[],
): AllowanceLimits {
  return ancestors.reduce(
    (limits, ancestor) => ({
      ...limits,
      app_slugs: commonApps(limits.app_slugs, ancestor.app_slugs),
      caps: [...limits.caps, ...ancestor.caps],
    }),
    own,
  );
}

/** The apps that both lists allow; null: all apps. */
function commonApps(
  own: readonly string[] | null,
  other: readonly string[] | null,
): readonly string[] | null {
  if (own === null || other === null) return own ?? other;
  return own.filter((slug) => other.includes(slug));
}

/** The refusal if an allowance may not receive upstream tokens; null if it may. */
export function whyNoUpstream({ upstream }: ScopeRights): Refusal | null {
  return upstream ? null : { code: "scope", reason: "no_upstream" };
}

/** Whether a person limited what an allowance can do in their account. */
export function isLimited({ app_slugs, caps, access }: AllowanceLimits): boolean {
  return app_slugs !== null || caps.length > 0 || access !== "write";
}

/**
 * The refusal if an allowance may not start a purchase; null if it may. A person who limits one does not expect it to
 * spend money, and no client's consent page lists this right.
 */
export function whyNoPurchase(
  allowance: Parameters<typeof consentedClient>[0],
  limits: AllowanceLimits,
): Refusal | null {
  const may = consentedClient(allowance) === null && !isLimited(limits);
  return may ? null : { code: "scope", reason: "no_purchase" };
}

/**
 * The refusal if an allowance may not see and stop everything with access to the account; null if it may. Only a token that
 * the person made without limits may: no client's consent page lists this right.
 */
export function whyNotWhole(
  { kind }: { readonly kind: AllowanceKind },
  limits: AllowanceLimits,
): Refusal | null {
  return kind === "device" && !isLimited(limits) ? null : { code: "scope", reason: "not_whole" };
}

/** The facts about the person that a credential may learn. */
export interface PersonalRights {
  readonly name: boolean;
  /** The e-mail address, and whether it is verified. */
  readonly email: boolean;
}

/**
 * The client whose rights a consent page listed; null: none. The page of a device login lists the rights of every personal
 * access token, also of one that a client collects.
 */
export function consentedClient({
  kind,
  client_id,
}: {
  readonly kind: AllowanceKind;
  readonly client_id: string | null;
}): string | null {
  return kind === "device" ? null : client_id;
}

/**
 * A client learns what its scopes name, because its consent page lists nothing else. A token that the person made learns both,
 * unless they limited it.
 */
export function personalRightsOf(
  allowance: Parameters<typeof consentedClient>[0] & { readonly scopes: string },
  limits: AllowanceLimits,
): PersonalRights {
  const known = consentedClient(allowance) === null ? null : allowance.scopes.split(" ");
  if (known === null) return isLimited(limits) ? NO_PERSON : WHOLE_PERSON;
  return { name: known.includes("profile"), email: known.includes("email") };
}

export const WHOLE_PERSON: PersonalRights = { name: true, email: true };
export const NO_PERSON: PersonalRights = { name: false, email: false };

/**
 * Whether an allowance is of a connection that lets the app of its resource charge: with an exchanged token the app starts
 * and ends its own jobs for the connection, and does nothing else.
 */
export function mayCharge({ scopes }: { readonly scopes: string }): boolean {
  return readScope(scopes).includes(CHARGE_SCOPE);
}

/** Whether an allowance with these scopes can cost its holder credits, so that its caps matter. */
export function maySpend(scopes: readonly string[]): boolean {
  return scopes.includes("write") || scopes.includes(CHARGE_SCOPE);
}

/** The access of scopes as its holder reads it: to be charged is to let someone spend. */
export function shownAccess(scopes: readonly string[]): AllowanceAccess {
  return maySpend(scopes) ? "write" : rightsOf(scopes).access;
}

/** The refusal if an allowance does not have this access; null if it does. */
export function whyNoAccess(limits: ScopeRights, wanted: AllowanceAccess): Refusal | null {
  const allows = (access: AllowanceAccess) => ALLOWANCE_ACCESS.indexOf(access);
  if (allows(limits.access) >= allows(wanted)) return null;
  if (limits.access !== "none") return { code: "scope", reason: "read_only" };
  return { code: "scope", reason: limits.admin ? "admin_only" : "signin_only" };
}

/**
 * The refusal if an allowance may not operate the service; null if it may, provided that its holder is an operator.
 */
export function whyNoAdmin({ admin }: ScopeRights): Refusal | null {
  return admin ? null : { code: "not_operator" };
}

/** The refusal if an allowance may not act for this app; null if it may. */
export function whyNotForApp(
  { app_slugs }: Pick<AllowanceLimits, "app_slugs">,
  app_slug: string | null,
): Refusal | null {
  if (app_slugs === null) return null;
  if (app_slug !== null && app_slugs.includes(app_slug)) return null;
  return { code: "scope", reason: "other_app" };
}

type CapRefusal = Extract<Refusal, { readonly code: "token_budget_exceeded" }>;

/** The refusal if one of the caps does not permit to spend so much more; null if all do. Returning is always allowed. */
export function whyCapExceeded(
  caps: readonly CapSpending[],
  credits: number,
  now_ms: number,
): CapRefusal | null {
  const tightest = tightestCap(caps, now_ms);
  if (tightest === null) return null;
  const room = roomNow(tightest, now_ms);
  if (credits <= room) return null;
  const cap = { credits: tightest.credits, period: tightest.period };
  const spent = spentNow(tightest, now_ms);
  const resets_at_ms = resetsAt(tightest, now_ms);
  return { code: "token_budget_exceeded", cap, spent, room, required: credits, resets_at_ms };
}
