/** Books what a payment means for its account: the only way from the payment service to an account's credits. */
import type { DropReason, PaymentEffect, PaymentRecord } from "../domain/payment_event.ts";
import type { Purchase, Reversal } from "../domain/purchases.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { FailedCharge, SavedCard } from "../domain/top_up.ts";

/** The debt of a deleted account after a change; null: the account is not deleted. */
type OwedNow = { readonly credits: number } | null;

interface Account {
  recordPurchase(purchase: Purchase): PromiseLike<Result<null, Refusal>>;
  finishTopUpSetup(saved: {
    readonly nonce: string;
    readonly card: SavedCard;
  }): PromiseLike<Result<boolean, Refusal>>;
  failTopUp(failed: FailedCharge): PromiseLike<Result<null, Refusal>>;
  recordReversal(reversal: Reversal): PromiseLike<Result<OwedNow, Refusal>>;
  changeDebt(debt: { readonly id: string; readonly credits: number }): PromiseLike<OwedNow>;
  checkPayment(
    payment: Pick<Purchase, "checkout_session_id"> | Reversal,
  ): PromiseLike<PaymentRecord>;
  hasBought(payment_intent_id: string): PromiseLike<boolean>;
}

interface Stores {
  readonly accounts: (identity_id: string) => Account;
  /** Whether the directory has this person. */
  readonly hasPerson: (identity_id: string) => Promise<boolean>;
  /** Sets what a person's deleted account owes; `taken_by`: the identity whose account took the debt over. */
  readonly changeDebt: (
    identity_id: string,
    credits: number,
  ) => Promise<{ readonly id: string; readonly taken_by: string | null } | null>;
}

export interface PaymentBooking {
  /** Records an effect; may be repeated. Returns the reason if it was dropped, else null. */
  book(effect: PaymentEffect): Promise<Result<DropReason | null, Refusal>>;
  /** The same for an effect that the account does not have yet; otherwise `recorded`. */
  bookMissing(effect: PaymentEffect): Promise<Result<DropReason | "recorded" | null, Refusal>>;
}

export function createPaymentBooking({ accounts, hasPerson, changeDebt }: Stores): PaymentBooking {
  /** Has the person's next account owe what the deleted one owes now, and the one after it if that is deleted too. */
  const passOn = async (deleted_id: string, owed: OwedNow): Promise<void> => {
    let [identity_id, owed_now] = [deleted_id, owed];
    while (owed_now !== null) {
      const { credits } = owed_now;
      const debt = await changeDebt(identity_id, credits);
      if (debt === null || debt.taken_by === null) return;
      identity_id = debt.taken_by;
      owed_now = await accounts(identity_id).changeDebt({ id: debt.id, credits });
    }
  };

  /** The person is checked first, since a call to the account of an unknown identity would create its object. */
  const isOurs = async (effect: PaymentEffect & { readonly kind: "reversal" }): Promise<boolean> =>
    effect.is_marked ||
    ((await hasPerson(effect.identity_id)) &&
      (await accounts(effect.identity_id).hasBought(effect.reversal.payment_intent_id)));

  const book: PaymentBooking["book"] = async (effect) => {
    if (effect.kind === "dropped") return accepted(effect.reason);
    if (effect.kind === "unmatched") {
      const { checkout_session_id } = effect;
      console.error({ event: "purchase_unmatched", checkout_session_id });
      return refused({ code: "purchase_unmatched" });
    }
    if (effect.kind === "reversal" && !(await isOurs(effect))) return accepted("not_ours");
    const done = await record(accounts(effect.identity_id), effect);
    if (done.ok) {
      await passOn(effect.identity_id, done.value);
      return accepted(null);
    }
    return done.refusal.code === "account_unknown" ? accepted("account_deleted") : done;
  };

  return {
    book,
    async bookMissing(effect) {
      if (effect.kind === "dropped" || effect.identity_id === null) return book(effect);
      // The account looks up its charges itself, and a card is saved again by the person.
      if (effect.kind === "card_saved" || effect.kind === "top_up_failed")
        return accepted("recorded");
      if (effect.kind === "reversal" && !(await isOurs(effect))) return accepted("not_ours");
      const state = await accounts(effect.identity_id).checkPayment(paymentOf(effect));
      // A deleted account knows only the refunds and disputes of its own payments.
      if (state === "account_deleted" || state === "recorded") return accepted(state);
      return book(effect);
    },
  };
}

type Booked = Exclude<PaymentEffect, { readonly kind: "dropped" | "unmatched" }>;

async function record(account: Account, effect: Booked): Promise<Result<OwedNow, Refusal>> {
  switch (effect.kind) {
    case "purchase":
      return account.recordPurchase(effect.purchase);
    case "reversal":
      return account.recordReversal(effect.reversal);
    case "top_up_failed":
      return account.failTopUp(effect.failed);
    case "card_saved": {
      const { nonce, card } = effect;
      const saved = await account.finishTopUpSetup({ nonce, card });
      return saved.ok ? accepted(null) : saved;
    }
  }
}

function paymentOf(
  effect: Extract<PaymentEffect, { readonly kind: "purchase" | "reversal" | "unmatched" }>,
): Pick<Purchase, "checkout_session_id"> | Reversal {
  switch (effect.kind) {
    case "purchase":
      return { checkout_session_id: effect.purchase.checkout_session_id };
    case "reversal":
      return effect.reversal;
    case "unmatched":
      return { checkout_session_id: effect.checkout_session_id };
  }
}
