/** An authenticator in software (WebAuthn Level 3). It responds as browsers do, also with altered values. */
import { base64url } from "jose";

/** The COSE numbers of its algorithms. */
export type Algorithm = -7 | -8 | -257;

/** What the responses of one ceremony say. A test alters some of it. */
export interface Alterations {
  readonly origin?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly client_data?: object;
  readonly rp_id?: string;
  readonly flags?: number;
  readonly user_handle?: string;
  readonly sign_count?: number;
  /** Changes the signature after it was made. */
  readonly signature?: (signature: Uint8Array) => Uint8Array;
}

export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
  readonly excludeCredentials: readonly { readonly id: string }[];
}

export interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

/** A credential of the authenticator. */
export interface Credential {
  readonly id: string;
  readonly user_handle: string;
  readonly algorithm: Algorithm;
  readonly keys: CryptoKeyPair;
  sign_count: number;
}

/** User present and verified. */
const UP_UV = 0x05;
const ATTESTED = 0x40;

const KEYS = {
  [-7]: { name: "ECDSA", namedCurve: "P-256" },
  [-8]: { name: "Ed25519" },
  [-257]: {
    name: "RSASSA-PKCS1-v1_5",
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: "SHA-256",
  },
} as const;

const SIGNATURES = {
  [-7]: { name: "ECDSA", hash: "SHA-256" },
  [-8]: { name: "Ed25519" },
  [-257]: { name: "RSASSA-PKCS1-v1_5" },
} as const;

/** A response in the names of `RegistrationResponseJSON`. */
export interface RegistrationResponse {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly clientExtensionResults: object;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly attestationObject: string;
    readonly publicKey: string;
    readonly publicKeyAlgorithm: number;
  };
}

/** A response in the names of `AuthenticationResponseJSON`. */
export interface AssertionResponse {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly clientExtensionResults: object;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle: string;
  };
}

/** Creates a credential for a page of `origin`. */
export async function createCredential(
  origin: string,
  { challenge, rp, user }: Pick<CreationOptions, "challenge" | "rp" | "user">,
  algorithm: Algorithm = -7,
  altered: Alterations = {},
): Promise<{ credential: Credential; response: RegistrationResponse }> {
  const keys = (await crypto.subtle.generateKey(KEYS[algorithm], true, [
    "sign",
    "verify",
  ])) as CryptoKeyPair;
  const raw_id = crypto.getRandomValues(new Uint8Array(16));
  const id = base64url.encode(raw_id);
  const sign_count = altered.sign_count ?? 0;
  const credential = { id, user_handle: user.id, algorithm, keys, sign_count };
  const client_data = clientData("webauthn.create", challenge, origin, altered);
  const attested = join(
    new Uint8Array(16),
    new Uint8Array([raw_id.length >> 8, raw_id.length & 255]),
    raw_id,
    await coseKey(keys.publicKey, algorithm),
  );
  const flags = altered.flags ?? UP_UV | ATTESTED;
  const data = join(await head(altered.rp_id ?? rp.id, flags, sign_count), attested);
  const spki = (await crypto.subtle.exportKey("spki", keys.publicKey)) as ArrayBuffer;
  return {
    credential,
    response: {
      ...envelope(id),
      response: {
        clientDataJSON: client_data,
        authenticatorData: base64url.encode(data),
        attestationObject: base64url.encode(
          cborMap([
            ["fmt", "none"],
            ["attStmt", null],
            ["authData", data],
          ]),
        ),
        publicKey: base64url.encode(new Uint8Array(spki)),
        publicKeyAlgorithm: algorithm,
      },
    },
  };
}

