/** The SQL of requests for approvals of single jobs. */
import { APPROVAL_KEEP_MS, type ApprovalState } from "../../domain/job_approval.ts";
import { OPEN_APPROVALS_MAX } from "../../domain/limits.ts";
import type { AccountDatabase, Rows } from "./database.ts";

type ApprovalRow = Rows["approvals"];

type Wanted = Omit<ApprovalRow, "id" | "state" | "expires_at_ms">;

export class ApprovalStore {
  readonly #database: AccountDatabase;

  constructor(database: AccountDatabase) {
    this.#database = database;
  }

  read(id: string): ApprovalRow | null {
    return this.#database.row("approvals", "where id = ?", id);
  }

  /** The open request for the same job; null: no such request is open. */
  findOpen(wanted: Wanted, now_ms: number): ApprovalRow | null {
    const { allowance_id, app_slug, action, credits, cap_credits, cap_period } = wanted;
    return this.#database.row(
      "approvals",
      `where state = 'open' and expires_at_ms > ? and allowance_id = ? and app_slug = ? and action = ?
       and credits = ? and cap_credits = ? and cap_period = ? limit 1`,
      now_ms,
      allowance_id,
      app_slug,
      action,
      credits,
      cap_credits,
      cap_period,
    );
  }

  /** Stores an open request. The oldest one of its allowance that nobody decided goes if there are too many. */
  insert(row: ApprovalRow, now_ms: number): void {
    this.#database.run("delete from approvals where expires_at_ms <= ?", now_ms - APPROVAL_KEEP_MS);
    this.#database.insert("approvals", row);
    this.#database.run(
      `delete from approvals where id in (
         select id from approvals where state = 'open' and allowance_id = ?
         order by expires_at_ms desc, id = ? desc, id desc limit -1 offset ? + 0)`,
      row.allowance_id,
      row.id,
      OPEN_APPROVALS_MAX,
    );
  }

  saveState(id: string, state: ApprovalState): void {
    this.#database.update("approvals", { state }, { id });
  }
}
