/** The lists of the payment service that a reconciliation compares with the accounts. */
import type { PaymentEffect } from "./payment_event.ts";

/** In the order in which they are read. */
export const PAYMENT_LISTS = ["checkouts", "top_ups", "refunds", "disputes"] as const;
export type PaymentList = (typeof PAYMENT_LISTS)[number];

/** A place in the lists: behind the object with this id; null: at the beginning of the list. */
export interface ListPosition {
  readonly list: PaymentList;
  readonly after: string | null;
}

/** An object of a list. `read` returns what it means, and throws if it does not have the documented form. */
export interface ListedPayment {
  readonly id: string;
  readonly read: () => Promise<PaymentEffect>;
}

export interface PaymentPage {
  readonly payments: readonly ListedPayment[];
  /** Null: this was the last page of the last list. */
  readonly next: ListPosition | null;
}

export const FIRST_POSITION: ListPosition = { list: PAYMENT_LISTS[0], after: null };

/** The position after a page whose list goes on behind `last`, or has ended (null). */
export function positionAfter(list: PaymentList, last: string | null): ListPosition | null {
  if (last !== null) return { list, after: last };
  const next = PAYMENT_LISTS[PAYMENT_LISTS.indexOf(list) + 1];
  return next === undefined ? null : { list: next, after: null };
}

export function writeCursor({ list, after }: ListPosition): string {
  return after === null ? list : `${list}:${after}`;
}

/** Null: the text is not a cursor. */
export function readCursor(cursor: string): ListPosition | null {
  const [, name, after = null] = /^([a-z_]+)(?::(\w{1,255}))?$/.exec(cursor) ?? [];
  const list = PAYMENT_LISTS.find((it) => it === name);
  return list === undefined ? null : { list, after };
}
