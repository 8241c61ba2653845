/** Verification of session tokens on an app's server, with cached keys (RFC 7519, RFC 8725). */
import { PassbookError } from "./errors.ts";
import { readOrigin } from "./service_origin.ts";
import { isText, readExpiry, readSigned } from "./signed_token.ts";
import { createSigningKeys } from "./signing_keys.ts";
import type { Fetch } from "./transport.ts";

/** Which session tokens your server accepts. */
export interface VerifierOptions {
  /** The service's origin, which must equal the token's `iss`. */
  readonly baseUrl: string;
  /**
   * The origins of your own pages, such as `https://sketch.example.com`. A token that was issued to a page of another
   * app is refused. `shared` also accepts tokens from the cookie of the parent domain, which every host of that domain
   * can read.
   */
  readonly origins: readonly string[];
  readonly fetch?: Fetch;
}

/** The claims of a valid session token. */
export interface VerifiedToken {
  /** The person who is signed in. */
  readonly identity_id: string;
  readonly session_id: string;
  /** The origin that the token was issued to. */
  readonly origin: string;
  /** When it expires, RFC 3339 in UTC. */
  readonly expires_at: string;
}

/**
 * Verifies a session token: signature, `typ`, `iss`, `exp` and `azp`. The token was signed at most 15 minutes ago; the
 * session may have ended since.
 * @throws PassbookError `token_expired`; `unauthorized` for a forged token, a token of another type (such as one made from
 * a personal access token, whose limits it does not carry) or a token issued to another origin; `no_response` if the
 * service's keys could not be fetched.
 */
export type VerifyToken = (token: string) => Promise<VerifiedToken>;

const SESSION_TOKEN = { type: "session+jwt", algorithm: "EdDSA" } as const;

/**
 * Makes a verifier for your server. Make one and keep it, since it caches the service's keys. It sends nothing yet.
 * @throws PassbookError `invalid_argument` if an option is invalid.
 */
export function createTokenVerifier({ baseUrl, origins, fetch }: VerifierOptions): VerifyToken {
  const issuer = readOrigin(baseUrl);
  const own_origins = new Set(origins);
  if (own_origins.size === 0) {
    throw new PassbookError(
      "invalid_argument",
      "origins must have at least one origin of your own pages.",
    );
  }
  const wrong = origins.find((text) => text.endsWith("/"));
  if (wrong !== undefined) {
    throw new PassbookError("invalid_argument", `Origins must not end with a slash: "${wrong}".`);
  }
  const findKey = createSigningKeys(issuer, fetch ?? ((url, init) => globalThis.fetch(url, init)));
  return async (token) => {
    const { iss, sub, sid, azp, exp } = (await readSigned(token, SESSION_TOKEN, findKey)) ?? {};
    if (iss !== issuer || typeof azp !== "string") throw refusal();
    if (!own_origins.has(azp)) throw refusal(azp);
    if (!isText(sub) || !isText(sid) || typeof exp !== "number") throw refusal();
    return { identity_id: sub, session_id: sid, origin: azp, expires_at: readExpiry(exp) };
  };
}

/** The message gives no reason, which would help only a forger. `azp`: a valid token was issued to another origin. */
function refusal(azp?: string): PassbookError {
  const message =
    azp === undefined
      ? "This is not a session token of this service."
      : `This session token was issued to a page at ${azp}, which is not among the origins of this server.`;
  return new PassbookError("unauthorized", message, { status: 401 });
}
