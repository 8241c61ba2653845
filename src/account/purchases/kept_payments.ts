/**
 * The rest of a deleted account's purchases: keyed hashes of its payments, and what each may still lose or win back. A
 * refund or dispute after the deletion changes what the account would have, and so what its holder owes on return.
 */
import {
  creditsTakenBack,
  isReversalKnown,
  mergeReversals,
  type Reversal,
} from "../../domain/purchases.ts";
import type { PurchaseStore } from "../sql/purchase_store.ts";

/** A refund or dispute without ids. */
type KeptReversal = Pick<Reversal, "amount_minor" | "state"> & { readonly source_hash: string };

export type HashOf = (text: string) => string;

/** Hashes ids of payments, refunds and disputes under a key: the deleted account's id. */
export async function hashesOf(key_text: string, ids: readonly string[]): Promise<HashOf> {
  const encode = (text: string) => new TextEncoder().encode(text);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encode(key_text), algorithm, false, ["sign"]);
  const hashes = new Map<string, string>();
  for (const id of new Set(ids)) {
    const hash = new Uint8Array(await crypto.subtle.sign("HMAC", key, encode(id)));
    hashes.set(id, [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
  }
  return (id) => {
    const hash = hashes.get(id);
    if (hash === undefined) throw new Error("an id was not hashed");
    return hash;
  };
}

/** The ids that {@link keepPayments} hashes. */
export function idsOfPayments(bought: PurchaseStore): readonly string[] {
  const payments = bought.listAllPurchases().map(({ payment_intent_id }) => payment_intent_id);
  return [...payments, ...bought.listAllReversals().map(({ source_id }) => source_id)];
}

/** Keeps every payment that is not kept yet. */
export function keepPayments(bought: PurchaseStore, hashOf: HashOf): void {
  for (const { payment_intent_id, credits, paid_minor } of bought.listAllPurchases()) {
    const payment_hash = hashOf(payment_intent_id);
    if (bought.readKept(payment_hash) !== null) continue;
    const reversals = bought.listReversals(payment_intent_id).map((it) => hashed(hashOf, it));
    bought.saveKept({ payment_hash, credits, paid_minor, reversals_json: asJson(reversals) });
  }
}

/**
 * Stores a refund or dispute of a kept payment.
 * @returns the change of what the account would have, in credits; null: the payment is unknown.
 */
export function reverseKept(
  bought: PurchaseStore,
  hashOf: HashOf,
  reversal: Reversal,
): number | null {
  const kept = readKept(bought, hashOf, reversal);
  if (kept === null) return null;
  const { row, reversals, others, known } = kept;
  const now = hashed(hashOf, reversal);
  const merged = known === undefined ? now : mergeReversals(known, now);
  const all = [...others, merged];
  bought.saveKept({ ...row, reversals_json: asJson(all) });
  return creditsTakenBack(row, reversals) - creditsTakenBack(row, all);
}

/** Whether a kept payment has a refund or dispute in this state; null: the payment is unknown. */
export function isKeptReversal(
  bought: PurchaseStore,
  hashOf: HashOf,
  reversal: Reversal,
): boolean | null {
  const kept = readKept(bought, hashOf, reversal);
  if (kept === null) return null;
  return kept.known !== undefined && isReversalKnown(kept.known, hashed(hashOf, reversal));
}

function readKept(bought: PurchaseStore, hashOf: HashOf, reversal: Reversal) {
  const { payment_intent_id, source_id } = hashed(hashOf, reversal);
  const row = bought.readKept(payment_intent_id);
  if (row === null) return null;
  const stored = JSON.parse(row.reversals_json) as readonly KeptReversal[];
  const reversals = stored.map(({ source_hash, ...of_reversal }) => ({
    ...of_reversal,
    payment_intent_id,
    source_id: source_hash,
  }));
  const known = reversals.find((it) => it.source_id === source_id);
  return { row, reversals, others: reversals.filter((it) => it !== known), known };
}

/** `reversals`: with hashes as their ids. */
function asJson(reversals: readonly Reversal[]): string {
  const kept = reversals.map(({ source_id: source_hash, amount_minor, state }): KeptReversal => ({
    source_hash,
    amount_minor,
    state,
  }));
  return JSON.stringify(kept);
}

function hashed(hashOf: HashOf, reversal: Reversal): Reversal {
  const { payment_intent_id, source_id } = reversal;
  return {
    ...reversal,
    payment_intent_id: hashOf(payment_intent_id),
    source_id: hashOf(source_id),
  };
}
