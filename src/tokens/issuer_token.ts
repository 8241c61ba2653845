/** Verifies tokens of trusted issuers: JWTs that an app's own sign-in service gave to a person. */
import { decodeJwt, jwtVerify, type JWTVerifyGetKey } from "jose";
import { TOKEN_MAX_LENGTH } from "../domain/limits.ts";
import {
  ISSUER_TOKEN_ALGORITHMS,
  readIssuerClaims,
  type IssuerClaims,
  type TrustedIssuer,
} from "../domain/trusted_issuer.ts";
import {
  cacheVerified,
  TOKEN_CLOCK_TOLERANCE_SECONDS,
  type VerifyToken,
} from "./verified_tokens.ts";

/** A token is checked again after this time, so that a withdrawn key ends the tokens that it signed. */
const CHECKED_AGAIN_AFTER_MS = 15 * 60_000;

/**
 * The longest time for which a check counts, and so a stream lasts. Some services issue tokens that never expire, whose
 * `exp` is no time that an alarm can have.
 */
const VALID_MAX_SECONDS = 24 * 3_600;

/** The claims of a token, and its issuer. */
interface VerifiedIssuerToken extends IssuerClaims {
  readonly issuer: TrustedIssuer;
}

export interface IssuerTokens {
  /** Whether a token says that a trusted issuer issued it. Verifies nothing. */
  names(token: string): boolean;
  /** Null for a token that is not valid. @throws if the issuer's keys cannot be read now. */
  readonly verify: VerifyToken<VerifiedIssuerToken>;
}

/** `keysOf` finds the keys of one issuer, and `isUnavailable` knows its failures to read them. */
export function createIssuerTokens(
  issuers: readonly TrustedIssuer[],
  keysOf: (issuer: TrustedIssuer) => JWTVerifyGetKey,
  isUnavailable: (error: unknown) => boolean,
): IssuerTokens {
  const trusted = new Map(
    issuers.map((issuer) => [issuer.issuer, { issuer, keys: keysOf(issuer) }]),
  );
  const find = (token: string) => {
    // Most deployments have no trusted issuers, and a token may have a megabyte.
    if (trusted.size === 0 || token.length > TOKEN_MAX_LENGTH) return undefined;
    try {
      return trusted.get(decodeJwt(token).iss ?? "");
    } catch {
      return undefined;
    }
  };
  return {
    names: (token) => find(token) !== undefined,
    verify: cacheVerified(
      async (own_issuer, token) => {
        const found = find(token);
        // Our own tokens for other services are no sessions here.
        if (found === undefined || found.issuer.issuer === own_issuer) return null;
        const { issuer, keys } = found;
        const { payload, protectedHeader } = await jwtVerify(token, keys, {
          algorithms: ISSUER_TOKEN_ALGORITHMS,
          issuer: issuer.issuer,
          ...(issuer.audience === null ? {} : { audience: [...issuer.audience] }),
          requiredClaims: ["sub", "exp"],
          clockTolerance: TOKEN_CLOCK_TOLERANCE_SECONDS,
        });
        const claims = readIssuerClaims(issuer, protectedHeader.typ, payload);
        if (claims === null || payload.exp === undefined) return null;
        const now_seconds = Math.floor(Date.now() / 1000);
        // A token from the future would seem to be newer than the deletion of its person's account.
        if ((payload.iat ?? 0) > now_seconds + TOKEN_CLOCK_TOLERANCE_SECONDS) return null;
        const expires_at_seconds = Math.min(payload.exp, now_seconds + VALID_MAX_SECONDS);
        return { claims: { ...claims, issuer }, expires_at_seconds };
      },
      isUnavailable,
      CHECKED_AGAIN_AFTER_MS,
    ),
  };
}
