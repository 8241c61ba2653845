/** The texts about automatic top-up. */
import type { ChargeFailure, TopUpOutcome, TopUpState } from "../../domain/top_up.ts";
import type { PlainText } from "../language/text.tsx";

interface StateText {
  readonly title: PlainText;
  /** Its meaning, and how to go on. */
  readonly text: PlainText;
  /** Whether every page of the account says it until the holder acts. */
  readonly is_notice: boolean;
}

export const TOP_UP_STATE_TEXTS: Readonly<Record<TopUpState, StateText>> = {
  ready: {
    title: "On.",
    text: "Your balance is high enough. Nothing is charged until it falls below your threshold.",
    is_notice: false,
  },
  pending: {
    title: "On. A payment is on its way.",
    text: "The credits arrive as soon as Stripe confirms the payment, usually within seconds.",
    is_notice: false,
  },
  retrying: {
    title: "On. The last payment failed.",
    text: "The next attempt follows an hour after it. After three that fail in a row, automatic top-up is switched off. You can save another card, or buy credits by hand.",
    is_notice: false,
  },
  limit_reached: {
    title: "On. This month’s limit is reached.",
    text: "No package fits into what is left of it, so nothing is charged before the next month (UTC). To go on now, raise the limit, or buy credits by hand.",
    is_notice: true,
  },
  holder: {
    title: "Off.",
    text: "You switched it off. Nothing is charged.",
    is_notice: false,
  },
  declined: {
    title: "Off. Your card was declined three times.",
    text: "Nothing more is charged. Save another card, or ask your bank and switch it on again.",
    is_notice: true,
  },
  authentication_required: {
    title: "Off. Your bank wants you to confirm payments yourself.",
    text: "So the card cannot be charged without you, and nothing was charged. Buy credits by hand, where your bank can ask you, or save another card.",
    is_notice: true,
  },
  refused: {
    title: "Off. Stripe did not accept the saved card, or returned a payment.",
    text: "The card may have expired or been removed, or a refund or dispute left too few credits. Nothing more is charged. Save a card, or switch it on again.",
    is_notice: true,
  },
  package_changed: {
    title: "Off. The package has changed.",
    text: "The package that you chose is no longer for sale at its price, so nothing is charged. Choose again.",
    is_notice: true,
  },
  suspended: {
    title: "Off. Your account was suspended.",
    text: "Nothing is charged. You can switch it on again.",
    is_notice: true,
  },
};

export const TOP_UP_OUTCOME_TEXTS: Readonly<Record<TopUpOutcome, PlainText>> = {
  due: "On its way",
  done: "Paid",
  failed: "Failed",
  dropped: "Not needed any more",
};

export const TOP_UP_FAILURES: Readonly<Record<ChargeFailure, PlainText>> = {
  declined: "the card was declined",
  authentication_required: "the bank requires a confirmation",
  refused: "Stripe did not accept the card",
};
