/**
 * What the object owes the read model, and its delivery.
 *
 * D1's own row of the account says which ledger line it has. An object that does not know (D1 failed)
 * asks for that one row and sends the lines after it, so that nothing is inferred from alarms and no
 * marker is kept: a delivery costs no row here. Sending a line twice changes nothing. An object that woke
 * and writes presumes that D1 has what was there before, which nearly always is so: it sends its lines
 * with that, D1 takes them where its row is the same, and else the object asks.
 *
 * One row is written where it goes wrong, `projection_debt`: since when, so that the pauses between
 * tries grow however often the object is evicted, and how far a rebuild has come.
 */
import { errorName } from "../domain/error_name.ts";
import { backOff } from "../domain/back_off.ts";
import { PROJECTION_BATCH_LINES, PROJECTION_FLUSH_BATCHES } from "../domain/limits.ts";
import type { ProjectedAccount, Projector } from "../readmodel/projector.ts";
import {
  accountAsOf,
  allGrants,
  isOwn,
  jobRangeAfter,
  newestAccount,
  rowsOf,
} from "./projection.ts";
import { projectionDebt } from "./schema.ts";
import { statement, type AccountDatabase } from "./statement.ts";
import type { AccountRow, Store } from "./store.ts";

type Debt = Pick<typeof projectionDebt.$inferSelect, "since_ms" | "rebuilt_to_job_id">;

const the_debt = statement((database) => database.select().from(projectionDebt));

export class Outbox {
  readonly #database: AccountDatabase;
  readonly #store: Store;
  readonly #projector: Projector;
  /** The newest line that D1 is known to have; null: not known. */
  #known_line: number | null = null;
  /** The newest line before what this instance wrote, until it has sent anything; null: nothing written. */
  #presumed_line: number | null = null;
  /** D1 is to be asked, whatever is known. */
  #is_doubted = false;
  /** D1's row is not what this object sent, and a rebuild puts it right. */
  #is_foreign = false;
  /** The row in storage; null: none. */
  #debt: Debt | null;
  /** A delivery under way. Two at a time would only send the same twice. */
  #under_way: Promise<number | null> | null = null;

  constructor(database: AccountDatabase, store: Store, projector: Projector) {
    this.#database = database;
    this.#store = store;
    this.#projector = projector;
    this.#debt = the_debt(database).get() ?? null;
  }

  /** When a debt that an earlier instance left is due, in milliseconds since the epoch; null: none. */
  get due_at_ms(): number | null {
    return this.#debt === null ? null : retryAt(this.#debt.since_ms);
  }

