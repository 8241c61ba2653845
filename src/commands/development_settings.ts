/** The settings of local development: real random keys, and a sign-in that asks for no password. */
import { randomBytes, randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair } from "jose";

/** A new private signing key as a one-key JWKS, for `SIGNING_KEYS`. */
export async function newSigningKeys(): Promise<string> {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  return JSON.stringify({ keys: [{ ...(await exportJWK(privateKey)), kid: randomUUID() }] });
}

/** A new 256-bit encryption key as a one-key JWKS, for `ENCRYPTION_KEYS`. */
export function newEncryptionKeys(): string {
  return JSON.stringify({
    keys: [{ kty: "oct", kid: randomUUID(), k: randomBytes(32).toString("base64url") }],
  });
}

/** The contents of a new `.dev.vars`. */
export async function developmentSettings(): Promise<string> {
  return [
    "# Made by `npm run dev`. Never committed; delete it to get new keys.",
    `SIGNING_KEYS='${await newSigningKeys()}'`,
    `ENCRYPTION_KEYS='${newEncryptionKeys()}'`,
    "DEV_SIGNIN=true",
    "DEFAULT_STARTER_CREDITS=100",
    "ALLOWED_ORIGINS=http://localhost:3000,http://localhost:5173",
    "",
  ].join("\n");
}
