/** The SQL of purchases and their reversals. Synchronous, like all SQL of an account's money. */
import { and, desc, eq, sql } from "drizzle-orm";
import type { Reversal } from "../../domain/purchases.ts";
import type { PurchaseKey } from "../contract.ts";
import { keptPayments, purchaseEntries, purchaseReversals, purchases } from "../sql/schema.ts";
import type { AccountDatabase } from "../sql/query.ts";

export type PurchaseRow = typeof purchases.$inferSelect;
export type KeptPaymentRow = typeof keptPayments.$inferSelect;

/** Opens the tables of a migrated database. */
export function openPurchaseStore(database: AccountDatabase) {
  const { payment_intent_id, source_id } = purchaseReversals;
  return {
    readPurchase: (checkout_session_id: string): PurchaseRow | null =>
      database
        .select()
        .from(purchases)
        .where(eq(purchases.checkout_session_id, checkout_session_id))
        .get() ?? null,
    readPurchaseOf: (payment: string): PurchaseRow | null =>
      database.select().from(purchases).where(eq(purchases.payment_intent_id, payment)).get() ??
      null,
    /** Newest first; `before`: only those after this one in the list. */
    listPurchases: (before: PurchaseKey | undefined, limit: number): PurchaseRow[] =>
      database
        .select()
        .from(purchases)
        .where(
          before &&
            sql`(${purchases.created_at_ms}, ${purchases.checkout_session_id}) <
              (${before.created_at_ms}, ${before.checkout_session_id})`,
        )
        .orderBy(desc(purchases.created_at_ms), desc(purchases.checkout_session_id))
        .limit(limit)
        .all(),
    insertPurchase: (row: PurchaseRow): void => void database.insert(purchases).values(row).run(),
    saveReturned: (
      checkout_session_id: string,
      returned: Pick<PurchaseRow, "taken_back" | "refunded_minor">,
    ): void => {
      database
        .update(purchases)
        .set(returned)
        .where(eq(purchases.checkout_session_id, checkout_session_id))
        .run();
    },
    /** Whether there are payments that may still lose their money, also after the account was deleted. */
    hasPayments: (): boolean =>
      [purchases, keptPayments].some(
        (table) =>
          database
            .select({ one: sql`1` })
            .from(table)
            .limit(1)
            .get() !== undefined,
      ),
    listAllPurchases: (): PurchaseRow[] => database.select().from(purchases).all(),
    listAllReversals: (): Reversal[] => database.select().from(purchaseReversals).all(),
    readKept: (payment_hash: string): KeptPaymentRow | null =>
      database
        .select()
        .from(keptPayments)
        .where(eq(keptPayments.payment_hash, payment_hash))
        .get() ?? null,
    saveKept: (row: KeptPaymentRow): void => {
      database
        .insert(keptPayments)
        .values(row)
        .onConflictDoUpdate({ target: keptPayments.payment_hash, set: row })
        .run();
    },
    insertEntry: (row: typeof purchaseEntries.$inferSelect): void =>
      void database.insert(purchaseEntries).values(row).run(),

    listReversals: (payment: string): Reversal[] =>
      database.select().from(purchaseReversals).where(eq(payment_intent_id, payment)).all(),
    readReversal: (payment: string, source: string): Reversal | null =>
      database
        .select()
        .from(purchaseReversals)
        .where(and(eq(payment_intent_id, payment), eq(source_id, source)))
        .get() ?? null,
    saveReversal: (row: Reversal, updated_at_ms: number): void => {
      const values = { ...row, updated_at_ms };
      database
        .insert(purchaseReversals)
        .values(values)
        .onConflictDoUpdate({ target: [payment_intent_id, source_id], set: values })
        .run();
    },
  };
}

export type PurchaseStore = ReturnType<typeof openPurchaseStore>;
