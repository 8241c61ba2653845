/** The SQL of token families and their authorization codes. A family whose row is gone has ended. */
import { CODE_KEEP_MS, CODE_TTL_MS, type FamilyState } from "../../domain/token_family.ts";
import { isAmong, type AccountDatabase, type Rows } from "./database.ts";

export type FamilyRow = Rows["token_families"];
type CodeRow = Rows["codes"];

export class FamilyStore {
  readonly #database: AccountDatabase;
  #has_ended = false;

  constructor(database: AccountDatabase) {
    this.#database = database;
  }

  read(id: string): FamilyRow | null {
    return this.#database.row("token_families", "where id = ?", id);
  }

  insert(row: FamilyRow): void {
    this.#database.insert("token_families", row);
  }

  saveState(id: string, { generation, rotated_at_ms }: FamilyState): void {
    const changes = { generation, rotated_at_ms, is_used: false };
    this.#database.update("token_families", changes, { id });
  }

  saveUse(id: string): void {
    this.#database.update("token_families", { is_used: true }, { id });
  }

  end(id: string): void {
    this.#end("id = ?", id);
  }

  /** Whether a family may have ended since the last call: then the allowances that were exchanged from it end. */
  takeEnded(): boolean {
    const had_ended = this.#has_ended;
    this.#has_ended = false;
    return had_ended;
  }

  endOfSessions(session_ids: readonly string[]): void {
    const which = `session_ends_at_ms is not null and ${isAmong("session_id", "?")}`;
    this.#end(which, JSON.stringify(session_ids));
  }

  endOfAllSessions(): void {
    this.#end("session_ends_at_ms is not null");
  }

  endApprovedInSession(session_id: string): void {
    this.#end("session_id = ?", session_id);
  }

  endApprovedThrough(signin_method: string): void {
    this.#end("signin_method = ? or signin_method is null", signin_method);
  }

  /** The families of an allowance: first those that nobody redeemed, then by the time since their last use. */
  listIds(allowance_id: string): string[] {
    const clauses = "where allowance_id = ? order by generation = 0 desc, rotated_at_ms, id";
    return this.#database.rows("token_families", clauses, allowance_id).map(({ id }) => id);
  }

  /** When a client last renewed tokens of each allowance. To redeem a code or to exchange a token is no renewal. */
  lastRenewals(): ReadonlyMap<string, number> {
    const rows = this.#database.all<{ readonly allowance_id: string; readonly at_ms: number }>(
      `select allowance_id, max(rotated_at_ms) as at_ms from token_families
       where generation > 1 group by allowance_id`,
    );
    return new Map(rows.map(({ allowance_id, at_ms }) => [allowance_id, at_ms]));
  }

  /** The sessions in which a person approved the families of each allowance. */
  sessionsOfAllowances(): ReadonlyMap<string, readonly string[]> {
    const rows = this.#database.all<Pick<FamilyRow, "allowance_id" | "session_id">>(
      "select allowance_id, session_id from token_families",
    );
    const grouped = Map.groupBy(rows, ({ allowance_id }) => allowance_id);
    return new Map(
      [...grouped].map(([id, families]) => [id, families.map(({ session_id }) => session_id)]),
    );
  }

  /** Deletes what can be used no more: families of ended allowances or unredeemed codes, and old codes. */
  deleteEnded(now_ms: number): void {
    this.#end(
      `allowance_id not in (select id from allowances where revoked_at_ms is null)
       or session_ends_at_ms <= ? or (generation = 0 and rotated_at_ms <= ?)`,
      now_ms,
      now_ms - CODE_TTL_MS,
    );
    this.#database.run("delete from codes where created_at_ms <= ?", now_ms - CODE_KEEP_MS);
  }

  #end(which: string, ...parameters: readonly SqlStorageValue[]): void {
    this.#has_ended = true;
    this.#database.run(`delete from token_families where ${which}`, ...parameters);
  }

  readCode(code_hash: string): CodeRow | null {
    return this.#database.row("codes", "where code_hash = ?", code_hash);
  }

  insertCode(row: CodeRow): void {
    this.#database.insert("codes", row);
  }

  saveCodeUse(code_hash: string, used_at_ms: number): void {
    this.#database.update("codes", { used_at_ms }, { code_hash });
  }
}
