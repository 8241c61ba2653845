/**
 * Tokens of the form `<prefix><part>.<part>.<MAC>`: authorization codes and refresh tokens. The MAC lets the Worker refuse
 * a forged one itself, so it reaches no object. Nobody without our keys can derive a token from what is stored.
 */
import { base64url } from "jose";
import { TOKEN_MAX_LENGTH } from "../domain/limits.ts";
import { AUTHORIZATION_CODE_PREFIX, REFRESH_TOKEN_PREFIX } from "../domain/proof.ts";
import type { MacKeys } from "../keys/mac.ts";

const SECRET_BYTES = 32;
const PART = /^[\w-]+$/;

/** A new authorization code, and what the account stores of it. */
export interface NewCode {
  readonly code: string;
  readonly code_hash: string;
}

export interface AuthorizationCodes {
  issue(identity_id: string): Promise<NewCode>;
  /** Null: this service did not issue it. */
  read(code: string): Promise<{ readonly identity_id: string; readonly code_hash: string } | null>;
}

/** A refresh token's family, and the response that it was part of. */
export interface RefreshClaims {
  readonly identity_id: string;
  readonly family_id: string;
  readonly generation: number;
}

export interface RefreshTokens {
  /** The same claims give the same token, as long as the signing key is the same. */
  sign(claims: RefreshClaims): Promise<string>;
  /** Null: this service did not issue it. */
  read(token: string): Promise<RefreshClaims | null>;
}

/** Codes: the identity and 256 random bits. */
export function createAuthorizationCodes(macKeys: MacKeys): AuthorizationCodes {
  const tokens = createMacTokens(AUTHORIZATION_CODE_PREFIX, macKeys);
  return {
    async issue(identity_id) {
      const secret = base64url.encode(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
      const code = await tokens.sign([identity_id, secret]);
      return { code, code_hash: await sha256(code) };
    },
    async read(code) {
      const [identity_id] = (await tokens.read(code, 2)) ?? [];
      return identity_id === undefined ? null : { identity_id, code_hash: await sha256(code) };
    },
  };
}

/** Refresh tokens: the identity, the family and the number of the response. */
export function createRefreshTokens(macKeys: MacKeys): RefreshTokens {
  const tokens = createMacTokens(REFRESH_TOKEN_PREFIX, macKeys);
  return {
    sign: ({ identity_id, family_id, generation }) =>
      tokens.sign([identity_id, family_id, String(generation)]),
    async read(token) {
      const [identity_id, family_id, generation] = (await tokens.read(token, 3)) ?? [];
      if (identity_id === undefined || family_id === undefined) return null;
      return { identity_id, family_id, generation: Number(generation) };
    },
  };
}

/** SHA-256 of a code in base64url, which may be stored. */
async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return base64url.encode(new Uint8Array(digest));
}

/** Under keys of their own: the first one makes MACs, all check them. */
function createMacTokens(prefix: string, macKeys: MacKeys) {
  return {
    async sign(parts: readonly string[]): Promise<string> {
      const [first] = await macKeys();
      if (first === undefined) throw new Error(`${prefix} tokens need at least one key`);
      if (!parts.every((part) => PART.test(part))) throw new Error(`not a part of ${prefix}`);
      const message = parts.join(".");
      const mac = await crypto.subtle.sign("HMAC", first.key, new TextEncoder().encode(message));
      return `${prefix}${message}.${base64url.encode(new Uint8Array(mac))}`;
    },
    /** The parts of a genuine token; null for any other text. */
    async read(token: string, count: number): Promise<readonly string[] | null> {
      if (!token.startsWith(prefix) || token.length > TOKEN_MAX_LENGTH) return null;
      const parts = token.slice(prefix.length).split(".");
      const mac = parts.pop() ?? "";
      // A MAC has one spelling only: in base64url, the last letter of 32 bytes has two bits to spare.
      if (parts.length !== count || !/^[\w-]{42}[AEIMQUYcgkosw048]$/.test(mac)) return null;
      const message = new TextEncoder().encode(parts.join("."));
      for (const { key } of await macKeys()) {
        if (await crypto.subtle.verify("HMAC", key, base64url.decode(mac), message)) return parts;
      }
      return null;
    },
  };
}
