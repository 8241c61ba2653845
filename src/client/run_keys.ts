/** The idempotency keys of one run of a job, and how long a run retries. */
import { PassbookError } from "./errors.ts";
import type { SettleOptions } from "./jobs.ts";

export interface RunKeys {
  /** The id of this run of the job. */
  readonly run: string;
  readonly create: string;
  readonly complete: string;
  readonly fail: string;
  /** Whether the caller chose the key, so that another process can use it again. */
  readonly is_own: boolean;
}

/** How long a request without a response is repeated: an hour less than the service keeps idempotency keys. */
export const PERSISTENCE_MS = 23 * 60 * 60 * 1000;

/** The service accepts 255 characters, and the derived key adds a suffix. */
const OWN_KEY = /^[\x21-\x7e]{1,200}$/;

/** Keys derived from the caller's own, or random ones. @throws PassbookError `invalid_argument` */
export function keysOf(key: string | undefined): RunKeys {
  if (key !== undefined && !OWN_KEY.test(key)) {
    const message = "key must be 1 to 200 printable ASCII characters without a space.";
    throw new PassbookError("invalid_argument", message);
  }
  const base = key ?? crypto.randomUUID();
  const run = crypto.randomUUID();
  return {
    run,
    create: `${base}:create`,
    // Another run of the job ends it with a step of its own, so its request is another one.
    complete: `${run}:complete`,
    fail: `${run}:fail`,
    is_own: key !== undefined,
  };
}

/** Options of a request that is repeated as long as the service remembers its key. */
export function persistently(idempotencyKey: string): SettleOptions {
  return { idempotencyKey, untilMs: Date.now() + PERSISTENCE_MS };
}
