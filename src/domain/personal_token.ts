/**
 * What a personal access token may do: read or also write, in which apps, for how many credits, and
 * whether it gets third parties' tokens.
 * Pure; the Account object asks these rules inside the transaction that they decide about.
 */
import type { Refusal } from "./refusals.ts";

/** The period of a spending cap "per 30 days", counted from the token's creation. */
export const PERSONAL_TOKEN_BUDGET_PERIOD_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * What a token may do in its owner's account, each including those before it. `none`: nothing there, it
 * only operates the service.
 */
export const PERSONAL_TOKEN_ACCESS = ["none", "read", "write"] as const;
export type PersonalTokenAccess = (typeof PERSONAL_TOKEN_ACCESS)[number];

/**
 * The scopes of the wire: `write` includes reading; `upstream` adds the tokens that third parties gave
 * for the user, and is nothing without one of these two; `admin` operates the service, and is nothing
 * to `read` and `write`, nor they to it.
 */
export const PERSONAL_TOKEN_SCOPES = ["read", "write", "upstream", "admin"] as const;

/** `total`: over the token's whole life. `30_days`: anew in each 30 days since its creation. */
export const CAP_PERIODS = ["total", "30_days"] as const;
export type CapPeriod = (typeof CAP_PERIODS)[number];

export interface SpendingCap {
  readonly credits: number;
  readonly period: CapPeriod;
}

/** The limits a person puts on a token when approving it; they never change. */
export interface PersonalTokenLimits {
  readonly access: PersonalTokenAccess;
  /**
   * Whether it may be handed the tokens that third parties gave for the user: what those open knows
   * nothing of our apps and caps, so it is a choice of its own.
   */
  readonly upstream: boolean;
  /**
   * Whether it operates the service, as long as its owner does. Only an operator can approve this. The
   * other limits are about the owner's account, and hold for none of it.
   */
  readonly admin: boolean;
  /** Slugs of the only apps it may act for; null: all. */
  readonly app_slugs: readonly string[] | null;
  /** Null: as far as the balance goes. */
  readonly cap: SpendingCap | null;
}

/** A token without limits, which is what approving gives where nothing else is said. Never `admin`. */
export const FULL_ACCESS: PersonalTokenLimits = {
  access: "write",
  upstream: true,
  admin: false,
  app_slugs: null,
  cap: null,
};

/** A token about to become valid. */
export interface NewPersonalToken {
  readonly id: string;
  /** What its owner knows it by. */
  readonly label: string;
  /** The app that asked for it, by its own word. */
  readonly app_slug: string | null;
  readonly limits: PersonalTokenLimits;
  /** The session that approved it, and that session's sign-in method; null: one unlinked before. */
  readonly session_id: string;
  readonly signin_method: string | null;
  /** Whether it ends with the session; it always ends with the sign-in method. */
  readonly ends_with_session: boolean;
  readonly expires_at_ms: number;
}

/** Why a token may not do what it asked for. */
export type ScopeReason =
  | "read_only"
  /** It operates the service, and is nothing to its owner's account. */
  | "admin_only"
  | "other_app"
  /** It is limited to some apps, and the question is about the person behind it. */
  | "apps_only"
  | "no_upstream"
  /** It has a spending cap, and the job is not one of its own. */
  | "capped"
  /** It has limits, and buying is not among what they allow. */
  | "no_purchase"
  /** It may revoke no token but itself. */
  | "itself_only"
  /** It is a token, and only the holder's own session may do this. */
  | "holder_only"
  /** The origin that acts by a session does not receive upstream tokens of this provider. */
  | "upstream_origin"
  /** The job's token had a spending cap and has ended: the job may cost what was reserved for it. */
  | "cap_ended"
  /** It is an app's key, which acts for that app's jobs alone. */
  | "app_key";

/** Why a token may not be handed third parties' tokens; null where it may. */
export function whyNoUpstream({ upstream }: PersonalTokenLimits): Refusal | null {
  return upstream ? null : { code: "scope", reason: "no_upstream" };
}

/**
 * Why a token may not start a purchase; null where it may. Whoever put a limit on a token did not mean it
 * to lead to a till.
 */
export function whyNoPurchase({ app_slugs, cap, access }: PersonalTokenLimits): Refusal | null {
  const is_limited = app_slugs !== null || cap !== null || access !== "write";
  return is_limited ? { code: "scope", reason: "no_purchase" } : null;
}

/** Why a token may not do this kind of thing; null where it may. */
export function whyNoAccess(
  limits: PersonalTokenLimits,
  wanted: PersonalTokenAccess,
): Refusal | null {
  const allows = (access: PersonalTokenAccess) => PERSONAL_TOKEN_ACCESS.indexOf(access);
  if (allows(limits.access) >= allows(wanted)) return null;
  return { code: "scope", reason: limits.access === "none" ? "admin_only" : "read_only" };
}

/** Why a token may not operate the service; null where it may, if its owner does. */
export function whyNoAdmin({ admin }: PersonalTokenLimits): Refusal | null {
  return admin ? null : { code: "not_operator" };
}

/** Why a token may not act for this app; null where it may. */
export function whyNotForApp(limits: PersonalTokenLimits, app_slug: string | null): Refusal | null {
  if (limits.app_slugs === null) return null;
  if (app_slug !== null && limits.app_slugs.includes(app_slug)) return null;
  return { code: "scope", reason: "other_app" };
}

/** A cap and what has been spent of it: reserves of started jobs, and the cost of ended ones. */
export interface Budget {
  readonly cap: SpendingCap;
  readonly created_at_ms: number;
  /** Spent in window `spent_window`; an earlier window's spending counts for nothing now. */
  readonly spent: number;
  readonly spent_window: number;
}

/** Number of the window that a moment falls into, from 0; a cap in total has only one. */
export function windowAt(budget: Budget, at_ms: number): number {
  if (budget.cap.period === "total") return 0;
  return Math.floor((at_ms - budget.created_at_ms) / PERSONAL_TOKEN_BUDGET_PERIOD_MS);
}

/** The window that counts now. It never goes back, even where the clock does. */
function currentWindow(budget: Budget, now_ms: number): number {
  return Math.max(budget.spent_window, windowAt(budget, now_ms));
}

/** Credits spent in the window that counts now. */
export function spentNow(budget: Budget, now_ms: number): number {
  return currentWindow(budget, now_ms) === budget.spent_window ? budget.spent : 0;
}

/** Credits that the token may still spend now. */
export function roomNow(budget: Budget, now_ms: number): number {
  return Math.max(0, budget.cap.credits - spentNow(budget, now_ms));
}

/** When the next window begins; null: a cap in total has no next. */
function resetsAt(budget: Budget, now_ms: number): number | null {
  if (budget.cap.period === "total") return null;
  const next = currentWindow(budget, now_ms) + 1;
  return budget.created_at_ms + next * PERSONAL_TOKEN_BUDGET_PERIOD_MS;
}

/** Why a token may not spend this much more; null where it may. Giving back is always allowed. */
export function whyOverBudget(budget: Budget, credits: number, now_ms: number): Refusal | null {
  const room = roomNow(budget, now_ms);
  if (credits <= 0 || credits <= room) return null;
  const { cap } = budget;
  const spent = spentNow(budget, now_ms);
  const resets_at_ms = resetsAt(budget, now_ms);
  return { code: "token_budget_exceeded", cap, spent, room, required: credits, resets_at_ms };
}

/**
 * The budget after a job of the token moved `credits` (positive: spent; negative: given back).
 * What is spent counts in the window of now. What is given back makes room only in the window in which
 * it was reserved: what an old window gets back does not let a new one spend more than its cap.
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
