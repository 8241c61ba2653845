/**
 * Sends an account's entries to the read model.
 *
 * D1's row of the account says which entry D1 has, so this object stores no cursor, and a delivery writes no row here.
 * A delivery says what row it continues from, and D1 accepts it only if it has exactly this row: sending an entry twice
 * changes nothing, and rows of another history are noticed. A new instance supposes that D1 has the entries from before its
 * time, because nearly always it does. If D1 refuses, or there is nothing to send, the object reads D1's row.
 *
 * Only a failure writes a row, in `read_model_behind`: since when D1 lacks entries, so that the pauses between retries
 * grow even if the object is evicted, and how far a rebuild has come.
 */
import { errorName } from "../../domain/result.ts";
import { outageBackOff } from "../../domain/back_off.ts";
import {
  PROJECTION_BATCH_LINES,
  stateOf,
  type AccountState,
  type ProjectedAccount,
  type Projector,
} from "../../readmodel/projector.ts";
import {
  allGrants,
  isOwn,
  jobRangeAfter,
  newestAccount,
  rowsOf,
  stateAt,
} from "./read_model_rows.ts";
import { RestoreUnfinished, StorageLost } from "./restore_unfinished.ts";
import type { AccountDatabase, Rows } from "../sql/database.ts";
import type { AccountRow, EntryRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";

/**
 * Batches that one alarm sends; the next alarm continues. An invocation may make 1,000 calls to D1 and other
 * services, and expiry and clean-up need the alarm too.
 */
export const DELIVERY_BATCHES_MAX = 40;

type Behind = Pick<Rows["read_model_behind"], "since_ms" | "rebuilt_to_job_id">;

/** This instance's knowledge of D1's row. */
type Known =
  | { readonly state: "unknown" }
  /** D1 had the account as of this entry when the instance began, if everything was delivered; null: none. */
  | { readonly state: "supposed"; readonly newest: EntryRow | null }
  /** D1 has the account as of an entry, or will have it when everything sent has arrived; null: no account. */
  | { readonly state: "known"; readonly row: AccountState | null }
  /** D1's row is not what this object sent. A rebuild replaces it. */
  | { readonly state: "foreign" };

/** Counts a failed delivery for the operators, with the time since which D1 lacks entries. Never throws. */
type CountFailure = (failure: {
  readonly reason: string;
  readonly oldest_at_ms: number;
}) => Promise<void>;

interface OutboxParts {
  readonly projector: Projector;
  /** Repeats work that lacks rows which have left for the archive. */
  readonly recalling: <Value>(work: () => Promise<Value>) => Promise<Value>;
  /** Whether a restore is not finished. @throws if the archive cannot be reached */
  readonly isRestoring: () => Promise<boolean>;
  /** Deletes a portion of an account's files in the archive. @returns whether none remains */
  readonly forgetArchive: (account_id: string) => Promise<boolean>;
  readonly countFailure: CountFailure;
}

export class Outbox {
  readonly #database: AccountDatabase;
  readonly #store: Store;
  readonly #projector: Projector;
  readonly #recalling: OutboxParts["recalling"];
  readonly #isRestoring: OutboxParts["isRestoring"];
  readonly #forgetArchive: OutboxParts["forgetArchive"];
  readonly #countFailure: CountFailure;
  #known: Known;
  /** The row in storage; null: no row. */
  #behind: Behind | null;
  /** The delivery under way. Two at the same time would send the same entries. */
  #under_way: Promise<number | null> | null = null;

  constructor(
    database: AccountDatabase,
    store: Store,
    { projector, recalling, isRestoring, forgetArchive, countFailure }: OutboxParts,
  ) {
    this.#database = database;
    this.#store = store;
    this.#projector = projector;
    this.#recalling = recalling;
    this.#isRestoring = isRestoring;
    this.#forgetArchive = forgetArchive;
    this.#countFailure = countFailure;
    this.#behind = database.row("read_model_behind", "");
    this.#known =
      this.#behind === null
        ? { state: "supposed", newest: store.readNewestEntry() }
        : { state: "unknown" };
  }

  /** When the retry of a delivery that is behind is due, in milliseconds since the epoch; null: none is behind. */
  get due_at_ms(): number | null {
    return this.#behind === null ? null : retryAt(this.#behind.since_ms);
  }

  /**
   * Sends a bounded part of the entries that exist now; later entries have their own alarm. Never throws.
   * @returns when to call again, in milliseconds since the epoch: at once if there is more, later if D1
   * cannot be reached; null if everything is delivered.
   */
  async flush(): Promise<number | null> {
    // One after another: the delivery under way sends only the entries that existed when it began.
    const before = this.#under_way ?? Promise.resolve(null);
    const this_one = before.catch(() => null).then(() => this.#deliver());
    this.#under_way = this_one;
    return this_one;
  }

  /**
   * Whether D1 has every entry. Entries sent through a queue may not have arrived yet, or may be lost.
   * @throws if D1 cannot be reached.
   */
  async isDelivered(): Promise<boolean> {
    const account = this.#store.readAccount();
    if (account === null) return true;
    const [row, ...others] = await this.#projector.read(account.identity_id);
    if (row === undefined || others.length > 0) return false;
    if (!(await this.#recalling(async () => isOwn(this.#store, row)))) return false;
    return row.line === this.#store.readNewestEntry()?.line;
  }

  /** @throws StorageLost if this account was opened because the platform lost the storage of an archived one */
  async checkFormer({ id, identity_id }: AccountRow): Promise<void> {
    for (const former of await this.#projector.read(identity_id)) {
      if (former.id !== id && (await this.#projector.isArchived(former.id)))
        throw new StorageLost();
    }
  }

  /** D1 may lack what was sent, so the next flush reads its row. */
  forgetKnown(): void {
    this.#known = { state: "unknown" };
  }

  /** Somebody asks for a delivery, perhaps because D1 is back: the pauses between retries begin again with the shortest. */
  retrySoon(): void {
    if (this.#behind !== null) this.#saveBehind({ ...this.#behind, since_ms: Date.now() });
  }

  /**
   * Makes the read model refuse the account from now on, and deletes a bounded part of it there.
   * @returns whether nothing of it remains. @throws if D1 cannot be reached.
   */
  async forgetForGood(account_id: string): Promise<boolean> {
    await this.#projector.bar(account_id);
    return (await this.#forget(account_id, DELIVERY_BATCHES_MAX)) > 0;
  }

  /** Records that the whole account must be sent again. {@link flush} does it, in portions. */
  startRebuild(since_ms = Date.now()): void {
    if (this.#store.readNewestEntry() === null) return;
    this.#saveBehind({ since_ms, rebuilt_to_job_id: "" });
  }

  async #deliver(): Promise<number | null> {
    const newest = this.#store.readNewestEntry();
    const account = this.#store.readAccount();
    if (newest === null || account === null) return null;
    try {
      const left = await this.#recalling(() => this.#catchUp(account, newest.line));
      // More than one flush sends, or a rebuild was requested meanwhile.
      if (left === 0 || this.#isRebuilding()) return Date.now();
      this.#clearBehind();
      return null;
    } catch (error) {
      return this.#postpone(error);
    }
  }

  /** @returns how many more batches this flush may send; 0: not finished. */
  async #catchUp(account: AccountRow, to_line: number): Promise<number> {
    let left = DELIVERY_BATCHES_MAX;
    const reads = !this.#maySend(to_line) || this.#behind?.rebuilt_to_job_id === "";
    if (reads) left = await this.#readKnown(account, left);
    if (this.#isRebuilding()) left = await this.#rebuild(left);
    // What is under way in a queue may not arrive before this: what D1 lacks does not wait behind it.
    const unsent = await this.#sendEntries(to_line, left, reads ? "applyNow" : "apply");
    if (unsent !== "refused") return unsent;
    // D1 lacks entries, was emptied or restored, or this object was.
    this.forgetKnown();
    // D1's row was read just before. To read it again at once could repeat for ever.
    if (reads) throw new Error("D1 accepts no entry after those it has");
    return this.#catchUp(account, to_line);
  }

  /** Whether a delivery, or nothing at all, is due without a look at D1's row. */
  #maySend(to_line: number): boolean {
    if (this.#known.state !== "supposed") return this.#known.state !== "unknown";
    return (this.#known.newest?.line ?? 0) < to_line;
  }

  /** Reads D1's row, and deletes rows of former accounts of the identity. @returns as {@link #catchUp}. */
  async #readKnown(account: AccountRow, batches: number): Promise<number> {
    const before = this.#known;
    const rows = await this.#projector.read(account.identity_id);
    const own = this.#judge(rows.find(({ id }) => id === account.id));
    // D1's row is then of the time after, whose entries come back with the same numbers.
    if (own.state === "foreign" && (await this.#isRestoring())) throw new RestoreUnfinished();
    let left = batches;
    for (const former of rows.filter(({ id }) => id !== account.id)) {
      await this.#leaveFormer(account, former.id);
      left = await this.#forget(former.id, left);
    }
    if (left > 0) this.#learn(before, own);
    return left;
  }

  /** What the archive has of a former account goes with the person, and waits for an operator otherwise. */
  async #leaveFormer({ deleted_at_ms }: AccountRow, former_id: string): Promise<void> {
    if (deleted_at_ms === null) {
      const is_lost = !this.#isRebuilding() && (await this.#projector.isArchived(former_id));
      if (is_lost) throw new StorageLost();
      return;
    }
    let is_gone = false;
    while (!is_gone) is_gone = await this.#forgetArchive(former_id);
  }

  #judge(row: ProjectedAccount | undefined): Known {
    if (row === undefined) return { state: "known", row: null };
    if (isOwn(this.#store, row)) return { state: "known", row: stateOf(row) };
    this.startRebuild(this.#behind?.since_ms);
    return { state: "foreign" };
  }

  /** Stores what a call to D1 showed, unless {@link forgetKnown} was called meanwhile. */
  #learn(before: Known, now: Known): void {
    if (this.#known === before) this.#known = now;
  }

  /** Deletes an account from the read model. @returns as {@link #catchUp}. */
  async #forget(account_id: string, batches: number): Promise<number> {
    for (let left = batches; left > 0; left -= 1) {
      if (await this.#projector.forget(account_id)) return left;
    }
    return 0;
  }

  #isRebuilding(): boolean {
    return this.#behind !== null && this.#behind.rebuilt_to_job_id !== null;
  }

  /**
   * Sends the account again, continuing where it stopped: first its grants, then its jobs, in ranges of ids. Each batch
   * replaces rows in one transaction, so that nothing is missing meanwhile. Entries that D1's row lacks are sent
   * afterwards as usual, because D1's daily totals count each entry when its row moves. Only a foreign row is replaced.
   */
  async #rebuild(batches: number): Promise<number> {
    for (let left = batches; left > 0; left -= 1) {
      const after_id = this.#behind?.rebuilt_to_job_id ?? "";
      if (after_id === "") {
        const newest = newestAccount(this.#store);
        const before = this.#known;
        if (before.state === "foreign") {
          await this.#projector.replaceAccount(newest);
          this.#learn(before, { state: "known", row: stateOf(newest) });
        }
        await this.#projector.replaceGrants(newest.id, allGrants(this.#store));
      }
      // The jobs before were left to the archive, and are older than the read model keeps jobs.
      const from_id = after_id === "" ? this.#store.left.jobs_end : after_id;
      const range = jobRangeAfter(this.#store, from_id, PROJECTION_BATCH_LINES);
      const rebuilt_to_job_id = await this.#projector.replaceJobs(range);
      const since_ms = this.#behind?.since_ms ?? Date.now();
      this.#saveBehind({ since_ms, rebuilt_to_job_id });
      if (rebuilt_to_job_id === null) return left;
    }
    return 0;
  }

  async #sendEntries(
    to_line: number,
    batches: number,
    send: "apply" | "applyNow",
  ): Promise<number | "refused"> {
    for (let left = batches; left > 0; left -= 1) {
      const before = this.#known;
      const after = this.#has(before);
      if (after === undefined) return 0;
      const after_line = after?.line ?? 0;
      const end_line = Math.min(to_line, after_line + this.#projector.lines_at_once);
      const entries = this.#store.readEntriesBetween(after_line, end_line);
      if (entries.length === 0) return left;
      const rows = rowsOf(this.#store, entries);
      if (!(await this.#projector[send](rows, after))) return "refused";
      this.#learn(before, { state: "known", row: stateOf(rows.account) });
    }
    return 0;
  }

  /** What D1 has, or is supposed to have; null: no account; undefined: unknown, or of another history. */
  #has(known: Known): AccountState | null | undefined {
    if (known.state === "known") return known.row;
    if (known.state !== "supposed") return undefined;
    return known.newest === null ? null : stateAt(this.#store, known.newest);
  }

  #postpone(error: unknown): number {
    const since_ms = this.#behindSince();
    // The error's name contains nothing of the data.
    const reason = errorName(error);
    console.warn({ event: "projection_failed", lasting_ms: Date.now() - since_ms, reason });
    // Not awaited, because the directory may be as slow as D1 is.
    void this.#countFailure({ reason, oldest_at_ms: since_ms });
    if (this.#behind?.since_ms !== since_ms) {
      this.#saveBehind({ since_ms, rebuilt_to_job_id: this.#behind?.rebuilt_to_job_id ?? null });
    }
    return retryAt(since_ms);
  }

  /** Since when D1 lacks entries: since that was stored, or since its oldest missing entry if that is later. */
  #behindSince(): number {
    const [noted_ms, oldest_ms] = [this.#behind?.since_ms, this.#oldestUndelivered()];
    if (noted_ms === undefined) return oldest_ms ?? Date.now();
    return Math.max(noted_ms, oldest_ms ?? noted_ms);
  }

  /** When the oldest entry that D1 lacks was written; null: unknown. */
  #oldestUndelivered(): number | null {
    const row = this.#store.readAccount() === null ? undefined : this.#has(this.#known);
    return row === undefined ? null : (this.#store.readEntry((row?.line ?? 0) + 1)?.at_ms ?? null);
  }

  #saveBehind(behind: Behind): void {
    this.#database.save("read_model_behind", ["singleton"], { singleton: 1, ...behind });
    this.#behind = behind;
  }

  #clearBehind(): void {
    if (this.#behind === null) return;
    this.#database.run("delete from read_model_behind");
    this.#behind = null;
  }
}

function retryAt(since_ms: number): number {
  const now_ms = Date.now();
  return now_ms + outageBackOff(now_ms - since_ms, Math.random());
}
