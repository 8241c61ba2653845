/** How far the schedule's reconciliation of payments has come: one row. */
import { drizzle } from "drizzle-orm/d1";
import { readCursor, writeCursor } from "../domain/payment_list.ts";
import type { ListPosition } from "../domain/payment_list.ts";
import { paymentReconciliation } from "./schema.ts";

interface Progress {
  readonly position: ListPosition | null;
  readonly ran_at_ms: number;
}

export function createReconciliationProgress(binding: D1Database) {
  const database = drizzle(binding);
  return {
    async read(): Promise<Progress | null> {
      const row = await database.select().from(paymentReconciliation).get();
      if (row === undefined) return null;
      const { cursor, ran_at_ms } = row;
      return { position: cursor === null ? null : readCursor(cursor), ran_at_ms };
    },
    async write({ position, ran_at_ms }: Progress): Promise<void> {
      const values = { cursor: position === null ? null : writeCursor(position), ran_at_ms };
      await database
        .insert(paymentReconciliation)
        .values({ singleton: 1, ...values })
        .onConflictDoUpdate({ target: paymentReconciliation.singleton, set: values });
    },
  };
}
