/**
 * Token exchange (RFC 8693): a client exchanges a token for one that may do less, such as for an agent. The narrower right
 * is a child of the allowance behind the token, and never wider than it or any of its ancestors. The app of a resource that
 * charges exchanges a token for the resource for one of our API that only charges. Pure.
 */
import { isSubset, type AllowanceLimits } from "./allowance.ts";
import { ALLOWANCE_DEPTH_MAX } from "./limits.ts";
import { CHARGE_SCOPE } from "./oauth_scopes.ts";
import type { SpendingCap } from "./spending_cap.ts";

/** The most that the narrower token may do; undefined: as much as the exchanged one. */
export interface Narrowing {
  readonly scopes?: readonly string[] | undefined;
  readonly app_slugs?: readonly string[] | undefined;
  readonly caps?: readonly SpendingCap[] | undefined;
  readonly expires_at_ms?: number | undefined;
}

/** An allowance as far as these rules need it. */
interface Narrowable {
  readonly scopes: readonly string[];
  /** The rights that it and all its ancestors permit. */
  readonly limits: Pick<AllowanceLimits, "app_slugs" | "caps">;
  readonly expires_at_ms: number;
  /** How many allowances its path has, itself included. */
  readonly depth: number;
}

export type ExchangeProblem =
  | "wider_scope"
  | "wider_apps"
  | "wider_caps"
  | "later_expiry"
  | "too_deep"
  | "too_many_children"
  | "not_charging"
  | "charge_narrowed";

/** Whether a request asks for less than the allowance permits. If not, no child is needed. */
export function narrows(parent: Narrowable, narrowing: Narrowing): boolean {
  const { scopes, app_slugs, caps, expires_at_ms } = narrowing;
  const fewer_scopes = scopes !== undefined && !parent.scopes.every((it) => scopes.includes(it));
  const fewer_apps = app_slugs !== undefined && !isSubset(parent.limits.app_slugs, app_slugs);
  return (
    fewer_scopes ||
    fewer_apps ||
    (caps ?? []).length > 0 ||
    (expires_at_ms ?? Infinity) < parent.expires_at_ms
  );
}

/** Why an allowance has no child with these limits; null: it may have one. */
export function whyNoChild(parent: Narrowable, narrowing: Narrowing): ExchangeProblem | null {
  const { scopes = parent.scopes, app_slugs = parent.limits.app_slugs, caps = [] } = narrowing;
  if (!scopes.every((scope) => parent.scopes.includes(scope))) return "wider_scope";
  if (!isSubset(app_slugs, parent.limits.app_slugs)) return "wider_apps";
  if (!caps.every((cap) => isWithin(cap, parent.limits.caps))) return "wider_caps";
  if ((narrowing.expires_at_ms ?? 0) > parent.expires_at_ms) return "later_expiry";
  return parent.depth >= ALLOWANCE_DEPTH_MAX ? "too_deep" : null;
}

/**
 * Why the token of a connection cannot be exchanged for one with which an app charges; null: it can. The caps of the
 * connection bind the charges, so the request sets no others.
 */
export function whyNotCharge(
  { scopes, limits }: Pick<Narrowable, "scopes" | "limits">,
  app_slug: string,
  { scopes: wanted, caps, app_slugs, expires_at_ms }: Narrowing,
): ExchangeProblem | null {
  const may_charge = scopes.includes(CHARGE_SCOPE) && limits.app_slugs?.includes(app_slug) === true;
  if (!may_charge) return "not_charging";
  if (wanted?.some((scope) => scope !== CHARGE_SCOPE) === true) return "wider_scope";
  const is_narrowed = [caps, app_slugs, expires_at_ms].some((limit) => limit !== undefined);
  return is_narrowed ? "charge_narrowed" : null;
}

/** Whether a cap is at most every cap of the same period, and every total cap, of its ancestors. */
function isWithin({ credits, period }: SpendingCap, ancestors: readonly SpendingCap[]): boolean {
  return ancestors
    .filter((cap) => cap.period === period || cap.period === "total")
    .every((cap) => credits <= cap.credits);
}