/** Signs in with a credential on a page of `origin`. */
export async function useCredential(
  origin: string,
  { challenge, rpId }: RequestOptions,
  credential: Credential,
  altered: Alterations = {},
): Promise<AssertionResponse> {
  if (credential.sign_count > 0) credential.sign_count += 1;
  const client_data = clientData("webauthn.get", challenge, origin, altered);
  const data = await head(
    altered.rp_id ?? rpId,
    altered.flags ?? UP_UV,
    altered.sign_count ?? credential.sign_count,
  );
  const hash = await crypto.subtle.digest("SHA-256", base64url.decode(client_data));
  const { algorithm, keys } = credential;
  const signed = new Uint8Array(
    await crypto.subtle.sign(
      SIGNATURES[algorithm],
      keys.privateKey,
      join(data, new Uint8Array(hash)),
    ),
  );
  const signature = algorithm === -7 ? derSignature(signed) : signed;
  return {
    ...envelope(credential.id),
    response: {
      clientDataJSON: client_data,
      authenticatorData: base64url.encode(data),
      signature: base64url.encode(altered.signature?.(signature) ?? signature),
      userHandle: altered.user_handle ?? credential.user_handle,
    },
  };
}

function envelope(id: string) {
  return { id, rawId: id, type: "public-key", clientExtensionResults: {} } as const;
}

function clientData(type: string, challenge: string, origin: string, altered: Alterations): string {
  const content = {
    type: altered.type ?? type,
    challenge: altered.challenge ?? challenge,
    origin: altered.origin ?? origin,
    crossOrigin: false,
    ...altered.client_data,
  };
  return base64url.encode(JSON.stringify(content));
}

async function head(rp_id: string, flags: number, sign_count: number): Promise<Uint8Array> {
  const rp_hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(rp_id));
  const rest = new Uint8Array(5);
  rest[0] = flags;
  new DataView(rest.buffer).setUint32(1, sign_count);
  return join(new Uint8Array(rp_hash), rest);
}

/** An ECDSA signature in DER, from the two numbers that WebCrypto makes. */
export function derSignature(raw: Uint8Array): Uint8Array {
  const integers = [raw.subarray(0, 32), raw.subarray(32)].map((number) => {
    let digits = number;
    while (digits[0] === 0 && (digits[1] ?? 0x80) < 0x80) digits = digits.subarray(1);
    const padded = (digits[0] ?? 0) >= 0x80 ? join(new Uint8Array(1), digits) : digits;
    return join(new Uint8Array([2, padded.length]), padded);
  });
  const content = join(...integers);
  return join(new Uint8Array([0x30, content.length]), content);
}

async function coseKey(key: CryptoKey, algorithm: Algorithm): Promise<Uint8Array> {
  const jwk = (await crypto.subtle.exportKey("jwk", key)) as JsonWebKey;
  const bytes = (text: string | undefined) => base64url.decode(text ?? "");
  if (algorithm === -7) {
    const entries = [
      [1, 2],
      [3, algorithm],
      [-1, 1],
      [-2, bytes(jwk.x)],
      [-3, bytes(jwk.y)],
    ] as const;
    return cborMap(entries);
  }
  if (algorithm === -8) {
    return cborMap([
      [1, 1],
      [3, algorithm],
      [-1, 6],
      [-2, bytes(jwk.x)],
    ]);
  }
  return cborMap([
    [1, 3],
    [3, algorithm],
    [-1, bytes(jwk.n)],
    [-2, bytes(jwk.e)],
  ]);
}

type CborValue = number | string | Uint8Array | null;

/** A CBOR map (RFC 8949) of the few types that authenticators send. */
function cborMap(entries: readonly (readonly [CborValue, CborValue])[]): Uint8Array {
  return join(cborHead(5, entries.length), ...entries.flat().map(cbor));
}

function cbor(value: CborValue): Uint8Array {
  if (typeof value === "number") return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
  if (typeof value === "string") {
    const text = new TextEncoder().encode(value);
    return join(cborHead(3, text.length), text);
  }
  // Null stands for an empty map, which is the attestation statement.
  return value === null ? cborHead(5, 0) : join(cborHead(2, value.length), value);
}

function cborHead(type: number, value: number): Uint8Array {
  const major = type << 5;
  if (value < 24) return new Uint8Array([major | value]);
  if (value < 256) return new Uint8Array([major | 24, value]);
  return new Uint8Array([major | 25, value >> 8, value & 255]);
}

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
