/** The SQL of approvals: what the holder decided about single jobs, until the request expires. */
import { eq, lte } from "drizzle-orm";
import { matches } from "./parameters.ts";
import { query, type AccountDatabase } from "./query.ts";
import { approvals } from "./schema.ts";

export type ApprovalRow = typeof approvals.$inferSelect;

const row_by_id = query((database) =>
  database.select().from(approvals).where(matches(approvals.id)),
);

/** Opens the table of a migrated database. */
export function openApprovalStore(database: AccountDatabase) {
  return {
    read: (id: string): ApprovalRow | null => row_by_id(database).get({ id }) ?? null,
    insert: (row: ApprovalRow): void => void database.insert(approvals).values(row).run(),
    saveUse: (id: string): void =>
      void database.update(approvals).set({ is_used: true }).where(eq(approvals.id, id)).run(),
    deleteExpired: (now_ms: number): void =>
      void database.delete(approvals).where(lte(approvals.expires_at_ms, now_ms)).run(),
  };
}

export type ApprovalStore = ReturnType<typeof openApprovalStore>;
