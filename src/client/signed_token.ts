/** Tokens that a service signed: reading and verifying a JWT under its published keys (RFC 7515, RFC 8725). */
import { PassbookError } from "./errors.ts";
import type { FindKey, SigningAlgorithm } from "./signing_keys.ts";

/** The server's clock may be ahead of the service's by this much. */
const CLOCK_TOLERANCE_MS = 5_000;

/** Longer text cannot be a token of the service. */
const TOKEN_MAX_LENGTH = 8_192;

export type Claims = Readonly<Record<string, unknown>>;

/** The `typ` and `alg` of a token's header. */
export interface TokenKind {
  readonly type: string;
  readonly algorithm: SigningAlgorithm;
}

/**
 * The claims of a token of this kind whose signature is valid; null if it is another token.
 * @throws PassbookError `no_response` if the service's keys could not be fetched.
 */
export async function readSigned(
  token: string,
  { type, algorithm }: TokenKind,
  findKey: FindKey,
): Promise<Claims | null> {
  const parts = token.length > TOKEN_MAX_LENGTH ? [] : token.split(".");
  const [header = "", payload = "", signature = ""] = parts;
  const { alg, typ, kid, crit } = parts.length === 3 ? readPart(header) : {};
  const is_ours = alg === algorithm && typ === type && crit === undefined;
  const key = is_ours && typeof kid === "string" ? await findKey(kid, algorithm) : null;
  if (key === null || !(await isSigned(key, `${header}.${payload}`, signature))) return null;
  return readPart(payload);
}

/** When a token with these claims expires, RFC 3339 in UTC. @throws PassbookError `token_expired` */
export function readExpiry(exp: number): string {
  if (exp * 1000 <= Date.now() - CLOCK_TOLERANCE_MS) {
    throw new PassbookError("token_expired", "The token has expired.", { status: 401 });
  }
  return new Date(exp * 1000).toISOString();
}

export function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** The JSON object of a part of a JWT; an empty object if it is not one. */
export function readPart(part: string): Claims {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytesOf(part)));
    return typeof value === "object" && value !== null ? (value as Claims) : {};
  } catch {
    return {};
  }
}

async function isSigned(key: CryptoKey, text: string, signature: string): Promise<boolean> {
  try {
    const signed = new TextEncoder().encode(text);
    return await crypto.subtle.verify(key.algorithm.name, key, bytesOf(signature), signed);
  } catch {
    return false;
  }
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
