/** All words of the account's pages that are not markup: names, kinds, states, and sentences. */
import type { EntryKind } from "../../domain/ledger.ts";

/** What a line of the passbook is, in two words. */
export const ENTRY_NAMES: Readonly<Record<EntryKind, string>> = {
  open: "Account opened",
  grant: "Starter credits",
  reserve: "Put on hold",
  settle: "Charged",
  refund: "Hold released",
  adjustment: "Adjusted by the operator",
  purchase: "Credits bought",
  purchase_refund: "Purchase refunded",
  plan: "Plan changed",
  debt: "Owed from your deleted account",
};

/** Credits that come back with money that was held in a dispute. */
export const DISPUTE_WON = "Purchase restored";

/** Why a balance is below zero, by the line that took it there. */
export function debtWords(
  cause: { readonly kind: EntryKind; readonly note: string | null } | null,
): string {
  const words: Readonly<Partial<Record<EntryKind, string>>> = {
    adjustment: `The operator of this service took credits away${cause?.note ? `: “${cause.note}”` : ""}.`,
    purchase_refund: "A payment went back after its credits were spent.",
    debt: "The account that you deleted owed these credits.",
  };
  return words[cause?.kind ?? "settle"] ?? "A job cost more than was held for it.";
}

/** Coming back from a checkout. */
export const CHECKOUT_WORDS = {
  paid: {
    title: "Thank you, your credits are here",
    text: "You can use them in every app at once.",
  },
  waiting: {
    title: "Waiting for your payment",
    text: "Stripe has your order and confirms the payment, mostly within seconds; some ways of paying take days. Credits arrive by themselves, also when you close this page.",
  },
  cancelled: {
    title: "Nothing was bought",
    text: "You left the checkout before paying, so nothing was charged.",
  },
} as const;

/** A slug as a name: `pro-plus` reads "Pro plus". */
export function nameFromSlug(slug: string): string {
  const words = slug.replace(/[._-]+/g, " ").trim();
  return words === "" ? slug : words.charAt(0).toUpperCase() + words.slice(1);
}

let number_format: Intl.NumberFormat | null = null;

/** A whole number of credits with its digits in groups, and a true minus sign. */
export function number(value: number): string {
  // Made at the first number: it loads the language, a third of a cold start.
  number_format ??= new Intl.NumberFormat("en-GB");
  return number_format.format(value).replace("-", "\u2212");
}

/** A change of the balance, with its sign. */
export function signed(value: number): string {
  return value > 0 ? `+${number(value)}` : number(value);
}

/** "1 credit", "2 credits". */
export function credits(value: number): string {
  return counted(value, "credit", "credits");
}

/** A number with the word for what it counts. */
export function counted(value: number, one: string, many: string): string {
  return `${number(value)} ${Math.abs(value) === 1 ? one : many}`;
}

/** What is held, and for what; null where nothing is. */
export function holdSentence(reserved: number, open_jobs: number): string | null {
  if (open_jobs === 0) return null;
  return `${number(reserved)} on hold for ${counted(open_jobs, "running job", "running jobs")}`;
}
