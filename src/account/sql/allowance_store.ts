/**
 * The SQL of allowances. Synchronous, like all SQL of an account's money.
 *
 * The row of an allowance that created jobs stays after it was revoked, because its jobs may still be settled. It is
 * deleted when it expired so long ago that its jobs have expired too, unless somebody keeps them alive: a missing row ends
 * no job. An unused one is deleted at once, so that clients cannot fill the account by exchanging and revoking tokens.
 */
import {
  and,
  desc,
  eq,
  getTableColumns,
  gt,
  isNotNull,
  isNull,
  lte,
  ne,
  notInArray,
  or,
  sql,
  type SQL,
} from "drizzle-orm";
import { idsOfPath, rightsOf, type AllowanceLimits } from "../../domain/allowance.ts";
import { JOB_TTL_MAX_SECONDS } from "../../domain/limits.ts";
import type { CapSpending } from "../../domain/spending_cap.ts";
import { isAmong, matches, value, values } from "./parameters.ts";
import { allowances, tokenFamilies } from "./schema.ts";
import { query, type AccountDatabase } from "./query.ts";

export type AllowanceRow = typeof allowances.$inferSelect;

/** What an allowance has used. It may change during one transaction, so it is read again each time. */
export type AllowanceUse = Pick<AllowanceRow, "caps_json" | "stored_bytes">;

const by_id = matches(allowances.id);
const not_revoked = isNull(allowances.revoked_at_ms);
const ends_with_session = eq(allowances.ends_with_session, true);
const columns = getTableColumns(allowances);
const row_by_id = query((database) => database.select(columns).from(allowances).where(by_id));
const rows_by_ids = query((database) =>
  database
    .select(columns)
    .from(allowances)
    .where(isAmong(allowances.id, value("ids_json"))),
);
const save_last_use = query((database) =>
  database.update(allowances).set(values("last_used_at_ms")).where(by_id),
);
const save_use = query((database) =>
  database.update(allowances).set(values("caps_json", "stored_bytes")).where(by_id),
);

