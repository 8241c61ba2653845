/**
 * The limits of a personal access token: reading or writing, which apps, how many credits, and upstream tokens.
 * Pure; the Account object applies these rules inside the transaction of the operation.
 */
import type { Refusal } from "./refusals.ts";
import { resetsAt, roomNow, spentNow, type CapSpending, type SpendingCap } from "./spending_cap.ts";

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

/** The refusal if a token may not spend this much more; null if it may. Returning credits is always allowed. */
export function whyCapExceeded(
  budget: CapSpending,
  credits: number,
  now_ms: number,
): Refusal | null {
  const room = roomNow(budget, now_ms);
  if (credits <= 0 || credits <= room) return null;
  const { cap } = budget;
  const spent = spentNow(budget, now_ms);
  const resets_at_ms = resetsAt(budget, now_ms);
  return { code: "token_budget_exceeded", cap, spent, room, required: credits, resets_at_ms };
}
