/** The SQL of an account's personal access tokens. Synchronous, like that of its money. */
import { desc, eq, gt, isNotNull, lte, sql } from "drizzle-orm";
import type { Budget, PersonalTokenLimits } from "../../domain/personal_token.ts";
import { personalTokens } from "../schema.ts";
import type { AccountDatabase } from "../store.ts";

export type PersonalTokenRow = typeof personalTokens.$inferSelect;

/** Opens the statements over a migrated database. */
export function openPersonalTokenStore(database: AccountDatabase) {
  const token_by_id = database
    .select()
    .from(personalTokens)
    .where(eq(personalTokens.id, sql`${sql.placeholder("id")}`))
    .prepare();
  return {
    read: (id: string): PersonalTokenRow | null => token_by_id.get({ id }) ?? null,
    /** Tokens that have not expired, newest first. */
    listLiving: (now_ms: number): PersonalTokenRow[] =>
      database
        .select()
        .from(personalTokens)
        .where(gt(personalTokens.expires_at_ms, now_ms))
        .orderBy(desc(personalTokens.created_at_ms), desc(personalTokens.id))
        .all(),
    insert: (row: PersonalTokenRow): void => void database.insert(personalTokens).values(row).run(),
    delete: (id: string): void =>
      void database.delete(personalTokens).where(eq(personalTokens.id, id)).run(),
    deleteExpired: (now_ms: number): void =>
      void database.delete(personalTokens).where(lte(personalTokens.expires_at_ms, now_ms)).run(),
    deleteOfSessions: (session_ids: readonly string[]): void =>
      // One parameter however many there are: the platform takes a hundred.
      void database
        .delete(personalTokens)
        .where(
          sql`${personalTokens.session_id} in (select value from json_each(${JSON.stringify(session_ids)}))`,
        )
        .run(),
    deleteOfAllSessions: (): void =>
      void database.delete(personalTokens).where(isNotNull(personalTokens.session_id)).run(),
    deleteAll: (): void => void database.delete(personalTokens).run(),
    saveLastUse: (id: string, last_used_at_ms: number): void =>
      void database
        .update(personalTokens)
        .set({ last_used_at_ms })
        .where(eq(personalTokens.id, id))
        .run(),
    saveSpending: (id: string, spending: Pick<PersonalTokenRow, "spent" | "spent_window">): void =>
      void database.update(personalTokens).set(spending).where(eq(personalTokens.id, id)).run(),
  };
}

export type PersonalTokenStore = ReturnType<typeof openPersonalTokenStore>;

/** The limits that a row records. */
export function limitsOf(row: PersonalTokenRow): PersonalTokenLimits {
  const { access, upstream, admin, app_slugs_json } = row;
  const app_slugs = app_slugs_json === null ? null : (JSON.parse(app_slugs_json) as string[]);
  return { access, upstream, admin, app_slugs, cap: capOf(row) };
}

/** What a row records of a cap; null where it has none. */
export function budgetOf(row: PersonalTokenRow): Budget | null {
  const cap = capOf(row);
  const { created_at_ms, spent, spent_window } = row;
  return cap === null ? null : { cap, created_at_ms, spent, spent_window };
}

function capOf({ cap_credits, cap_period }: PersonalTokenRow): PersonalTokenLimits["cap"] {
  if (cap_credits === null || cap_period === null) return null;
  return { credits: cap_credits, period: cap_period };
}
