/** The SQL of token families and their authorization codes. A family whose row is gone has ended. */
import {
  and,
  asc,
  desc,
  eq,
  gt,
  isNotNull,
  isNull,
  lte,
  max,
  or,
  sql,
  type SQL,
} from "drizzle-orm";
import { CODE_KEEP_MS, CODE_TTL_MS, type FamilyState } from "../../domain/token_family.ts";
import { isAmong, matches, values } from "./parameters.ts";
import { allowances, codes, tokenFamilies } from "./schema.ts";
import { query, type AccountDatabase } from "./query.ts";

export type FamilyRow = typeof tokenFamilies.$inferSelect;
export type CodeRow = typeof codes.$inferSelect;

const by_id = matches(tokenFamilies.id);
const is_unredeemed = eq(tokenFamilies.generation, 0);
const ends_with_session = isNotNull(tokenFamilies.session_ends_at_ms);
const family_by_id = query((database) => database.select().from(tokenFamilies).where(by_id));
const save_state = query((database) =>
  database
    .update(tokenFamilies)
    .set(values("generation", "rotated_at_ms", "is_used"))
    .where(by_id),
);

const save_use = query((database) =>
  database.update(tokenFamilies).set(values("is_used")).where(by_id),
);

/** Opens the tables of a migrated database. */
export function openFamilyStore(database: AccountDatabase) {
  let has_ended = false;
  const end = (which: SQL | undefined): void => {
    has_ended = true;
    database.delete(tokenFamilies).where(which).run();
  };
  return {
    read: (id: string): FamilyRow | null => family_by_id(database).get({ id }) ?? null,
    insert: (row: FamilyRow): void => void database.insert(tokenFamilies).values(row).run(),
    saveState: (id: string, state: FamilyState): void =>
      void save_state(database).run({ id, ...state, is_used: 0 }),
    saveUse: (id: string): void => void save_use(database).run({ id, is_used: 1 }),
    end: (id: string): void => end(eq(tokenFamilies.id, id)),
    /** Whether a family may have ended since the last call: then the allowances that were exchanged from it end. */
    takeEnded(): boolean {
      const had_ended = has_ended;
      has_ended = false;
      return had_ended;
    },
    endOfSessions: (session_ids: readonly string[]): void =>
      end(
        and(
          ends_with_session,
          isAmong(tokenFamilies.session_id, sql`${JSON.stringify(session_ids)}`),
        ),
      ),
    endOfAllSessions: (): void => end(ends_with_session),
    endApprovedInSession: (session_id: string): void =>
      end(eq(tokenFamilies.session_id, session_id)),
    endApprovedThrough: (signin_method: string): void =>
      end(or(eq(tokenFamilies.signin_method, signin_method), isNull(tokenFamilies.signin_method))),
    /** The families of an allowance: first those that nobody redeemed, then by the time since their last use. */
    listIds: (allowance_id: string): string[] =>
      database
        .select({ id: tokenFamilies.id })
        .from(tokenFamilies)
        .where(eq(tokenFamilies.allowance_id, allowance_id))
        .orderBy(desc(is_unredeemed), asc(tokenFamilies.rotated_at_ms), asc(tokenFamilies.id))
        .all()
        .map(({ id }) => id),
    /** When a client last renewed tokens of each allowance. To redeem a code or to exchange a token is no renewal. */
    lastRenewals: (): ReadonlyMap<string, number> =>
      new Map(
        database
          .select({ id: tokenFamilies.allowance_id, at_ms: max(tokenFamilies.rotated_at_ms) })
          .from(tokenFamilies)
          .where(gt(tokenFamilies.generation, 1))
          .groupBy(tokenFamilies.allowance_id)
          .all()
          .map(({ id, at_ms }) => [id, at_ms ?? 0]),
      ),
    /** Deletes what can be used no more: families of ended allowances or unredeemed codes, and old codes. */
    deleteEnded(now_ms: number): void {
      const living = sql`(select ${allowances.id} from ${allowances} where ${allowances.revoked_at_ms} is null)`;
      end(
        or(
          sql`${tokenFamilies.allowance_id} not in ${living}`,
          lte(tokenFamilies.session_ends_at_ms, now_ms),
          and(is_unredeemed, lte(tokenFamilies.rotated_at_ms, now_ms - CODE_TTL_MS)),
        ),
      );
      database
        .delete(codes)
        .where(lte(codes.created_at_ms, now_ms - CODE_KEEP_MS))
        .run();
    },
    readCode: (code_hash: string): CodeRow | null =>
      database.select().from(codes).where(eq(codes.code_hash, code_hash)).get() ?? null,
    insertCode: (row: CodeRow): void => void database.insert(codes).values(row).run(),
    saveCodeUse: (code_hash: string, used_at_ms: number): void =>
      void database.update(codes).set({ used_at_ms }).where(eq(codes.code_hash, code_hash)).run(),
  };
}

export type FamilyStore = ReturnType<typeof openFamilyStore>;
