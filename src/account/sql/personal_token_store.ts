/** The SQL of personal access tokens. Synchronous, like all SQL of an account's money. */
import {
  and,
  desc,
  eq,
  getTableColumns,
  gt,
  isNotNull,
  isNull,
  or,
  lte,
  sql,
  type SQL,
} from "drizzle-orm";
import type { PersonalTokenLimits } from "../../domain/personal_token.ts";
import { assertInvariant } from "../../domain/result.ts";
import { isAmong, matches, values } from "./parameters.ts";
import { personalTokens } from "./schema.ts";
import { query, type AccountDatabase } from "./query.ts";

const { spent, spent_window, stored_bytes, ...columns } = getTableColumns(personalTokens);

type Columns = typeof personalTokens.$inferSelect;

/** What a token has used. It may change during one transaction, so it is read again each time. */
export type TokenUse = Pick<Columns, "spent" | "spent_window" | "stored_bytes">;

/** A token without what it has used. */
export type PersonalTokenRow = Omit<Columns, keyof TokenUse>;

const UNUSED: TokenUse = { spent: 0, spent_window: 0, stored_bytes: 0 };

const ends_with_session = eq(personalTokens.ends_with_session, true);
const by_id = matches(personalTokens.id);
const not_ended = isNull(personalTokens.ended_at_ms);
const token_by_id = query((database) => database.select(columns).from(personalTokens).where(by_id));
const use_by_id = query((database) =>
  database.select({ spent, spent_window, stored_bytes }).from(personalTokens).where(by_id),
);
const save_last_use = query((database) =>
  database.update(personalTokens).set(values("last_used_at_ms")).where(by_id),
);
const save_use = query((database) =>
  database
    .update(personalTokens)
    .set(values("spent", "spent_window", "stored_bytes"))
    .where(by_id),
);

/** Opens the table of a migrated database. */
export function openPersonalTokenStore(database: AccountDatabase) {
  let has_ended = false;
  // A capped token's row stays, because an app's key may settle its jobs after it has ended.
  const end = (which: SQL | undefined, now_ms: number): void => {
    has_ended = true;
    const is_capped = isNotNull(personalTokens.cap_credits);
    database
      .update(personalTokens)
      .set({ ended_at_ms: now_ms })
      .where(and(not_ended, is_capped, which))
      .run();
    database
      .delete(personalTokens)
      .where(and(isNull(personalTokens.cap_credits), which))
      .run();
  };
  const readRow = (id: string): PersonalTokenRow | null =>
    token_by_id(database).get({ id }) ?? null;
  return {
    /** A token that was not ended. It may have expired. */
    read(id: string): PersonalTokenRow | null {
      const row = readRow(id);
      return row?.ended_at_ms === null ? row : null;
    },
    /** The token that created a job; a capped one even after it was ended. */
    readCreator: readRow,
    /** Tokens that have not expired, newest first. */
    listLiving: (now_ms: number): PersonalTokenRow[] =>
      database
        .select(columns)
        .from(personalTokens)
        .where(and(not_ended, gt(personalTokens.expires_at_ms, now_ms)))
        .orderBy(desc(personalTokens.created_at_ms), desc(personalTokens.id))
        .all(),
    /** Tokens of any state whose rows are stored, newest first. */
    listStored: (limit: number): PersonalTokenRow[] =>
      database
        .select(columns)
        .from(personalTokens)
        .orderBy(desc(personalTokens.created_at_ms), desc(personalTokens.id))
        .limit(limit)
        .all(),
    insert: (row: PersonalTokenRow): void =>
      void database
        .insert(personalTokens)
        .values({ ...row, ...UNUSED })
        .run(),
    end: (id: string, now_ms: number): void => end(eq(personalTokens.id, id), now_ms),
    endExpired: (now_ms: number): void => end(lte(personalTokens.expires_at_ms, now_ms), now_ms),
    endOfSessions: (session_ids: readonly string[], now_ms: number): void =>
      end(
        and(
          ends_with_session,
          isAmong(personalTokens.session_id, sql`${JSON.stringify(session_ids)}`),
        ),
        now_ms,
      ),
    endOfAllSessions: (now_ms: number): void => end(ends_with_session, now_ms),
    endApprovedInSession: (session_id: string, now_ms: number): void =>
      end(eq(personalTokens.session_id, session_id), now_ms),
    endApprovedThrough: (signin_method: string, now_ms: number): void =>
      end(
        or(eq(personalTokens.signin_method, signin_method), isNull(personalTokens.signin_method)),
        now_ms,
      ),
    endAll: (now_ms: number): void => end(undefined, now_ms),
    /** Whether a token was ended since the last call: then its started jobs expire. */
    takeEnded(): boolean {
      const had_ended = has_ended;
      has_ended = false;
      return had_ended;
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

/** The limits in a token's row. */
export function limitsOf(row: PersonalTokenRow): PersonalTokenLimits {
  const { access, upstream, admin, app_slugs_json } = row;
  const app_slugs = app_slugs_json === null ? null : (JSON.parse(app_slugs_json) as string[]);
  return { access, upstream, admin, app_slugs, cap: capOf(row) };
}

/** The spending cap in a token's row; null: no cap. */
export function capOf({
  cap_credits,
  cap_period,
}: Pick<PersonalTokenRow, "cap_credits" | "cap_period">): PersonalTokenLimits["cap"] {
  if (cap_credits === null || cap_period === null) return null;
  return { credits: cap_credits, period: cap_period };
}
