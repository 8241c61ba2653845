/**
 * The bearer token of an `Authorization` header, and the refusal of one that is not valid. The refusal verifies nothing:
 * it repeats only claims that the sender wrote.
 */
import { decodeJwt, type JWTPayload } from "jose";
import { APP_KEY_PREFIX, TEST_KEY_PREFIX } from "../../domain/proof.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { AppContext } from "../context.ts";

/** The facts known when the service refuses a token. */
interface RefusingService {
  /** `iss` of its own tokens. */
  readonly issuer: string;
  /** Whether a token says that a trusted issuer issued it. */
  readonly trusts: (token: string) => boolean;
  /** Only in development may the response name the mistake. */
  readonly is_development: boolean;
}

export function refusingService(context: AppContext): RefusingService {
  const { config, issuer_tokens } = context.get("services");
  return {
    issuer: context.get("base_url"),
    trusts: (token) => issuer_tokens.names(token),
    is_development: config.dev_signin,
  };
}

const INVALID_BEARER = "The bearer token is not valid. Get a new one.";
const TEST_KEY =
  "This is a test key: only the development service that created it accepts it. Use a key of this service.";

/**
 * The token of a bearer header (RFC 6750, section 2.1); null if the header is malformed or has another scheme.
 * The scheme's name is case-insensitive (RFC 9110, section 11.1).
 */
export function readBearer(header: string): string | null {
  return /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header)?.[1] ?? null;
}

/**
 * The refusal of an `Authorization` header. An expired token of this service or of a trusted issuer has its own code, so
 * that programs renew it; outside development all other mistakes get the same response.
 */
export function refusalOfBearer(header: string, service: RefusingService): Refusal {
  const token = readBearer(header);
  const claims = token === null ? null : readClaims(token);
  const is_known = claims?.iss === service.issuer || (token !== null && service.trusts(token));
  if (is_known && claims !== null && hasExpired(claims)) return { code: "token_expired" };
  const is_test_key = token !== null && token.startsWith(TEST_KEY_PREFIX);
  const invalid = is_test_key ? TEST_KEY : INVALID_BEARER;
  const detail = service.is_development ? explain(token, claims, service) : invalid;
  return { code: "unauthorized", detail };
}

/** The prefix of a personal token or an access token is in the first part, which is not read. */
function readClaims(token: string): JWTPayload | null {
  try {
    return decodeJwt(token);
  } catch {
    return null;
  }
}

function hasExpired({ exp }: JWTPayload): boolean {
  return typeof exp === "number" && exp * 1000 <= Date.now();
}

function explain(
  token: string | null,
  claims: JWTPayload | null,
  { issuer, trusts }: RefusingService,
): string {
  if (token === null) return "The Authorization header must have the form: Bearer <token>.";
  if (token.startsWith(APP_KEY_PREFIX)) return "No app has this key, or it was revoked.";
  if (claims === null) {
    return "The bearer token is malformed: it must be a JWT, or pb_pat_ or pb_at_ followed by a JWT.";
  }
  if (claims.iss === issuer) {
    return "The bearer token was not signed by this service, was signed with a key since replaced, or is for another use.";
  }
  const { iss = "no issuer" } = claims;
  if (trusts(token)) {
    return (
      `The bearer token of ${iss} is not valid here. Compare its signature, alg, typ, aud, azp, nbf and sid with ` +
      "the issuer's entry in TRUSTED_ISSUERS, and its azp with ALLOWED_ORIGINS."
    );
  }
  return (
    `The bearer token was issued by ${iss}, but this service is ${issuer}. ` +
    "Use one address everywhere (localhost and 127.0.0.1 are different), or set BASE_URL."
  );
}
