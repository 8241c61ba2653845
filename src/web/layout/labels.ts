/** Labels and sentences of the account pages, and how numbers are written. */
import type { JobFailure, JobStatus } from "../../domain/job.ts";
import type { EntryKind } from "../../domain/ledger.ts";
import { say, t, type PlainText, type Said } from "../language/text.tsx";
import { currentLocale } from "./shell.ts";

/** The name of each kind of ledger entry. */
export const ENTRY_NAMES: Readonly<Record<EntryKind, PlainText>> = {
  open: "Account opened",
  grant: "Starter credits",
  reserve: "Held",
  settle: "Charged",
  refund: "No longer held",
  job_refund: "Refunded by the operator",
  adjustment: "Adjusted by the operator",
  purchase: "Credits bought",
  purchase_refund: "Purchase refunded",
  plan: "Plan changed",
  suspend: "Account suspended",
  restore: "Suspension ended",
  debt: "Debt of your deleted account",
  expire: "Credits expired",
  recurring: "Credits of your plan",
  rollover: "Unused credits kept",
  recovery: "Account restored to an earlier time",
};

/** A `purchase_refund` with a positive amount: a dispute was won. */
export const DISPUTE_WON: PlainText = "Purchase restored";

/** A `debt` with a positive amount: a payment of the deleted account came back. */
export const DEBT_LOWERED: PlainText = "Debt of your deleted account lowered";

interface StateOfJob {
  readonly status: JobStatus;
  readonly failure: JobFailure | null;
}

export const JOB_STATUS_NAMES: Readonly<Record<JobStatus, PlainText>> = {
  started: "Running",
  completed: "Done",
  failed: "Failed",
};

/** The state of a job in the language of the page, which also says whether a failed one timed out or was cancelled. */
export function stateName({ status, failure }: StateOfJob): string {
  if (failure === "cancelled") return t("Cancelled");
  return t(failure === "expired" ? "Timed out" : JOB_STATUS_NAMES[status]);
}

/** Why a balance is below zero; `cause` is the entry that took it there. */
export function debtReason(
  cause: { readonly kind: EntryKind; readonly note: string | null } | null,
): string {
  const reasons: Readonly<Partial<Record<EntryKind, string>>> = {
    adjustment: cause?.note
      ? t("The operator of this service took credits away: “{note}”.", { note: cause.note })
      : t("The operator of this service took credits away."),
    purchase_refund: t("A payment was refunded after its credits were spent."),
    debt: t("The account that you deleted owed these credits."),
  };
  return reasons[cause?.kind ?? "settle"] ?? t("A job cost more than was held for it.");
}

/** The page that a buyer returns to from the checkout. */
export const CHECKOUT_TEXTS = {
  paid: {
    title: "Thank you, your credits have arrived",
    text: "You can use them in every app now.",
  },
  waiting: {
    title: "Waiting for your payment",
    text: "Stripe usually confirms a payment within seconds; some payment methods take days. Your credits arrive automatically, even if you close this page.",
  },
  cancelled: {
    title: "Checkout cancelled",
    text: "You left the checkout before paying. You were not charged.",
  },
} as const;

/** A slug as a name: `pro-plus` becomes "Pro plus". */
export function nameFromSlug(slug: string): string {
  const name = slug.replace(/[._-]+/g, " ").trim();
  return name === "" ? slug : name.charAt(0).toUpperCase() + name.slice(1);
}

/** Created on first use: loading a locale takes a third of a cold start. */
const number_formats = new Map<string, Intl.NumberFormat>();

/** A whole number with grouped digits and a minus sign instead of a hyphen. */
export function number(value: number): string {
  const locale = currentLocale();
  const format = number_formats.get(locale) ?? new Intl.NumberFormat(locale);
  number_formats.set(locale, format);
  return format.format(value).replace("-", "\u2212");
}

/** A change of the balance, with its sign. */
export function signed(value: number): string {
  return value > 0 ? `+${number(value)}` : number(value);
}

/** "1 credit", "2 credits". */
export function credits(value: number): string {
  return counted(value, "credit", "credits");
}

/** A number with the singular or plural of its noun. */
export function counted(value: number, one: Said, many: Said): string {
  return `${number(value)} ${say(Math.abs(value) === 1 ? one : many)}`;
}

/** The held credits and their jobs; null without started jobs. */
export function holdSentence(held: number, open_jobs: number): string | null {
  if (open_jobs === 0) return null;
  const jobs = counted(open_jobs, "running job", "running jobs");
  return t("{count} held for {jobs}", { count: number(held), jobs });
}

/** A program and its system, as `programOf` stores them, in the language of the page. */
export function programText(stored: string): string {
  const [program = "", system] = stored.split(" on ");
  return system === undefined ? stored : t("{program} on {system}", { program, system });
}
