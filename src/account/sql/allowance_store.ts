/**
 * The SQL of allowances. Synchronous, like all SQL of an account's money.
 *
 * The row of an allowance that created jobs stays after it was revoked, because its jobs may still be settled. It is
 * deleted when it expired so long ago that its jobs have expired too, unless somebody keeps them alive: a missing row ends
 * no job. An unused one is deleted at once, so that clients cannot fill the account by exchanging and revoking tokens.
 */
import type { Revoker } from "../../domain/access_event.ts";
import {
  consentedClient,
  idsOfPath,
  rightsOf,
  type AllowanceLimits,
} from "../../domain/allowance.ts";
import { JOB_TTL_MAX_SECONDS } from "../../domain/limits.ts";
import type { CapSpending } from "../../domain/spending_cap.ts";
import { isAmong, type AccountDatabase, type Rows } from "./database.ts";

/** The most allowances to choose from in a filter. */
const SPENDERS_LISTED_MAX = 100;

export type AllowanceRow = Rows["allowances"];

/** A connection that was revoked. `by`: null if the caller of the operation did it. */
interface EndedConnection {
  readonly connection: Pick<AllowanceRow, "id" | "path" | "client_id">;
  readonly by: Revoker | null;
}

export class AllowanceStore {
  readonly #database: AccountDatabase;
  #has_ended = false;
  /** Connections that ended since {@link takeEnded}, by their id. */
  readonly #ended_connections = new Map<string, EndedConnection>();

  constructor(database: AccountDatabase) {
    this.#database = database;
  }

  read(id: string): AllowanceRow | null {
    return this.#database.row("allowances", "where id = ?", id);
  }

  /** The rows of a path that are stored, from the allowance itself to its root. */
  readPath(path: string | null): AllowanceRow[] {
    const ids = idsOfPath(path);
    const [first, ...others] = ids;
    if (first === undefined) return [];
    if (others.length === 0) return this.#database.rows("allowances", "where id = ?", first);
    return this.#database
      .rows("allowances", `where ${isAmong("id", "?")}`, JSON.stringify(ids))
      .toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id));
  }

  /** An allowance and its ancestors, if none of them was revoked or has expired; else null. */
  readLivingChain(id: string, now_ms: number): [AllowanceRow, ...AllowanceRow[]] | null {
    const own = this.read(id);
    if (own === null) return null;
    const chain: [AllowanceRow, ...AllowanceRow[]] = [
      own,
      ...(own.parent_id === null ? [] : this.readPath(own.path.slice(own.id.length + 1))),
    ];
    const is_complete = chain.length === idsOfPath(own.path).length;
    return is_complete && chain.every((row) => isLiving(row, now_ms)) ? chain : null;
  }

  /** Allowances that live, and whose ancestors live too, newest first. */
  listLiving(now_ms: number): AllowanceRow[] {
    const rows = this.#database.rows(
      "allowances",
      "where revoked_at_ms is null and expires_at_ms > ? order by created_at_ms desc, id desc",
      now_ms,
    );
    const ids = new Set(rows.map(({ id }) => id));
    return rows.filter(({ path }) => idsOfPath(path).every((id) => ids.has(id)));
  }

  /** Allowances of any state whose rows are stored, newest first. */
  listStored(limit: number): AllowanceRow[] {
    const clauses = "order by created_at_ms desc, id desc limit ? + 0";
    return this.#database.rows("allowances", clauses, limit);
  }

  /** Stored allowances of any state that the holder approved and that started jobs, newest first. */
  listSpenders(): AllowanceRow[] {
    const clauses = `where parent_id is null and stored_bytes > 0
      order by created_at_ms desc, id desc limit ${SPENDERS_LISTED_MAX}`;
    return this.#database.rows("allowances", clauses);
  }

  insert(row: AllowanceRow): void {
    this.#database.insert("allowances", row);
  }

  change(id: string, changes: Partial<AllowanceRow>): void {
    this.#database.update("allowances", changes, { id });
  }

  /**
   * Also deletes its unused descendants. The others stay, and are not accepted without it. `by`: who ended it; null: the
   * caller of the operation.
   */
  end(id: string, now_ms: number, by: Revoker | null = null): void {
    this.#end(now_ms, by, "id = ?", id);
    this.#database.run(
      `delete from allowances
       where stored_bytes = 0 and instr(' ' || path || ' ', ' ' || ? || ' ') > 0`,
      id,
    );
  }

  /** Ends the allowances that were exchanged from a family, if that family or their own one has ended. */
  endOfEndedFamilies(now_ms: number): void {
    const rows = this.#database.all<Pick<AllowanceRow, "id">>(
      `select id from allowances where revoked_at_ms is null and parent_family_id is not null
       and (parent_family_id not in (select id from token_families)
         or id not in (select allowance_id from token_families))`,
    );
    for (const { id } of rows) this.end(id, now_ms, "service");
  }

  /** Deletes the rows that nothing needs any more. */
  deleteExpired(now_ms: number): void {
    this.#database.run(
      "delete from allowances where expires_at_ms <= ? or (stored_bytes = 0 and expires_at_ms <= ?)",
      now_ms - JOB_TTL_MAX_SECONDS * 1000,
      now_ms,
    );
  }

  endOfSessions(session_ids: readonly string[], now_ms: number): void {
    const which = `ends_with_session = 1 and ${isAmong("session_id", "?")}`;
    this.#end(now_ms, null, which, JSON.stringify(session_ids));
  }

  endOfAllSessions(now_ms: number): void {
    this.#end(now_ms, null, "ends_with_session = 1");
  }

  endApprovedInSession(session_id: string, now_ms: number): void {
    this.#end(now_ms, null, "session_id = ?", session_id);
  }

  endApprovedThrough(signin_method: string, now_ms: number): void {
    this.#end(now_ms, null, "(signin_method = ? or signin_method is null)", signin_method);
  }

  endAll(now_ms: number): void {
    this.#end(now_ms, null, "true");
  }

  #end(now_ms: number, by: Revoker | null, which: string, ...parameters: readonly string[]): void {
    this.#has_ended = true;
    this.#noteConnections(now_ms, by, which, parameters);
    this.#database.run(
      `update allowances set revoked_at_ms = ?
       where revoked_at_ms is null and stored_bytes <> 0 and ${which}`,
      now_ms,
      ...parameters,
    );
    this.#database.run(`delete from allowances where stored_bytes = 0 and ${which}`, ...parameters);
  }

  /** Notes the connections that are about to end, with those that were exchanged from them. */
  #noteConnections(
    now_ms: number,
    by: Revoker | null,
    which: string,
    parameters: readonly string[],
  ): void {
    const rows = this.#database.all<Pick<AllowanceRow, "id">>(
      `select id from allowances where revoked_at_ms is null and ${which}`,
      ...parameters,
    );
    if (rows.length === 0) return;
    const ids = new Set(rows.map(({ id }) => id));
    for (const row of this.listLiving(now_ms)) {
      const client_id = consentedClient(row);
      if (client_id === null || !idsOfPath(row.path).some((id) => ids.has(id))) continue;
      const connection = { id: row.id, path: row.path, client_id };
      this.#ended_connections.set(row.id, { connection, by });
    }
  }

  /** The allowances revoked since the last call; null: none. The started jobs of ended allowances expire. */
  takeEnded(): readonly EndedConnection[] | null {
    const ended = this.#has_ended ? [...this.#ended_connections.values()] : null;
    this.#has_ended = false;
    this.#ended_connections.clear();
    return ended;
  }
}

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
