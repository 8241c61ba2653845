/**
 * Why a bearer token was refused, for whoever sent it. Nothing is verified here, since the refusal
 * stands already: whoever forges a token learns only what they wrote.
 */
import { decodeJwt, type JWTPayload } from "jose";
import { APP_KEY_PREFIX, PERSONAL_TOKEN_PREFIX } from "../../domain/proof.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { readBearer } from "./bearer.ts";

/** What the service knows when it refuses a token. */
export interface RefusingService {
  /** `iss` of its own tokens. */
  readonly issuer: string;
  /** Whether it may say which mistake it was: in development only. */
  readonly is_development: boolean;
}

const BAD_BEARER = "The bearer token is not valid. Get a new one.";

/**
 * The refusal of an `Authorization` header that proved nobody. An expired token of our own name has a
 * code of its own, so that programs renew and do not give up; all else is one answer outside
 * development.
 */
export function refusalOfBearer(header: string, service: RefusingService): Refusal {
  const token = readBearer(header);
  const claims = token === null ? null : readClaims(token);
  if (claims?.iss === service.issuer && hasExpired(claims)) return { code: "token_expired" };
  const detail = service.is_development ? explain(token, claims, service.issuer) : BAD_BEARER;
  return { code: "unauthorized", detail };
}

function readClaims(token: string): JWTPayload | null {
  const is_personal = token.startsWith(PERSONAL_TOKEN_PREFIX);
  try {
    return decodeJwt(is_personal ? token.slice(PERSONAL_TOKEN_PREFIX.length) : token);
  } catch {
    return null;
  }
}

function hasExpired({ exp }: JWTPayload): boolean {
  return typeof exp === "number" && exp * 1000 <= Date.now();
}

function explain(token: string | null, claims: JWTPayload | null, issuer: string): string {
  if (token === null) return "The Authorization header is not of the form: Bearer <token>.";
  if (token.startsWith(APP_KEY_PREFIX)) return "No app has this key, or it was revoked.";
  if (claims === null) return "The bearer token is malformed: neither a JWT nor pb_pat_ and a JWT.";
  if (claims.iss === issuer) {
    return "The bearer token was not made here, or with keys since replaced, or for another use.";
  }
  const { iss = "nobody" } = claims;
  return (
    `The bearer token was issued by ${iss}, and this is ${issuer}. ` +
    "Use one address throughout (localhost and 127.0.0.1 are two), or set BASE_URL."
  );
}
