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
 * @throws PassbookError `token_expired`; `unauthorized` for a missing or forged token, a token of another type (such as one made from
 * a personal access token, whose limits it does not carry) or a token issued to another origin; `no_response` if the
 * service's keys could not be fetched.
 */
export type VerifyToken = (token: string | undefined) => Promise<VerifiedToken>;

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
  const wrong = origins.find((text) => text !== "shared" && originOf(text) !== text);
  if (wrong !== undefined) {
    const message = `origins must be such as https://sketch.example.com, without a path, not "${wrong}".`;
    throw new PassbookError("invalid_argument", message);
  }
  const findKey = createSigningKeys(issuer, fetch ?? ((url, init) => globalThis.fetch(url, init)));
  return async (token) => {
    const claims = await readSigned(token ?? "", SESSION_TOKEN, findKey);
    const { iss, sub, sid, azp, exp } = claims ?? {};
    if (claims !== null && iss !== issuer) {
      throw refusal(`This session token was issued by ${String(iss)}, but baseUrl is ${issuer}.`);
    }
    if (typeof azp !== "string") throw refusal();
    if (!own_origins.has(azp)) {
      const page = `This session token was issued to a page at ${azp}`;
      throw refusal(`${page}, which is not among the origins of this server.`);
    }
    if (!isText(sub) || !isText(sid) || typeof exp !== "number") throw refusal();
    return { identity_id: sub, session_id: sid, origin: azp, expires_at: readExpiry(exp) };
  };
}

function originOf(text: string): string | null {
  return URL.canParse(text) ? new URL(text).origin : null;
}

/** A forger learns no reason: only a token that the service signed has a message of its own. */
function refusal(message = "This is not a session token of this service."): PassbookError {
  return new PassbookError("unauthorized", message, { status: 401 });
}
