/**
 * Authorization codes and refresh tokens: `<prefix><MAC and encrypted parts>`. They name the person only to us, because
 * addresses with codes are logged on their way. The MAC lets the Worker refuse a forged one itself, so it reaches no object.
 * Nobody without our keys can derive a token from what is stored.
 */
import { base64url } from "jose";
import { TOKEN_MAX_LENGTH } from "../domain/limits.ts";
import { AUTHORIZATION_CODE_PREFIX, REFRESH_TOKEN_PREFIX } from "../domain/proof.ts";
import type { createSealKeys } from "../keys/mac.ts";

type SealKeySets = ReturnType<typeof createSealKeys>;

const SECRET_BYTES = 32;
const MAC_BYTES = 32;
const COUNTER_BYTES = 16;
const PART = /^[\w-]+$/;

/** A new authorization code, and what the account stores of it. */
interface NewCode {
  readonly code: string;
  readonly code_hash: string;
}

export interface AuthorizationCodes {
  issue(identity_id: string): Promise<NewCode>;
  /** Null: this service did not issue it. */
  read(code: string): Promise<{ readonly identity_id: string; readonly code_hash: string } | null>;
}

/** A refresh token's family, and the response that it was part of. */
interface RefreshClaims {
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
export function createAuthorizationCodes(sealKeys: SealKeySets): AuthorizationCodes {
  const tokens = createSealedTokens(AUTHORIZATION_CODE_PREFIX, sealKeys);
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
export function createRefreshTokens(sealKeys: SealKeySets): RefreshTokens {
  const tokens = createSealedTokens(REFRESH_TOKEN_PREFIX, sealKeys);
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

/**
 * Under keys of their own: the first ones seal, all open. The MAC of the content is the counter of its encryption, as in
 * AES-SIV (RFC 5297), so the same content gives the same token, and two contents never share a counter.
 */
function createSealedTokens(prefix: string, sealKeys: SealKeySets) {
  const algorithm = (mac: Uint8Array) => ({
    name: "AES-CTR",
    counter: mac.slice(0, COUNTER_BYTES),
    length: 64,
  });
  return {
    async sign(parts: readonly string[]): Promise<string> {
      const [first] = await sealKeys();
      if (first === undefined) throw new Error(`${prefix} tokens need at least one key`);
      if (!parts.every((part) => PART.test(part))) throw new Error(`not a part of ${prefix}`);
      const content = new TextEncoder().encode(parts.join("."));
      const mac = new Uint8Array(await crypto.subtle.sign("HMAC", first.mac, content));
      const encrypted = await crypto.subtle.encrypt(algorithm(mac), first.cipher, content);
      const sealed = new Uint8Array(MAC_BYTES + encrypted.byteLength);
      sealed.set(mac);
      sealed.set(new Uint8Array(encrypted), MAC_BYTES);
      return prefix + base64url.encode(sealed);
    },
    /** The parts of a genuine token; null for any other text. */
    async read(token: string, count: number): Promise<readonly string[] | null> {
      const sealed = token.length > TOKEN_MAX_LENGTH ? null : bytesOf(prefix, token);
      if (sealed === null) return null;
      const mac = sealed.slice(0, MAC_BYTES);
      for (const key of await sealKeys()) {
        const encrypted = sealed.slice(MAC_BYTES);
        const content = await crypto.subtle.decrypt(algorithm(mac), key.cipher, encrypted);
        if (!(await crypto.subtle.verify("HMAC", key.mac, mac, content))) continue;
        const parts = new TextDecoder().decode(content).split(".");
        return parts.length === count ? parts : null;
      }
      return null;
    },
  };
}

/** A token has one spelling only: in base64url, the last letter may have bits to spare. */
function bytesOf(prefix: string, token: string): Uint8Array<ArrayBuffer> | null {
  const text = token.slice(prefix.length);
  if (!token.startsWith(prefix) || !PART.test(text)) return null;
  try {
    const bytes = new Uint8Array(base64url.decode(text));
    return bytes.length > MAC_BYTES && base64url.encode(bytes) === text ? bytes : null;
  } catch {
    return null;
  }
}
