/**
 * The app keys that the account accepted lately. While the directory cannot be read, nobody can verify an app's key.
 * Such a key may still read, report on and end its app's jobs here, so that work in progress settles, if the account
 * accepted it within the last hour.
 * The account knows from its own row which app the key belongs to. The accepted trade-off: meanwhile a revoked key can
 * settle too, for at most that hour.
 */
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../../domain/limits.ts";
import { accepted, refused } from "../../domain/result.ts";
import { concernsOwnJob, type Wanted } from "../caller.ts";
import type { Answer, Caller, VerifiedCaller } from "../contract.ts";
import type { Transaction } from "../transaction.ts";

/** How long an accepted key may end jobs without being verified again. Most work takes less. */
const APP_KEY_MEMORY_MS = 60 * 60 * 1000;

/**
 * The shortest time between two writes of one key's row, so that jobs in quick succession do not cost a row each. The
 * last acceptance may therefore count for ten minutes less than the hour, never for more.
 */
const APP_KEY_WRITE_INTERVAL_MS = 10 * 60 * 1000;

/** The refusal of a key that cannot be verified. It is the same for every account, so it does not reveal which accounts exist. */
export const UNVERIFIED = {
  code: "unavailable",
  retry_after_seconds: UNAVAILABLE_RETRY_AFTER_SECONDS,
} as const;

/** The caller; for a key that could not be verified, the app that the account accepted it for. */
export function recognise(
  { store, now_ms }: Transaction,
  caller: Caller,
  wanted: Wanted,
): Answer<VerifiedCaller> {
  if (caller.kind !== "unverified_app") return accepted(caller);
  if (!concernsOwnJob(wanted)) return refused(UNVERIFIED);
  const { key_hash } = caller;
  const known = store.readAppKey(key_hash);
  if (known === null || now_ms - known.accepted_at_ms >= APP_KEY_MEMORY_MS) {
    return refused(UNVERIFIED);
  }
  return accepted({ kind: "app", app_slug: known.app_slug, key_hash });
}

/** Remembers an app's key that was verified and accepted. A key that was only recognised is not accepted for longer. */
export function rememberKey({ store, now_ms }: Transaction, caller: Caller): void {
  if (caller.kind !== "app") return;
  const { key_hash, app_slug } = caller;
  const known = store.readAppKey(key_hash);
  if (known !== null && now_ms - known.accepted_at_ms < APP_KEY_WRITE_INTERVAL_MS) return;
  // Only with a new key, so that the usual write is one row.
  if (known === null) store.deleteAppKeys(now_ms - APP_KEY_MEMORY_MS);
  store.saveAppKey({ key_hash, app_slug, accepted_at_ms: now_ms });
}