/** Opens the table of a migrated database. */
export function openAllowanceStore(database: AccountDatabase) {
  let has_ended = false;
  const end = (which: SQL | undefined, now_ms: number): void => {
    has_ended = true;
    const is_used = ne(allowances.stored_bytes, 0);
    database
      .update(allowances)
      .set({ revoked_at_ms: now_ms })
      .where(and(not_revoked, is_used, which))
      .run();
    database
      .delete(allowances)
      .where(and(eq(allowances.stored_bytes, 0), which))
      .run();
  };
  const read = (id: string): AllowanceRow | null => row_by_id(database).get({ id }) ?? null;
  const readPath = (path: string | null): AllowanceRow[] => {
    const ids = idsOfPath(path);
    const [first, ...others] = ids;
    if (first === undefined) return [];
    if (others.length === 0) return row_by_id(database).all({ id: first });
    const rows = rows_by_ids(database).all({ ids_json: JSON.stringify(ids) });
    return rows.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id));
  };
  const endOne = (id: string, now_ms: number): void => {
    end(eq(allowances.id, id), now_ms);
    const descends = sql`instr(' ' || ${allowances.path} || ' ', ' ' || ${id} || ' ') > 0`;
    database
      .delete(allowances)
      .where(and(eq(allowances.stored_bytes, 0), descends))
      .run();
  };
  return {
    read,
    /** The rows of a path that are stored, from the allowance itself to its root. */
    readPath,
    /** An allowance and its ancestors, if none of them was revoked or has expired; else null. */
    readLivingChain(id: string, now_ms: number): [AllowanceRow, ...AllowanceRow[]] | null {
      const own = read(id);
      if (own === null) return null;
      const chain: [AllowanceRow, ...AllowanceRow[]] = [
        own,
        ...(own.parent_id === null ? [] : readPath(own.path.slice(own.id.length + 1))),
      ];
      const is_complete = chain.length === idsOfPath(own.path).length;
      return is_complete && chain.every((row) => isLiving(row, now_ms)) ? chain : null;
    },
    /** Allowances that live, and whose ancestors live too, newest first. */
    listLiving(now_ms: number): AllowanceRow[] {
      const rows = database
        .select(columns)
        .from(allowances)
        .where(and(not_revoked, gt(allowances.expires_at_ms, now_ms)))
        .orderBy(desc(allowances.created_at_ms), desc(allowances.id))
        .all();
      const ids = new Set(rows.map(({ id }) => id));
      return rows.filter(({ path }) => idsOfPath(path).every((id) => ids.has(id)));
    },
    /** Allowances of any state whose rows are stored, newest first. */
    listStored: (limit: number): AllowanceRow[] =>
      database
        .select(columns)
        .from(allowances)
        .orderBy(desc(allowances.created_at_ms), desc(allowances.id))
        .limit(limit)
        .all(),
    insert: (row: AllowanceRow): void => void database.insert(allowances).values(row).run(),
    /** Saves what the holder approved again. */
    saveApproval: ({ id, ...row }: AllowanceRow): void =>
      void database.update(allowances).set(row).where(eq(allowances.id, id)).run(),
    /** Also deletes its unused descendants. The others stay, and are not accepted without it. */
    end: endOne,
    /** Ends the allowances that were exchanged from a family, if that family or their own one has ended. */
    endOfEndedFamilies(now_ms: number): void {
      const families = database.select({ id: tokenFamilies.id }).from(tokenFamilies);
      const holders = database.select({ id: tokenFamilies.allowance_id }).from(tokenFamilies);
      const has_ended_family = or(
        notInArray(allowances.parent_family_id, families),
        notInArray(allowances.id, holders),
      );
      const rows = database
        .select({ id: allowances.id })
        .from(allowances)
        .where(and(not_revoked, isNotNull(allowances.parent_family_id), has_ended_family))
        .all();
      for (const { id } of rows) endOne(id, now_ms);
    },
    /** Deletes the rows that nothing needs any more. */
    deleteExpired(now_ms: number): void {
      const settled_ms = now_ms - JOB_TTL_MAX_SECONDS * 1000;
      database
        .delete(allowances)
        .where(
          or(
            lte(allowances.expires_at_ms, settled_ms),
            and(eq(allowances.stored_bytes, 0), lte(allowances.expires_at_ms, now_ms)),
          ),
        )
        .run();
    },
    endOfSessions: (session_ids: readonly string[], now_ms: number): void =>
      end(
        and(ends_with_session, isAmong(allowances.session_id, sql`${JSON.stringify(session_ids)}`)),
        now_ms,
      ),
    endOfAllSessions: (now_ms: number): void => end(ends_with_session, now_ms),
    endApprovedInSession: (session_id: string, now_ms: number): void =>
      end(eq(allowances.session_id, session_id), now_ms),
    endApprovedThrough: (signin_method: string, now_ms: number): void =>
      end(
        or(eq(allowances.signin_method, signin_method), isNull(allowances.signin_method)),
        now_ms,
      ),
    endAll: (now_ms: number): void => end(undefined, now_ms),
    /** Whether an allowance was revoked since the last call: then its started jobs expire. */
    takeEnded(): boolean {
      const had_ended = has_ended;
      has_ended = false;
      return had_ended;
    },
    saveLastUse: (id: string, last_used_at_ms: number): void =>
      void save_last_use(database).run({ id, last_used_at_ms }),
    saveLimits: (
      id: string,
      limits: Pick<AllowanceRow, "label" | "caps_json" | "app_slugs_json">,
    ): void => void database.update(allowances).set(limits).where(eq(allowances.id, id)).run(),
    saveUse: (id: string, use: AllowanceUse): void => void save_use(database).run({ id, ...use }),
  };
}

export type AllowanceStore = ReturnType<typeof openAllowanceStore>;

function isLiving({ revoked_at_ms, expires_at_ms }: AllowanceRow, now_ms: number): boolean {
  return revoked_at_ms === null && expires_at_ms > now_ms;
}

/** The limits in a row, without those of its ancestors. */
export function limitsOf(row: AllowanceRow): AllowanceLimits {
  const { scopes, app_slugs_json } = row;
  const app_slugs = app_slugs_json === null ? null : (JSON.parse(app_slugs_json) as string[]);
  const caps = capsOf(row).map(({ credits, period }) => ({ credits, period }));
  const rights = rightsOf(scopes.split(" "));
  // Another resource may have a scope of this name, so no client gets the right by it.
  const admin = rights.admin && row.kind === "device";
  return { ...rights, admin, app_slugs, caps };
}

/** The caps in a row, with what each has spent. */
export function capsOf({ caps_json }: Pick<AllowanceRow, "caps_json">): readonly CapSpending[] {
  return JSON.parse(caps_json) as CapSpending[];
}
