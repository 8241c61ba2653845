/** Automatic top-up: how much one charge buys, when it is tried again, and what ends it. Pure; see docs/payments.md. */

/** The most packages that one charge buys. */
const PACKAGES_PER_CHARGE_MAX = 100;

/** The highest amount of one payment at Stripe, in the currency's smallest unit; so the highest limit of a month too. */
export const TOP_UP_LIMIT_MAX_MINOR = 99_999_999;

/** The highest threshold, in credits. */
export const TOP_UP_THRESHOLD_MAX = 1_000_000_000;

/** Failed charges in a row after which automatic top-up is off. */
const FAILURES_MAX = 3;

/** The shortest pause after a failed charge. */
export const TOP_UP_RETRY_MS = 60 * 60_000;

/** When a charge with an unknown outcome is requested again under the same key, after its first request. */
const ASKED_AGAIN_AFTER_MS = [60_000, 5 * 60_000, 15 * 60_000];

/** Requests for one charge. After the last one it is only looked up. */
export const ASKED_MAX = 1 + ASKED_AGAIN_AFTER_MS.length;

/** When it is first looked up at Stripe, after its first request; then once an hour. */
const LOOKED_UP_AFTER_MS = 30 * 60_000;

/** A charge that Stripe does not list this long after its last request was never made. No request takes as long. */
export const CHARGE_MISSING_AFTER_MS = 10 * 60_000;

/** Why a charge failed for good. `refused`: Stripe did not accept the request, such as a card that was removed there. */
export const CHARGE_FAILURES = ["declined", "authentication_required", "refused"] as const;
export type ChargeFailure = (typeof CHARGE_FAILURES)[number];

/** Why automatic top-up is off. `holder`: the holder switched it off. `refused`: also if a refund or dispute left too few credits. */
export const TOP_UP_OFF_REASONS = [
  "holder",
  ...CHARGE_FAILURES,
  "package_changed",
  "suspended",
] as const;
export type TopUpOffReason = (typeof TOP_UP_OFF_REASONS)[number];

/**
 * `ready` the balance is high enough · `pending` a charge is due or on its way · `retrying` a charge failed, and the next one
 * follows · `limit_reached` nothing more fits into the month's limit. The others are {@link TopUpOffReason}s.
 */
export const TOP_UP_STATES = [
  "ready",
  "pending",
  "retrying",
  "limit_reached",
  ...TOP_UP_OFF_REASONS,
] as const;
export type TopUpState = (typeof TOP_UP_STATES)[number];

/** The outcome of a top-up. `dropped`: nothing was charged, because it was no longer needed or allowed. */
export const TOP_UP_OUTCOMES = ["due", "done", "failed", "dropped"] as const;
export type TopUpOutcome = (typeof TOP_UP_OUTCOMES)[number];

/** A package, as the holder chose it. `unit_minor`: its price in the currency's smallest unit. */
export interface ToppedUpPackage {
  readonly package_id: string;
  readonly package_name: string;
  /** Credits of one package. */
  readonly credits: number;
  /** The payment service's id of the price. */
  readonly price: string;
  readonly unit_minor: number;
  readonly currency: string;
  readonly expires_after_days?: number | undefined;
  readonly app_slugs?: readonly string[] | undefined;
}

/** The holder's choice. A charge follows when fewer than `threshold` credits are available. */
export interface TopUpPlan extends ToppedUpPackage {
  readonly threshold: number;
  /** The most that may be charged in a calendar month (UTC), in the currency's smallest unit. */
  readonly month_limit_minor: number;
}

/** A card that Stripe keeps. `card`: how people recognise it, such as "Visa ending in 4242". */
export interface SavedCard {
  readonly customer_id: string;
  readonly payment_method_id: string;
  readonly card: string;
}

/** One charge, with everything that its request to Stripe consists of, so that it can be repeated exactly. */
export interface Charge extends Pick<SavedCard, "customer_id" | "payment_method_id"> {
  readonly identity_id: string;
  /** The account's own id: a new account of the same person never repeats a charge. */
  readonly account_id: string;
  readonly number: number;
  readonly attempt: number;
  readonly package_id: string;
  /** Credits of all packages. */
  readonly credits: number;
  readonly amount_minor: number;
  readonly currency: string;
  readonly created_at_ms: number;
}

/** `unknown`: it may have been made. `missing`: Stripe does not list it. */
export type ChargeResult =
  | {
      readonly kind: "succeeded";
      readonly payment_intent_id: string;
      readonly paid_minor: number;
      readonly currency: string;
    }
  | {
      readonly kind: "failed";
      readonly reason: ChargeFailure;
      readonly payment_intent_id: string | null;
    }
  | { readonly kind: "unknown" }
  | { readonly kind: "missing" };

/** A charge that failed for good, by its number in the account. */
export interface FailedCharge {
  readonly number: number;
  readonly reason: ChargeFailure;
  readonly payment_intent_id: string | null;
}

/** The payment service, as the account's object uses it. The methods never throw. */
export interface CardCharges {
  /** Whether the package is for sale as the holder chose it. */
  readonly isForSale: (wanted: ToppedUpPackage) => boolean;
  /** Charges the card. Repeating it charges nothing more. */
  readonly charge: (charge: Charge) => Promise<ChargeResult>;
  /** Looks a charge up, and makes none. */
  readonly find: (charge: Charge) => Promise<ChargeResult>;
}

/** The packages that one charge buys: as many as close the gap and fit into what the month's limit leaves; 0: none fits. */
export function packagesToBuy(
  { threshold, credits: of_package, unit_minor, month_limit_minor }: TopUpPlan,
  { credits, month_spent_minor }: { readonly credits: number; readonly month_spent_minor: number },
): number {
  const gap = threshold - credits;
  if (gap <= 0) return 0;
  // Rounds up in whole numbers: a quotient of large numbers is not exact.
  const wanted = (gap - 1 - ((gap - 1) % of_package)) / of_package + 1;
  const fitting = Math.floor(Math.max(0, month_limit_minor - month_spent_minor) / unit_minor);
  return Math.min(wanted, fitting, PACKAGES_PER_CHARGE_MAX);
}

/** Why top-up is off after this failure, the last of `failures` in a row; null: it is tried again. */
export function offAfter(reason: ChargeFailure, failures: number): TopUpOffReason | null {
  return reason === "authentication_required" || failures >= FAILURES_MAX ? reason : null;
}

/** When a charge is continued that was requested `asked` times, first at `first_asked_at_ms`. */
export function continuedAt(asked: number, first_asked_at_ms: number, now_ms: number): number {
  const after_ms = ASKED_AGAIN_AFTER_MS[asked - 1];
  if (after_ms !== undefined) return Math.max(now_ms + 60_000, first_asked_at_ms + after_ms);
  return Math.max(now_ms + CHARGE_MISSING_AFTER_MS, first_asked_at_ms + LOOKED_UP_AFTER_MS);
}

/** Whether a charge may be requested again. Stripe forgets keys after a day, so an old one is only looked up. */
export function mayAskAgain(asked: number, first_asked_at_ms: number, now_ms: number): boolean {
  return asked < ASKED_MAX && now_ms - first_asked_at_ms < LOOKED_UP_AFTER_MS;
}
