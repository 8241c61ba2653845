/**
 * The public keys of a trusted issuer, in this isolate's memory. A request waits for the issuer only if the isolate has
 * no keys yet, or if a token names a key that it does not know; in all other cases a background read keeps them current.
 */
import { waitUntil } from "cloudflare:workers";
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from "jose";
import { UPSTREAM_TIMEOUT_MS } from "../domain/limits.ts";
import { requestUpstream, UpstreamFailure } from "./ask.ts";

/** Anyone can invent key ids, so an unknown one causes at most one read in this time. */
const UNKNOWN_KEY_PAUSE_MS = 60_000;

/** The pause between reads while there are no keys at all: every person is kept out until one succeeds. */
const NO_KEYS_PAUSE_MS = 5_000;

/** Keys that are older are read again in the background: a withdrawn key is accepted for about this long. */
const KEYS_STALE_AFTER_MS = 10 * 60_000;

/** How often a request looks whether another one has read the keys. It cannot wait for that request's I/O. */
const READ_POLL_MS = 25;

/** Key sets have two or three keys, of about 500 bytes each. */
const KEY_SET_MAX_BYTES = 64 * 1024;

/** Thrown if a token cannot be checked now, because its issuer's keys could not be read. */
export class IssuerKeysUnavailable extends Error {
  constructor(issuer: string) {
    super(`the keys of ${issuer} could not be read`);
    this.name = "IssuerKeysUnavailable";
  }
}

/**
 * Finds the key of a token of `issuer`.
 * @throws IssuerKeysUnavailable, or an error of `jose` if the issuer has no such key.
 */
export function createIssuerKeys(issuer: string, jwks_uri: string): JWTVerifyGetKey {
  let keys: JWTVerifyGetKey | null = null;
  let read_at_ms = Number.NEGATIVE_INFINITY;
  let asked_at_ms = Number.NEGATIVE_INFINITY;
  const reading = { is_under_way: false };
  let last_failed = false;

  const read = async (): Promise<void> => {
    asked_at_ms = Date.now();
    reading.is_under_way = true;
    try {
      keys = await readKeySet(jwks_uri);
      read_at_ms = Date.now();
      last_failed = false;
    } catch (error) {
      // The keys that were read before stay.
      last_failed = true;
      console.warn({ event: "issuer_keys_unavailable", issuer, reason: reasonOf(error) });
    } finally {
      reading.is_under_way = false;
    }
  };
  /** Starts a read that also ends if the client of this request disconnects. */
  const start = (): Promise<void> => {
    const started = read();
    waitUntil(started);
    return started;
  };
  const may_ask = (now_ms: number): boolean =>
    now_ms - asked_at_ms >= (keys === null ? NO_KEYS_PAUSE_MS : UNKNOWN_KEY_PAUSE_MS) &&
    (!reading.is_under_way || now_ms - asked_at_ms > UPSTREAM_TIMEOUT_MS);
  const otherRead = async (): Promise<void> => {
    while (reading.is_under_way && Date.now() - asked_at_ms <= UPSTREAM_TIMEOUT_MS) {
      await new Promise((resolve) => setTimeout(resolve, READ_POLL_MS));
    }
  };

  return async (header, token) => {
    const now_ms = Date.now();
    if (keys !== null) {
      if (now_ms - read_at_ms > KEYS_STALE_AFTER_MS && may_ask(now_ms)) void start();
      try {
        return await keys(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      }
    }
    await (may_ask(now_ms) ? start() : otherRead());
    if (keys === null) throw new IssuerKeysUnavailable(issuer);
    try {
      return await keys(header, token);
    } catch (error) {
      throw last_failed ? new IssuerKeysUnavailable(issuer) : error;
    }
  };
}

async function readKeySet(jwks_uri: string): Promise<JWTVerifyGetKey> {
  const { status, text } = await requestUpstream(
    jwks_uri,
    { headers: { Accept: "application/json" } },
    { max_bytes: KEY_SET_MAX_BYTES },
  );
  if (status !== 200) throw new UpstreamFailure("server_error", status);
  // Checks the form of the set.
  return createLocalJWKSet(JSON.parse(text));
}

function reasonOf(error: unknown): string {
  if (error instanceof UpstreamFailure) return `${error.problem}, status ${error.status ?? "none"}`;
  return "not a key set";
}
