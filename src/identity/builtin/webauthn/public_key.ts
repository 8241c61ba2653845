/** Public keys of passkeys, and the signatures that they verify. */
import { base64url } from "jose";

/**
 * How WebCrypto imports a key and verifies with it, for each COSE algorithm (RFC 9053, RFC 8812). `spki` is the form of
 * its keys in base64url (RFC 5480, RFC 8410, RFC 8017), because workerd imports a P-256 key as an Ed25519 key.
 */
const ALGORITHMS = {
  [-7]: {
    spki: /^MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE.{86}$/,
    key: { name: "ECDSA", namedCurve: "P-256" },
    signature: { name: "ECDSA", hash: "SHA-256" },
  },
  [-8]: {
    spki: /^MCowBQYDK2VwAyEA.{43}$/,
    key: { name: "Ed25519" },
    signature: { name: "Ed25519" },
  },
  [-257]: {
    spki: /^MII...ANBgkqhkiG9w0BAQEFAA/,
    key: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
    signature: { name: "RSASSA-PKCS1-v1_5" },
  },
} as const;

export type Algorithm = keyof typeof ALGORITHMS;

const ES256: Algorithm = -7;

/** The sizes of RSA keys: smaller ones are weak, and larger ones cost much time to verify. */
const RSA_MIN_BITS = 2048;
const RSA_MAX_BITS = 4096;

/** A public key: SubjectPublicKeyInfo in base64url. */
export interface PublicKey {
  readonly algorithm: Algorithm;
  readonly public_key: string;
}

export function isAlgorithm(number: number): number is Algorithm {
  return Object.hasOwn(ALGORITHMS, number);
}

/** The key for WebCrypto; null if it is not a key of its algorithm, or an RSA key of another size. */
export async function importPublicKey({
  algorithm,
  public_key,
}: PublicKey): Promise<CryptoKey | null> {
  const { spki, key: parameters } = ALGORITHMS[algorithm];
  if (!spki.test(public_key)) return null;
  try {
    const bytes = base64url.decode(public_key);
    const key = await crypto.subtle.importKey("spki", bytes, parameters, false, ["verify"]);
    const { modulusLength: bits = RSA_MIN_BITS } = key.algorithm as { modulusLength?: number };
    return bits >= RSA_MIN_BITS && bits <= RSA_MAX_BITS ? key : null;
  } catch {
    return null;
  }
}

/** Whether an authenticator's signature over `data` is one of this key. */
export async function isSignedBy(
  key: PublicKey,
  signature: Uint8Array,
  data: Uint8Array,
): Promise<boolean> {
  const imported = await importPublicKey(key);
  const raw = key.algorithm === ES256 ? readDerSignature(signature) : signature;
  if (imported === null || raw === null) return false;
  try {
    return await crypto.subtle.verify(ALGORITHMS[key.algorithm].signature, imported, raw, data);
  } catch {
    // workerd throws for a signature of another length.
    return false;
  }
}

const DER_SEQUENCE = 0x30;
const DER_INTEGER = 0x02;
const P256_NUMBER_BYTES = 32;

/**
 * The two numbers of an ECDSA signature, side by side as WebCrypto expects them. Authenticators send them in DER
 * (WebAuthn, section 6.5.5; RFC 3279, section 2.2.3). Null if the bytes are not exactly such a signature.
 */
function readDerSignature(der: Uint8Array): Uint8Array | null {
  if (der[0] !== DER_SEQUENCE || der[1] !== der.byteLength - 2) return null;
  const raw = new Uint8Array(2 * P256_NUMBER_BYTES);
  let at = 2;
  for (const end of [P256_NUMBER_BYTES, raw.byteLength]) {
    const length = der[at + 1] ?? 0;
    const number = der.subarray(at + 2, at + 2 + length);
    if (der[at] !== DER_INTEGER || number.byteLength !== length || !isShortest(number)) return null;
    const digits = number[0] === 0 ? number.subarray(1) : number;
    if (digits.byteLength > P256_NUMBER_BYTES) return null;
    raw.set(digits, end - digits.byteLength);
    at += 2 + length;
  }
  return at === der.byteLength ? raw : null;
}

/** Whether a DER integer is positive and has no needless zero at its start. */
function isShortest([first, second]: Uint8Array): boolean {
  if (first === undefined || first >= 0x80) return false;
  return first !== 0 || (second ?? 0) >= 0x80;
}
