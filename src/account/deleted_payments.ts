/**
 * Refunds and disputes of payments whose account may be deleted, and the debts that they change. They come for months after
 * the payment; `purchases/kept_payments.ts` says what a deleted account keeps for them.
 */
import type { PaymentRecord } from "../domain/payment_event.ts";
import type { Purchase, Reversal } from "../domain/purchases.ts";
import { accepted, refused } from "../domain/result.ts";
import { SERVICE, type Answer, type Debt, type OwedNow } from "./contract.ts";
import { changeLeft, oweDebt } from "./deletion/deletion.ts";
import type { Instance } from "./instance.ts";
import {
  hashesOf,
  idsOfPayments,
  isKeptReversal,
  keepPayments,
  reverseKept,
  type HashOf,
} from "./purchases/kept_payments.ts";
import * as purchases from "./purchases/purchases.ts";

/** Changes a debt that the account took over, also if the account is deleted itself. May be repeated. */
export function changeDebt(account: Instance, debt: Debt): OwedNow {
  const { isDeleted, parts } = account;
  const known = parts?.store.readDebt(debt.id) ?? null;
  if (parts === null || known === null) return null;
  if (!isDeleted) {
    account.transact(SERVICE, "write", (it) => {
      oweDebt(it, debt);
      return accepted(null);
    });
    return null;
  }
  return account.context.storage.transactionSync(() => {
    parts.store.saveDebt(debt.id, debt.credits, Date.now());
    return { credits: changeLeft(parts, known - debt.credits) };
  });
}

/**
 * May be repeated, and is refused as `balance_limit`. A deleted account refuses reversals of payments that it does not
 * know.
 */
export async function recordReversal(
  account: Instance,
  reversal: Reversal,
): Promise<Answer<OwedNow>> {
  const hashOf = await keepPaymentsOfDeleted(account, reversal);
  const { parts } = account;
  if (hashOf === null || parts === null) {
    return account.transact(SERVICE, "write", (it) => purchases.recordReversal(it, reversal));
  }
  return account.context.storage.transactionSync(() => {
    const change = reverseKept(parts.purchases, hashOf, reversal);
    return change === null
      ? refused({ code: "account_unknown" })
      : accepted({ credits: changeLeft(parts, change) });
  });
}

/** Whether a purchase is recorded, or a refund or dispute in this state. */
export async function checkPayment(
  account: Instance,
  payment: Pick<Purchase, "checkout_session_id"> | Reversal,
): Promise<PaymentRecord> {
  const hashOf = "source_id" in payment ? await keepPaymentsOfDeleted(account, payment) : null;
  const { parts } = account;
  if (account.isDeleted) {
    if (parts === null || hashOf === null || !("source_id" in payment)) return "account_deleted";
    const is_known = isKeptReversal(parts.purchases, hashOf, payment);
    return is_known === null ? "account_deleted" : is_known ? "recorded" : "missing";
  }
  return parts !== null && purchases.isRecorded(parts.purchases, payment) ? "recorded" : "missing";
}

/** Keeps the payments of an account that is deleted but not erased. Null: the account is not deleted. */
async function keepPaymentsOfDeleted(
  { isDeleted, parts }: Instance,
  { payment_intent_id, source_id }: Reversal,
): Promise<HashOf | null> {
  const account = parts?.store.readAccount() ?? null;
  if (!isDeleted || parts === null || account === null) return null;
  const bought = parts.purchases;
  const ids = [payment_intent_id, source_id, ...idsOfPayments(bought)];
  const hashOf = await hashesOf(account.id, ids);
  if (parts.store.readAccount()?.erasure === "closing") keepPayments(bought, hashOf);
  return hashOf;
}
