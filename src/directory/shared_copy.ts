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

export interface SharedCopy<Value> {
  /** The last copy, of any age. */
  known(): Copy<Value> | null;
  /**
   * The copy, read again if it is not fresh. While that takes long or fails, an older copy that is young enough is used:
   * once reads fail, without waiting for the next one.
   * Null: no such copy exists. It never throws.
   */
  recall(): Promise<Copy<Value> | null>;
  /** The copy if it is fresh, after a read if necessary; null: the directory cannot be read now. It never throws. */
  recallFresh(): Promise<Copy<Value> | null>;
  /** Reads now, because something new may be missing in the copy. Not while reads fail. It never throws. */
  reread(): Promise<void>;
  /** Whether the last read failed. */
  isFailing(): boolean;
  /** Clears the copy after a change in this isolate. A read that is under way does not restore it. */
  forget(): void;
}

/** A read that is under way. */
interface Read {
  readonly began_at_ms: number;
  /** Requests with an older copy wait for it no longer. */
  is_slow: boolean;
}

export interface SharedCopyOptions<Value> {
  readonly read: () => Promise<Value>;
  /** How old a copy may be that is used while the directory cannot be read. */
  readonly stale_max_ms: number;
  /** Logs the reason of a failed read. */
  readonly logFailure: (error: unknown) => void;
}

export function createSharedCopy<Value>(options: SharedCopyOptions<Value>): SharedCopy<Value> {
  let known: Copy<Value> | null = null;
  let under_way: Read | null = null;
  /** Null: the last read succeeded. */
  let failed_at_ms: number | null = null;

  const isYoungerThan = (age_ms: number): boolean =>
    known !== null && Date.now() - known.read_at_ms < age_ms;
  const isReading = (): boolean =>
    under_way !== null && Date.now() - under_way.began_at_ms < READ_LOST_MS;
  const isPausing = (): boolean =>
    failed_at_ms !== null && Date.now() - failed_at_ms < READ_RETRY_MS;

  const read = async (own: Read): Promise<void> => {
    const slow_timer = setTimeout(() => (own.is_slow = true), STALE_WAIT_MS);
    try {
      const value = await within(READ_TIMEOUT_MS, options.read());
      // After a change or a later read, its rows may be outdated.
      if (under_way !== own) return;
      known = { value, read_at_ms: own.began_at_ms };
      failed_at_ms = null;
    } catch (error) {
      options.logFailure(error);
      if (under_way === own) failed_at_ms = Date.now();
    } finally {
      clearTimeout(slow_timer);
      if (under_way === own) under_way = null;
    }
  };
  /** Null: another read is under way, or one failed just now. */
  const begin = (): Promise<void> | null => {
    if (isReading() || isPausing()) return null;
    under_way = { began_at_ms: Date.now(), is_slow: false };
    const started = read(under_way);
    // It also ends if the client of this request disconnects.
    waitUntil(started);
    return started;
  };
  /** Waits for the read of another request, at most until it is slow if this request `has_copy`. */
  const otherRead = async (has_copy: boolean): Promise<void> => {
    for (let waited_ms = 0; waited_ms < READ_LOST_MS && isReading(); waited_ms += READ_POLL_MS) {
      if (has_copy && (under_way?.is_slow === true || waited_ms >= STALE_WAIT_MS)) return;
      await new Promise((resolve) => setTimeout(resolve, READ_POLL_MS));
    }
  };
  /** The copy if it is younger than `usable_ms`. */
  const recallWithin = async (usable_ms: number): Promise<Copy<Value> | null> => {
    if (isYoungerThan(COPY_RENEW_MS)) return known;
    const began = begin();
    if (isYoungerThan(COPY_FRESH_MS)) return known;
    const has_copy = isYoungerThan(usable_ms);
    const is_failing = failed_at_ms !== null;
    if (began !== null) {
      if (!has_copy) await began;
      else if (!is_failing) await within(STALE_WAIT_MS, began).catch(() => undefined);
    } else if (!is_failing) {
      await otherRead(has_copy);
    }
    return isYoungerThan(usable_ms) ? known : null;
  };

  return {
    known: () => known,
    recall: () => recallWithin(options.stale_max_ms),
    recallFresh: () => recallWithin(COPY_FRESH_MS),
    async reread() {
      // The read of another request may have begun too early to see what is new.
      if (failed_at_ms === null) await otherRead(false);
      await begin();
    },
    isFailing: () => failed_at_ms !== null,
    forget() {
      known = null;
      under_way = null;
      // The change succeeded, so the directory works again.
      failed_at_ms = null;
    },
  };
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
