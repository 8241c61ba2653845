/**
 * Rows of D1 `DIRECTORY` in this isolate's memory. The isolate has at most one read under way, whatever the number of its
 * requests. While a copy is renewed, or cannot be, the older copy is used.
 */
import { waitUntil } from "cloudflare:workers";

/** How long a copy counts as fresh. */
export const COPY_FRESH_MS = 60_000;

/** A copy of this age is renewed in the background, so that an isolate in use rarely waits for the directory. */
const COPY_RENEW_MS = 50_000;

/** How long a request waits for a newer copy if it may use the old one. A healthy D1 responds within that time. */
const STALE_WAIT_MS = 250;

/** The pause after a failed read. */
const READ_RETRY_MS = 5_000;

/** A read that takes longer has failed. */
const READ_TIMEOUT_MS = 2_000;

/** A read without an end after this time was stopped together with the request that began it. */
const READ_LOST_MS = READ_TIMEOUT_MS + 1_000;

/** How often a request looks whether the read of another request has ended. It cannot wait for that request's I/O. */
const READ_POLL_MS = 25;

export interface Copy<Value> {
  readonly value: Value;
  readonly read_at_ms: number;
}

/** A read that is under way. */
interface Read {
  readonly began_at_ms: number;
  /** Requests with an older copy wait for it no longer. */
  is_slow: boolean;
}

interface SharedCopyOptions<Value> {
  readonly read: () => Promise<Value>;
  /** How old a copy may be that is used while the directory cannot be read. */
  readonly stale_max_ms: number;
  /** Logs the reason of a failed read. */
  readonly logFailure: (error: unknown) => void;
}

export class SharedCopy<Value> {
  readonly #options: SharedCopyOptions<Value>;
  #known: Copy<Value> | null = null;
  #under_way: Read | null = null;
  /** Null: the last read succeeded. */
  #failed_at_ms: number | null = null;

  constructor(options: SharedCopyOptions<Value>) {
    this.#options = options;
  }

  /** The last copy, of any age. */
  known(): Copy<Value> | null {
    return this.#known;
  }

  /**
   * The copy, read again if it is not fresh. While that takes long or fails, an older copy that is young enough is used:
   * once reads fail, without waiting for the next one.
   * Null: no such copy exists. It never throws.
   */
  recall(): Promise<Copy<Value> | null> {
    return this.#recallWithin(this.#options.stale_max_ms);
  }

  /** The copy if it is fresh, after a read if necessary; null: the directory cannot be read now. It never throws. */
  recallFresh(): Promise<Copy<Value> | null> {
    return this.#recallWithin(COPY_FRESH_MS);
  }

  /** Reads now, because something new may be missing in the copy. Not while reads fail. It never throws. */
  async reread(): Promise<void> {
    // The read of another request may have begun too early to see what is new.
    if (this.#failed_at_ms === null) await this.#otherRead(false);
    await this.#begin();
  }

  /** Whether the last read failed. */
  isFailing(): boolean {
    return this.#failed_at_ms !== null;
  }

  /** Clears the copy after a change in this isolate. A read that is under way does not restore it. */
  forget(): void {
    this.#known = null;
    this.#under_way = null;
    // The change succeeded, so the directory works again.
    this.#failed_at_ms = null;
  }

  #isYoungerThan(age_ms: number): boolean {
    return this.#known !== null && Date.now() - this.#known.read_at_ms < age_ms;
  }

  #isReading(): boolean {
    return this.#under_way !== null && Date.now() - this.#under_way.began_at_ms < READ_LOST_MS;
  }

  #isPausing(): boolean {
    return this.#failed_at_ms !== null && Date.now() - this.#failed_at_ms < READ_RETRY_MS;
  }

  async #read(own: Read): Promise<void> {
    const slow_timer = setTimeout(() => (own.is_slow = true), STALE_WAIT_MS);
    try {
      const value = await within(READ_TIMEOUT_MS, this.#options.read());
      // After a change or a later read, its rows may be outdated.
      if (this.#under_way !== own) return;
      this.#known = { value, read_at_ms: own.began_at_ms };
      this.#failed_at_ms = null;
    } catch (error) {
      this.#options.logFailure(error);
      if (this.#under_way === own) this.#failed_at_ms = Date.now();
    } finally {
      clearTimeout(slow_timer);
      if (this.#under_way === own) this.#under_way = null;
    }
  }

  /** Null: another read is under way, or one failed just now. */
  #begin(): Promise<void> | null {
    if (this.#isReading() || this.#isPausing()) return null;
    this.#under_way = { began_at_ms: Date.now(), is_slow: false };
    const started = this.#read(this.#under_way);
    // It also ends if the client of this request disconnects.
    waitUntil(started);
    return started;
  }

  /** Waits for the read of another request, at most until it is slow if this request `has_copy`. */
  async #otherRead(has_copy: boolean): Promise<void> {
    for (
      let waited_ms = 0;
      waited_ms < READ_LOST_MS && this.#isReading();
      waited_ms += READ_POLL_MS
    ) {
      if (has_copy && (this.#under_way?.is_slow === true || waited_ms >= STALE_WAIT_MS)) return;
      await new Promise((resolve) => setTimeout(resolve, READ_POLL_MS));
    }
  }

  /** The copy if it is younger than `usable_ms`. */
  async #recallWithin(usable_ms: number): Promise<Copy<Value> | null> {
    if (this.#isYoungerThan(COPY_RENEW_MS)) return this.#known;
    const began = this.#begin();
    if (this.#isYoungerThan(COPY_FRESH_MS)) return this.#known;
    const has_copy = this.#isYoungerThan(usable_ms);
    const is_failing = this.#failed_at_ms !== null;
    if (began !== null) {
      if (!has_copy) await began;
      else if (!is_failing) await within(STALE_WAIT_MS, began).catch(() => undefined);
    } else if (!is_failing) {
      await this.#otherRead(has_copy);
    }
    return this.#isYoungerThan(usable_ms) ? this.#known : null;
  }
}

/**
 * The result of `work`.
 * @throws Error if it takes longer than `limit_ms`.
 */
async function within<Value>(limit_ms: number, work: PromiseLike<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimedOut()), limit_ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

class TimedOut extends Error {
  override readonly name = "timed_out";
}
