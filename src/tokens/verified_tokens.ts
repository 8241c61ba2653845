/**
 * A cache of verified tokens in this isolate's memory. A caller sends the same token for a quarter of an hour
 * or longer, and a valid signature stays valid: only the expiry must be checked again. Checking an Ed25519
 * signature takes a fifth of the time of a small request.
 */
import { TOKEN_MAX_LENGTH } from "../domain/limits.ts";

/** The clock difference tolerated when a token's times are checked. */
export const TOKEN_CLOCK_TOLERANCE_SECONDS = 5;

/** Tokens that one isolate caches as verified, at about 1 KB each. A full cache is emptied. */
const VERIFIED_TOKENS_MAX = 2_000;

/** The claims of a valid token, and its expiry (claim `exp`). */
export interface VerifiedToken<Claims> {
  readonly claims: Claims;
  readonly expires_at_seconds: number;
}

/** When a token expires (claim `exp`), in milliseconds since the epoch. */
export interface Expiring {
  readonly expires_at_ms: number;
}

/** The claims of a valid token of `issuer`; null for any other. */
export type VerifyToken<Claims> = (
  issuer: string,
  token: string,
) => Promise<(Claims & Expiring) | null>;

interface Known<Claims> {
  readonly claims: Claims & Expiring;
  readonly issuer: string;
  readonly until_ms: number;
}

/**
 * Caches what `check` accepts, and calls it for all other tokens. `check` throws for an invalid token. The
 * reason is not passed on, because it would help a forger; only errors that `isPassedOn` accepts are thrown.
 * `cached_ms`: the longest time after which a token is checked again.
 */
export function cacheVerified<Claims>(
  check: (issuer: string, token: string) => Promise<VerifiedToken<Claims> | null>,
  isPassedOn: (error: unknown) => boolean = () => false,
  cached_ms: number = Number.POSITIVE_INFINITY,
): VerifyToken<Claims> {
  const known = new Map<string, Known<Claims>>();
  return async (issuer, token) => {
    // Before the lookup, which hashes the token: it may have a megabyte.
    if (token.length > TOKEN_MAX_LENGTH) return null;
    const cached = known.get(token);
    if (cached?.issuer === issuer && !hasExpired(cached.claims) && Date.now() < cached.until_ms) {
      return cached.claims;
    }
    const verified = await check(issuer, token).catch((error: unknown) => {
      if (isPassedOn(error)) throw error;
      return null;
    });
    if (verified === null) return null;
    if (known.size >= VERIFIED_TOKENS_MAX) known.clear();
    const claims = { ...verified.claims, expires_at_ms: verified.expires_at_seconds * 1000 };
    known.set(token, { claims, issuer, until_ms: Date.now() + cached_ms });
    return claims;
  };
}

/** The same rule as in the library (RFC 7519, section 4.1.4). */
function hasExpired({ expires_at_ms }: Expiring): boolean {
  return expires_at_ms / 1000 <= Math.floor(Date.now() / 1000) - TOKEN_CLOCK_TOLERANCE_SECONDS;
}
