/**
 * Issuers whose tokens are accepted as sessions of apps (`TRUSTED_ISSUERS`), and the rules for the claims of such a
 * token. Pure; `tokens/issuer_token.ts` verifies the signature and the times.
 */
import { readClaim, readText, SUBJECT_MAX_LENGTH, type Claims } from "./claims.ts";

/** Only these: no symmetric algorithm, whose key would be the public one, and not "none". */
export const ISSUER_TOKEN_ALGORITHMS = ["RS256", "ES256", "EdDSA"];

export interface TrustedIssuer {
  /** The sign-in method that its people belong to: the id of a sign-in provider, or a name of its own. */
  readonly id: string;
  readonly name: string;
  /** The claim `iss`, character by character. */
  readonly issuer: string;
  /** The issuer of its people in the directory. It differs only if the settings name a provider with another issuer. */
  readonly people_issuer: string;
  /** Whether people can sign in on our own pages with a provider that has the same people. */
  readonly has_signin_provider: boolean;
  readonly jwks_uri: string;
  /** The claim `aud` must have one of these; null: it is not checked. */
  readonly audience: readonly string[] | null;
  /** The apps, in `party_claim`, that tokens are accepted from; null: the allowed origins, and tokens that name no app. */
  readonly authorized_parties: readonly string[] | null;
  readonly party_claim: string;
  /** The accepted header fields `typ` in lower case; a token without `typ` is always accepted. */
  readonly types: readonly string[];
  /** Claims that a token must have: one of the values, or any value if the list is empty. */
  readonly required: Readonly<Record<string, readonly unknown[]>>;
  /** Claims that a token must not have: none of the values, or no value at all if the list is empty. */
  readonly refused: Readonly<Record<string, readonly unknown[]>>;
  readonly name_claim: string | null;
  readonly email_claim: string | null;
  /** Only the boolean true verifies the address. Null: an address of this issuer is never verified. */
  readonly email_verified_claim: string | null;
  /** Whether a person whose account begins with a token of this issuer gets starter credits. */
  readonly starter_credits: boolean;
  /** Whether an app may get upstream tokens with a token of this issuer. */
  readonly upstream: boolean;
  /** Where the upstream tokens of its people are; null: only in the vault. */
  readonly upstream_tokens: "clerk" | null;
}

/** The claims of a verified token. */
export interface IssuerClaims {
  readonly subject: string;
  /** The app that the token was issued to; null: the token names none. */
  readonly party: string | null;
  /** When the token was issued; 0: it does not say. */
  readonly issued_at_ms: number;
  readonly name: string | null;
  readonly email: string | null;
  readonly email_verified: boolean;
}

/** The claims of a token with a valid signature; null if the rules of its issuer refuse it. */
export function readIssuerClaims(
  issuer: TrustedIssuer,
  type: string | undefined,
  claims: Claims,
): IssuerClaims | null {
  if (type !== undefined && !issuer.types.includes(type.toLowerCase())) return null;
  const { sub, iat } = claims;
  if (typeof sub !== "string" || sub === "" || sub.length > SUBJECT_MAX_LENGTH) return null;
  // D1 would store the same text for subjects that differ in a lone surrogate.
  if (!sub.isWellFormed()) return null;
  const has = ([path, values]: readonly [string, readonly unknown[]]): boolean => {
    const value = readClaim(claims, path) ?? null;
    return values.length === 0 ? value !== null : values.includes(value);
  };
  if (!Object.entries(issuer.required).every(has)) return null;
  if (Object.entries(issuer.refused).some(has)) return null;
  const party = readClaim(claims, issuer.party_claim) ?? null;
  if (party !== null && (typeof party !== "string" || party === "")) return null;
  const email = readText(claims, issuer.email_claim);
  const { email_verified_claim: verified } = issuer;
  return {
    subject: sub,
    party,
    issued_at_ms: typeof iat === "number" ? iat * 1000 : 0,
    name: readText(claims, issuer.name_claim),
    email,
    email_verified: email !== null && verified !== null && readClaim(claims, verified) === true,
  };
}
