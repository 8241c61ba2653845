/**
 * Tokens whose signature was checked, in this isolate's memory. A caller sends the same token for a
 * quarter of an hour or longer, and what was once signed stays signed: only its time runs out. Checking
 * an Ed25519 signature anew is a fifth of what a small request costs.
 */
import { TOKEN_MAX_LENGTH } from "../domain/limits.ts";

/** The clock difference tolerated when a token's times are checked. */
export const TOKEN_CLOCK_TOLERANCE_SECONDS = 5;

/** Tokens that one isolate caches as verified, at about 1 KB each. A full cache is emptied. */
const VERIFIED_TOKENS_MAX = 2_000;

/** What a genuine token says, and when it runs out (claim `exp`). */
export interface VerifiedToken<Claims> {
  readonly claims: Claims;
  readonly expires_at_seconds: number;
}

/** When a token stops being valid (claim `exp`), in milliseconds since the epoch. */
export interface Expiring {
  readonly expires_at_ms: number;
}

/** The claims of a token that `issuer` vouches for; null where it is anything else, for whatever reason. */
export type VerifyToken<Claims> = (
  issuer: string,
  token: string,
) => Promise<(Claims & Expiring) | null>;

/**
 * Remembers what `check` found genuine, and asks it about everything else. `check` throws for a token
 * that is not; why is not told, since it would help only whoever forges tokens.
 */
export function rememberVerified<Claims>(
  check: (issuer: string, token: string) => Promise<VerifiedToken<Claims> | null>,
): VerifyToken<Claims> {
  const known = new Map<string, { readonly claims: Claims & Expiring; readonly issuer: string }>();
  return async (issuer, token) => {
    // Before it is hashed for the look-up: it may be a megabyte of nonsense.
    if (token.length > TOKEN_MAX_LENGTH) return null;
    const remembered = known.get(token);
    if (remembered?.issuer === issuer && !hasExpired(remembered.claims)) return remembered.claims;
    const verified = await check(issuer, token).catch(() => null);
    if (verified === null) return null;
    if (known.size >= VERIFIED_TOKENS_MAX) known.clear();
    const claims = { ...verified.claims, expires_at_ms: verified.expires_at_seconds * 1000 };
    known.set(token, { claims, issuer });
    return claims;
  };
}

/** As the library that checks has it (RFC 7519, section 4.1.4). */
function hasExpired({ expires_at_ms }: Expiring): boolean {
  return expires_at_ms / 1000 <= Math.floor(Date.now() / 1000) - TOKEN_CLOCK_TOLERANCE_SECONDS;
}