  /**
   * Sends what is owed as of now, a bounded part of it; lines that come meanwhile have an alarm of
   * their own. Never throws.
   * @returns when to call again, in milliseconds since the epoch: at once where there is more, later
   * where D1 cannot be reached; null where all is delivered.
   */
  async flush(): Promise<number | null> {
    // One after another: what is under way sends what was there when it began, and no more.
    const before = this.#under_way ?? Promise.resolve(null);
    const this_one = before.catch(() => null).then(() => this.#deliver());
    this.#under_way = this_one;
    return this_one;
  }

  /**
   * Whether D1 lacks lines, for an object with no alarm to say so: the platform drops one whose handler
   * failed too often. The next flush then asks. Never throws; null where D1 cannot be asked.
   */
  async isBehind(): Promise<boolean | null> {
    const account = this.#store.readAccount();
    if (account === null) return false;
    try {
      const rows = await this.#projector.read(account.identity_id);
      const [known] = rows;
      const is_one = rows.length === 1 && known?.line === this.#store.readNewestEntry()?.line;
      if (known !== undefined && is_one && isOwn(this.#store, known)) return false;
      this.doubt();
      return true;
    } catch {
      return null;
    }
  }

  /** Says that the object writes after a line, 0 the first: what was there before is presumed sent. */
  presume(line: number): void {
    this.#presumed_line ??= line;
  }

  /** Says that D1 may not have what was sent to it: the next flush asks. */
  doubt(): void {
    this.#is_doubted = true;
  }

  /**
   * Has the read model forget the account, a bounded part of it, and take nothing of it from then on.
   * @returns whether nothing of it remains. @throws where D1 cannot be reached.
   */
  async forgetForGood(account_id: string): Promise<boolean> {
    await this.#projector.bar(account_id);
    return (await this.#forget(account_id, PROJECTION_FLUSH_BATCHES)) > 0;
  }

  /** Notes that the whole account is to be sent anew; {@link flush} does it, in portions. */
  startRebuild(): void {
    if (this.#store.readNewestEntry() === null) return;
    this.#saveDebt({ since_ms: this.#debt?.since_ms ?? Date.now(), rebuilt_to_job_id: "" });
  }

  async #deliver(): Promise<number | null> {
    const newest = this.#store.readNewestEntry();
    const account = this.#store.readAccount();
    if (newest === null || account === null) return null;
    try {
      const left = await this.#sendOwed(account, newest.line);
      // More than one flush sends, or a rebuild was asked for meanwhile.
      if (left === 0 || this.#isRebuilding()) return Date.now();
      this.#clearDebt();
      return null;
    } catch (error) {
      return this.#postpone(error);
    }
  }

  /** @returns how many batches could still be sent; 0: it is not finished. */
  async #sendOwed(account: AccountRow, to_line: number): Promise<number> {
    let left = PROJECTION_FLUSH_BATCHES;
    const presumed_line = this.#takePresumed();
    if (presumed_line !== null) {
      const unsent = await this.#sendLines(presumed_line, to_line, left);
      // Where it was not so, or nothing was to be sent, as after a roll-back, D1 is asked.
      if (this.#known_line !== null) return unsent;
    }
    const asks =
      this.#known_line === null || this.#is_doubted || this.#debt?.rebuilt_to_job_id === "";
    if (asks) {
      // Before the answer: a doubt that comes beside it may be of something later.
      this.#is_doubted = false;
      const rows = await this.#projector.read(account.identity_id);
      for (const former of rows.filter(({ id }) => id !== account.id)) {
        left = await this.#forget(former.id, left);
      }
      this.#known_line = this.#takeKnownLine(rows.find(({ id }) => id === account.id));
    }
    if (this.#isRebuilding()) left = await this.#rebuild(left);
    const unsent = await this.#sendLines(this.#known_line ?? 0, to_line, left);
    // It was asked just now. To ask again at once could go on for ever.
    if (asks && this.#known_line === null) throw new Error("D1 takes no line after those it has");
    return unsent;
  }

  /** The line that D1 is presumed to have, before all that is to be sent; once. */
  #takePresumed(): number | null {
    const line = this.#presumed_line;
    this.#presumed_line = null;
    // Of a new account D1 may have a former one of the same identity.
    if (line === null || line === 0 || this.#known_line !== null) return null;
    // With a debt it lacks lines.
    return this.#is_doubted || this.#debt !== null ? null : line;
  }

  /** Deletes an account from the read model. @returns how many batches are left; 0: not finished. */
  async #forget(account_id: string, batches: number): Promise<number> {
    for (let left = batches; left > 0; left -= 1) {
      if (await this.#projector.forget(account_id)) return left;
    }
    return 0;
  }

  /** The line that D1's row names. A row that is not what this object sent starts a rebuild. */
  #takeKnownLine(known: ProjectedAccount | undefined): number {
    this.#is_foreign = false;
    if (known === undefined || known.line === 0) return 0;
    this.#is_foreign = !isOwn(this.#store, known);
    if (this.#is_foreign) this.startRebuild();
    return known.line;
  }

  #isRebuilding(): boolean {
    return this.#debt !== null && this.#debt.rebuilt_to_job_id !== null;
  }

  /**
   * Sends the account anew, from where it stopped: first its grants, then its jobs, range by range. Each
   * is put in place of what is there in one transaction, so that nothing is missing meanwhile. Lines that
   * D1's row does not name are sent after it: that row moves by lines alone, since each is counted in the
   * daily totals as it does. Only a row that this object never sent is replaced.
   */
  async #rebuild(batches: number): Promise<number> {
    for (let left = batches; left > 0; left -= 1) {
      const after_id = this.#debt?.rebuilt_to_job_id ?? "";
      if (after_id === "") {
        const newest = newestAccount(this.#store);
        if (this.#is_foreign) {
          await this.#projector.replaceAccount(newest);
          this.#known_line = newest.line;
          this.#is_foreign = false;
        }
        await this.#projector.replaceGrants(newest.id, allGrants(this.#store));
      }
      const range = jobRangeAfter(this.#store, after_id, PROJECTION_BATCH_LINES);
      await this.#projector.replaceJobs(range);
      const since_ms = this.#debt?.since_ms ?? Date.now();
      this.#saveDebt({ since_ms, rebuilt_to_job_id: range.to_id });
      if (range.to_id === null) return left;
    }
    return 0;
  }

  async #sendLines(from_line: number, to_line: number, batches: number): Promise<number> {
    let after_line = from_line;
    for (let left = batches; left > 0; left -= 1) {
      const end_line = Math.min(to_line, after_line + this.#projector.lines_at_once);
      const lines = this.#store.readEntriesBetween(after_line, end_line);
      const last = lines.at(-1);
      if (last === undefined) return left;
      const rows = rowsOf(this.#store, lines);
      const before = after_line === 0 ? undefined : accountAsOf(this.#store, after_line);
      const moved_on = await this.#projector.apply(rows, after_line, before);
      this.#known_line = moved_on ? last.line : null;
      // D1 was emptied or put back, or has not what was presumed: the next flush asks what it has.
      if (!moved_on) return 0;
      after_line = last.line;
    }
    return 0;
  }

  #postpone(error: unknown): number {
    const since_ms = this.#owedSince();
    // It may have been done all the same.
    this.#known_line = null;
    // What failed, never what was being written.
    const reason = errorName(error);
    console.warn({ event: "projection_failed", lasting_ms: Date.now() - since_ms, reason });
    if (this.#debt?.since_ms !== since_ms) {
      this.#saveDebt({ since_ms, rebuilt_to_job_id: this.#debt?.rebuilt_to_job_id ?? null });
    }
    return retryAt(since_ms);
  }

  /** Since when D1 lacks lines; it moves on with what was delivered since the debt was noted. */
  #owedSince(): number {
    const [noted_ms, oldest_ms] = [this.#debt?.since_ms, this.#oldestUndelivered()];
    if (noted_ms === undefined) return oldest_ms ?? Date.now();
    return Math.max(noted_ms, oldest_ms ?? noted_ms);
  }

  /** When the oldest line that D1 lacks was written; null where that is not known. */
  #oldestUndelivered(): number | null {
    if (this.#known_line === null) return null;
    return this.#store.readEntry(this.#known_line + 1)?.at_ms ?? null;
  }

  #saveDebt(debt: Debt): void {
    this.#database
      .insert(projectionDebt)
      .values({ singleton: 1, ...debt })
      .onConflictDoUpdate({ target: projectionDebt.singleton, set: debt })
      .run();
    this.#debt = debt;
  }

  #clearDebt(): void {
    if (this.#debt === null) return;
    this.#database.delete(projectionDebt).run();
    this.#debt = null;
  }
}

function retryAt(since_ms: number): number {
  const now_ms = Date.now();
  return now_ms + backOff(now_ms - since_ms, Math.random());
}
