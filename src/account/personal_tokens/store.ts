/** The SQL of an account's personal access tokens. Synchronous, like that of its money. */
import { and, desc, eq, getTableColumns, gt, isNull, or, lte, sql, type SQL } from "drizzle-orm";
import type { PersonalTokenLimits } from "../../domain/personal_token.ts";
import { assertInvariant } from "../../domain/result.ts";
import { isAmong, matches, values } from "../parameters.ts";
import { personalTokens } from "../schema.ts";
import { statement, type AccountDatabase } from "../statement.ts";

const { spent, spent_window, stored_bytes, ...columns } = getTableColumns(personalTokens);

type Columns = typeof personalTokens.$inferSelect;

/** What a token has used so far; it may change within one transaction. */
export type TokenUse = Pick<Columns, "spent" | "spent_window" | "stored_bytes">;

/** A token without what it has used: see `spending.ts`. */
export type PersonalTokenRow = Omit<Columns, keyof TokenUse>;

const UNUSED: TokenUse = { spent: 0, spent_window: 0, stored_bytes: 0 };

const ends_with_session = eq(personalTokens.ends_with_session, true);
const by_id = matches(personalTokens.id);
const token_by_id = statement((database) =>
  database.select(columns).from(personalTokens).where(by_id),
);
const use_by_id = statement((database) =>
  database.select({ spent, spent_window, stored_bytes }).from(personalTokens).where(by_id),
);
const save_last_use = statement((database) =>
  database.update(personalTokens).set(values("last_used_at_ms")).where(by_id),
);
const save_use = statement((database) =>
  database
    .update(personalTokens)
    .set(values("spent", "spent_window", "stored_bytes"))
    .where(by_id),
);

/** Opens the statements over a migrated database. */
export function openPersonalTokenStore(database: AccountDatabase) {
  let has_deleted = false;
  const remove = (which: SQL | undefined): void => {
    has_deleted = true;
    database.delete(personalTokens).where(which).run();
  };
  return {
    read: (id: string): PersonalTokenRow | null => token_by_id(database).get({ id }) ?? null,
    /** Tokens that have not expired, newest first. */
    listLiving: (now_ms: number): PersonalTokenRow[] =>
      database
        .select(columns)
        .from(personalTokens)
        .where(gt(personalTokens.expires_at_ms, now_ms))
        .orderBy(desc(personalTokens.created_at_ms), desc(personalTokens.id))
        .all(),
    insert: (row: PersonalTokenRow): void =>
      void database
        .insert(personalTokens)
        .values({ ...row, ...UNUSED })
        .run(),
    delete: (id: string): void => remove(eq(personalTokens.id, id)),
    deleteExpired: (now_ms: number): void => remove(lte(personalTokens.expires_at_ms, now_ms)),
    deleteOfSessions: (session_ids: readonly string[]): void =>
      remove(
        and(
          ends_with_session,
          isAmong(personalTokens.session_id, sql`${JSON.stringify(session_ids)}`),
        ),
      ),
    deleteOfAllSessions: (): void => remove(ends_with_session),
    deleteApprovedInSession: (session_id: string): void =>
      remove(eq(personalTokens.session_id, session_id)),
    deleteApprovedThrough: (signin_method: string): void =>
      remove(
        or(eq(personalTokens.signin_method, signin_method), isNull(personalTokens.signin_method)),
      ),
    deleteAll: (): void => remove(undefined),
    /** Whether a token was deleted since the last call: then its started jobs expire. */
    takeDeleted(): boolean {
      const has_deleted_before = has_deleted;
      has_deleted = false;
      return has_deleted_before;
    },
    saveLastUse: (id: string, last_used_at_ms: number): void =>
      void save_last_use(database).run({ id, last_used_at_ms }),
    readUse: (id: string): TokenUse => {
      const use = use_by_id(database).get({ id });
      assertInvariant(use !== undefined, "a token whose use is read has its row");
      return use;
    },
    saveUse: (id: string, use: TokenUse): void => void save_use(database).run({ id, ...use }),
  };
}

export type PersonalTokenStore = ReturnType<typeof openPersonalTokenStore>;

/** The limits that a row records. */
export function limitsOf(row: PersonalTokenRow): PersonalTokenLimits {
  const { access, upstream, admin, app_slugs_json } = row;
  const app_slugs = app_slugs_json === null ? null : (JSON.parse(app_slugs_json) as string[]);
  return { access, upstream, admin, app_slugs, cap: capOf(row) };
}

/** The spending cap that a row records; null where it has none. */
export function capOf({
  cap_credits,
  cap_period,
}: Pick<PersonalTokenRow, "cap_credits" | "cap_period">): PersonalTokenLimits["cap"] {
  if (cap_credits === null || cap_period === null) return null;
  return { credits: cap_credits, period: cap_period };
}
