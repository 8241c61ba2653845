/**
 * The limits of a personal access token: reading or writing, which apps, how many credits, and upstream tokens.
 * Pure; the Account object applies these rules inside the transaction of the operation.
 */
import type { Refusal } from "./refusals.ts";

/** The period of a spending cap "per 30 days", counted from the token's creation. */
export const PERSONAL_TOKEN_BUDGET_PERIOD_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * A token's access to its holder's account. Each level includes the ones before it. `none`: no access to the
 * account; the token only operates the service.
 */
export const PERSONAL_TOKEN_ACCESS = ["none", "read", "write"] as const;
export type PersonalTokenAccess = (typeof PERSONAL_TOKEN_ACCESS)[number];

/**
 * The scopes of the API. `write` includes reading. `upstream` adds the holder's upstream tokens, and needs
 * `read` or `write`. `admin` operates the service; it gives no access to accounts, and `read` and `write` give
 * none to operating.
 */
export const PERSONAL_TOKEN_SCOPES = ["read", "write", "upstream", "admin"] as const;

/** `total`: over the token's whole lifetime. `30_days`: again in each 30 days since its creation. */
export const CAP_PERIODS = ["total", "30_days"] as const;
export type CapPeriod = (typeof CAP_PERIODS)[number];

export interface SpendingCap {
  readonly credits: number;
  readonly period: CapPeriod;
}

/** The limits that a person sets when approving a token. They never change. */
export interface PersonalTokenLimits {
  readonly access: PersonalTokenAccess;
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
  /** The slugs of the only apps that it may act for; null: all. */
  readonly app_slugs: readonly string[] | null;
  /** Null: only the balance limits it. */
  readonly cap: SpendingCap | null;
}

/** A token without limits: the default of an approval. Never `admin`. */
export const FULL_ACCESS: PersonalTokenLimits = {
  access: "write",
  upstream: true,
  admin: false,
  app_slugs: null,
  cap: null,
};

/** A token to be created. */
export interface NewPersonalToken {
  readonly id: string;
  /** The name that its holder sees. */
  readonly label: string;
  /** The app that requested it. The device client states this; it is not verified. */
  readonly app_slug: string | null;
  readonly limits: PersonalTokenLimits;
  /** The session that approved it, and that session's sign-in method; null: the method was unlinked since. */
  readonly session_id: string;
  readonly signin_method: string | null;
  /** Whether it ends with the session. It always ends with the sign-in method. */
  readonly ends_with_session: boolean;
  readonly expires_at_ms: number;
}

/** Why a token may not do what it requested. */
export type ScopeReason =
  | "read_only"
  /** It only operates the service and has no access to accounts. */
  | "admin_only"
  | "other_app"
  /** It is limited to some apps, and the request concerns the whole account. */
  | "apps_only"
  | "no_upstream"
  /** It has a spending cap, and it did not create the job. */
  | "capped"
  /** It has limits, and a limited token may not buy. */
  | "no_purchase"
  /** It may only revoke itself. */
  | "itself_only"
  /** It is a token, and only the holder's session may do this. */
  | "holder_only"
  /** The origin that uses the session may not receive upstream tokens of this provider. */
  | "upstream_origin"
  /** The job's token had a spending cap and has ended. The job may cost at most its reserve. */
  | "cap_ended"
  /** It is an app key, which acts only for that app's jobs. */
  | "app_key";

/** The refusal if a token may not receive upstream tokens; null if it may. */
export function whyNoUpstream({ upstream }: PersonalTokenLimits): Refusal | null {
  return upstream ? null : { code: "scope", reason: "no_upstream" };
}

/**
 * The refusal if a token may not start a purchase; null if it may. A person who limits a token does not expect
 * it to spend money.
 */
export function whyNoPurchase({ app_slugs, cap, access }: PersonalTokenLimits): Refusal | null {
  const is_limited = app_slugs !== null || cap !== null || access !== "write";
  return is_limited ? { code: "scope", reason: "no_purchase" } : null;
}

