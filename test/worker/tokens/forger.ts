/** Signs tokens with keys of tests, so that each forgery differs from a genuine token in one property only. */
import { createMacKeys } from "../../../src/keys/mac.ts";
import { SignJWT, type CryptoKey, type JWTPayload } from "jose";

export const HERE = "https://passbook.example";

/** Private halves of Ed25519 keys, of which the Worker derives secret keys. */
export const OLD = "b2xkIHNlY3JldCBvZiAzMiBieXRlcywgYXMgdGhleSBhcmU";
export const NEW = "bmV3IHNlY3JldCBvZiAzMiBieXRlcywgYXMgdGhleSBhcmU";

/** Signing keys whose ids are their private halves. */
export const keysOf = (...private_parts: string[]) =>
  private_parts.map((d) => ({ kty: "OKP", crv: "Ed25519", x: "unused", kid: d, d }) as const);

export interface Genuine {
  readonly key: CryptoKey;
  readonly header: { readonly alg: string; readonly kid: string; readonly typ?: string };
  readonly claims: JWTPayload;
}

/** A token as {@link Genuine} says, of this minute, except for what is changed. Undefined: it is left out. */
export function forge(
  { key, header, claims }: Genuine,
  changed: object = {},
  changed_header: object = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ iss: HERE, iat: now, exp: now + 60, ...claims, ...changed })
    .setProtectedHeader({ ...header, ...changed_header })
    .sign(key);
}

export const macKeys = (...private_parts: string[]) =>
  createMacKeys(keysOf(...private_parts), "a purpose of tests");

const now_seconds = Math.floor(Date.now() / 1000);

/** What tokens of OAuth clients have in these tests. */
export const lifetime = { issued_at_seconds: now_seconds, expires_at_seconds: now_seconds + 600 };
export const claims = {
  identity_id: "user_1",
  credential: { kind: "family", family_id: "f1", generation: 3, scopes: ["openid", "read"] },
  client_id: "demo~web",
  scopes: ["openid", "read"],
  act: null,
} as const;
