/** The settings of local development: random keys, and sign-in without a password. */
import { base64url, exportJWK, generateKeyPair } from "jose";

/** A new private signing key as a one-key JWKS, for `SIGNING_KEYS`. */
export async function newSigningKeys(): Promise<string> {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: crypto.randomUUID() };
  return JSON.stringify({ keys: [key] });
}

/** A new private RSA key as a one-key JWKS, for `ID_TOKEN_KEYS`. */
export async function newIdTokenKeys(): Promise<string> {
  const { privateKey } = await generateKeyPair("RS256", { modulusLength: 2048, extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: crypto.randomUUID() };
  return JSON.stringify({ keys: [key] });
}

/** A new 256-bit encryption key as a one-key JWKS, for `ENCRYPTION_KEYS`. */
export function newEncryptionKeys(): string {
  const k = base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
  return JSON.stringify({ keys: [{ kty: "oct", kid: crypto.randomUUID(), k }] });
}

/** The operator in a new `.dev.vars`: a reserved address that nobody owns (RFC 2606). */
export const DEVELOPMENT_OPERATOR = "operator@example.com";

/** The contents of a new `.dev.vars`. */
export async function developmentSettings(): Promise<string> {
  return [
    "# Created by `npm run dev`. Do not commit it; delete it to get new keys.",
    `SIGNING_KEYS='${await newSigningKeys()}'`,
    `ID_TOKEN_KEYS='${await newIdTokenKeys()}'`,
    `ENCRYPTION_KEYS='${newEncryptionKeys()}'`,
    // Empty: the service uses each request's own address instead of production's in wrangler.toml.
    "BASE_URL=",
    "DEV_SIGNIN=true",
    `OPERATORS=${DEVELOPMENT_OPERATOR}`,
    "ALLOWED_ORIGINS=http://localhost:3000,http://localhost:5173",
    "",
  ].join("\n");
}