/** The refusal if a token does not have this access; null if it does. */
export function whyNoAccess(
  limits: PersonalTokenLimits,
  wanted: PersonalTokenAccess,
): Refusal | null {
  const allows = (access: PersonalTokenAccess) => PERSONAL_TOKEN_ACCESS.indexOf(access);
  if (allows(limits.access) >= allows(wanted)) return null;
  return { code: "scope", reason: limits.access === "none" ? "admin_only" : "read_only" };
}

/**
 * The refusal if a token may not operate the service; null if it may, provided that its holder is an operator.
 */
export function whyNoAdmin({ admin }: PersonalTokenLimits): Refusal | null {
  return admin ? null : { code: "not_operator" };
}

/** The refusal if a token may not act for this app; null if it may. */
export function whyNotForApp(limits: PersonalTokenLimits, app_slug: string | null): Refusal | null {
  if (limits.app_slugs === null) return null;
  if (app_slug !== null && limits.app_slugs.includes(app_slug)) return null;
  return { code: "scope", reason: "other_app" };
}

/** A cap and the credits spent under it: the reserves of started jobs and the cost of ended ones. */
export interface Budget {
  readonly cap: SpendingCap;
  readonly created_at_ms: number;
  /** Spent in the period with number `spent_window`. Spending of an earlier period does not count now. */
  readonly spent: number;
  readonly spent_window: number;
}

/** The number of the period at a time, from 0. A total cap has only one. */
export function windowAt(budget: Budget, at_ms: number): number {
  if (budget.cap.period === "total") return 0;
  return Math.floor((at_ms - budget.created_at_ms) / PERSONAL_TOKEN_BUDGET_PERIOD_MS);
}

/** The current period. It never decreases, even if the clock goes back. */
function currentWindow(budget: Budget, now_ms: number): number {
  return Math.max(budget.spent_window, windowAt(budget, now_ms));
}

/** Credits spent in the current period. */
export function spentNow(budget: Budget, now_ms: number): number {
  return currentWindow(budget, now_ms) === budget.spent_window ? budget.spent : 0;
}

/** Credits that the token may still spend now. */
export function roomNow(budget: Budget, now_ms: number): number {
  return Math.max(0, budget.cap.credits - spentNow(budget, now_ms));
}

/** When the next period begins; null: a total cap has no next one. */
function resetsAt(budget: Budget, now_ms: number): number | null {
  if (budget.cap.period === "total") return null;
  const next = currentWindow(budget, now_ms) + 1;
  return budget.created_at_ms + next * PERSONAL_TOKEN_BUDGET_PERIOD_MS;
}

/** The refusal if a token may not spend this much more; null if it may. Returning credits is always allowed. */
export function whyOverBudget(budget: Budget, credits: number, now_ms: number): Refusal | null {
  const room = roomNow(budget, now_ms);
  if (credits <= 0 || credits <= room) return null;
  const { cap } = budget;
  const spent = spentNow(budget, now_ms);
  const resets_at_ms = resetsAt(budget, now_ms);
  return { code: "token_budget_exceeded", cap, spent, room, required: credits, resets_at_ms };
}

/**
 * The spending after a job of the token changed it by `credits` (positive: spent; negative: returned). Spent
 * credits count in the current period. Returned credits count only if they were reserved in the current period:
 * otherwise a refund of an old period would let the new one exceed its cap.
 */
export function charge(
  budget: Budget,
  credits: number,
  reserved_at_ms: number,
  now_ms: number,
): Pick<Budget, "spent" | "spent_window"> {
  const spent_window = currentWindow(budget, now_ms);
  const spent = spentNow(budget, now_ms);
  const lost = credits < 0 && windowAt(budget, reserved_at_ms) !== spent_window;
  return { spent: lost ? spent : spent + credits, spent_window };
}
