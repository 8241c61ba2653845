/** The SQL of an account's personal access tokens. Synchronous, like that of its money. */
import { desc, eq, gt, isNotNull, lte, sql } from "drizzle-orm";
import type { Budget, PersonalTokenLimits } from "../../domain/personal_token.ts";
import { tokens } from "../schema.ts";
import type { AccountDatabase } from "../store.ts";

export type TokenRow = typeof tokens.$inferSelect;

/** Opens the statements over a migrated database. */
export function openTokenStore(database: AccountDatabase) {
  const token_by_id = database
    .select()
    .from(tokens)
    .where(eq(tokens.id, sql`${sql.placeholder("id")}`))
    .prepare();
  return {
    readToken: (id: string): TokenRow | null => token_by_id.get({ id }) ?? null,
    /** Tokens that have not expired, newest first. */
    listLivingTokens: (now_ms: number): TokenRow[] =>
      database
        .select()
        .from(tokens)
        .where(gt(tokens.expires_at_ms, now_ms))
        .orderBy(desc(tokens.created_at_ms), desc(tokens.id))
        .all(),
    insertToken: (row: TokenRow): void => void database.insert(tokens).values(row).run(),
    deleteToken: (id: string): void => void database.delete(tokens).where(eq(tokens.id, id)).run(),
    deleteExpiredTokens: (now_ms: number): void =>
      void database.delete(tokens).where(lte(tokens.expires_at_ms, now_ms)).run(),
    deleteTokensOfSessions: (session_ids: readonly string[]): void =>
      // One parameter however many there are: the platform takes a hundred.
      void database
        .delete(tokens)
        .where(
          sql`${tokens.session_id} in (select value from json_each(${JSON.stringify(session_ids)}))`,
        )
        .run(),
    deleteTokensOfAllSessions: (): void =>
      void database.delete(tokens).where(isNotNull(tokens.session_id)).run(),
    deleteAllTokens: (): void => void database.delete(tokens).run(),
    saveLastUse: (id: string, last_used_at_ms: number): void =>
      void database.update(tokens).set({ last_used_at_ms }).where(eq(tokens.id, id)).run(),
    saveSpending: (id: string, spending: Pick<TokenRow, "spent" | "spent_window">): void =>
      void database.update(tokens).set(spending).where(eq(tokens.id, id)).run(),
  };
}

export type TokenStore = ReturnType<typeof openTokenStore>;

/** The limits that a row records. */
export function limitsOf(row: TokenRow): PersonalTokenLimits {
  const { access, upstream, admin, app_slugs_json } = row;
  const app_slugs = app_slugs_json === null ? null : (JSON.parse(app_slugs_json) as string[]);
  return { access, upstream, admin, app_slugs, cap: capOf(row) };
}

/** What a row records of a cap; null where it has none. */
export function budgetOf(row: TokenRow): Budget | null {
  const cap = capOf(row);
  const { created_at_ms, spent, spent_window } = row;
  return cap === null ? null : { cap, created_at_ms, spent, spent_window };
}

function capOf({ cap_credits, cap_period }: TokenRow): PersonalTokenLimits["cap"] {
  if (cap_credits === null || cap_period === null) return null;
  return { credits: cap_credits, period: cap_period };
}
