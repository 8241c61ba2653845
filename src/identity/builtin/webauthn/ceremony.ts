/**
 * Verifies the browser's response to a ceremony (WebAuthn Level 3, sections 7.1 and 7.2). Attestation is not requested,
 * because Passbook accepts every maker of authenticators. So nothing proves a new key except the signature of its first
 * sign-in, and the key may come from the browser in a form that WebCrypto imports.
 */
import { base64url } from "jose";
import * as z from "zod/mini";
import { accepted, refused, type Result } from "../../../domain/result.ts";
import { readAuthenticatorData, type AuthenticatorData } from "./authenticator_data.ts";
import { importPublicKey, isAlgorithm, isSignedBy, type PublicKey } from "./public_key.ts";

/** The values that a response must be about. */
export interface Expected {
  readonly challenge: string;
  /** The service's own origin. Its host is the relying party's id. */
  readonly origin: string;
}

/** A new passkey. `credential_id` is in base64url. */
interface NewCredential extends PublicKey {
  readonly credential_id: string;
  readonly sign_count: number;
}

/** Why a response was refused, for the log: a fixed text, never a value of the response. */
export type CeremonyRefusal =
  | "malformed"
  | "type"
  | "challenge"
  | "origin"
  | "relying party"
  | "user not present"
  | "user not verified"
  | "credential id"
  | "public key"
  | "user handle"
  | "signature";

/** Base64url of at most 4 KiB: an RSA key or signature of 4,096 bits has a quarter of that. One letter more is no byte. */
const bytes = z
  .string()
  .check(z.minLength(2), z.maxLength(5_462), z.regex(/^(?:[\w-]{4})*(?:[\w-]{2,3})?$/));

const registration = z.object({
  id: bytes,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    publicKey: bytes,
    publicKeyAlgorithm: z.int(),
  }),
});

const assertion = z.object({
  id: bytes,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: bytes,
  }),
});

/** The response of a sign-in, in the names of `AuthenticationResponseJSON`. */
type Assertion = z.infer<typeof assertion>;

const client_data = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.optional(z.literal(false)),
  topOrigin: z.optional(z.never()),
});

/** The id of the relying party: only this host. A parent domain's other hosts cannot use its passkeys. */
export function rpIdOf(origin: string): string {
  return new URL(origin).hostname;
}

/** The response of a sign-in; null if it is malformed. */
export function readAssertion(response: unknown): Assertion | null {
  return assertion.safeParse(response).data ?? null;
}

/** Verifies the response to the creation of a passkey. */
export async function verifyRegistration(
  response: unknown,
  expected: Expected,
): Promise<Result<NewCredential, CeremonyRefusal>> {
  const { data } = registration.safeParse(response);
  if (data === undefined) return refused("malformed");
  const { id, response: sent } = data;
  const common = await verifyCommon("webauthn.create", sent, expected);
  if (!common.ok) return common;
  const { credential_id, sign_count } = common.value;
  if (credential_id === null || base64url.encode(credential_id) !== id) {
    return refused("credential id");
  }
  const { publicKeyAlgorithm: algorithm, publicKey: public_key } = sent;
  if (!isAlgorithm(algorithm) || (await importPublicKey({ algorithm, public_key })) === null) {
    return refused("public key");
  }
  return accepted({ credential_id: id, algorithm, public_key, sign_count });
}

/** Verifies a sign-in with the key and user of its passkey. The caller compares the counter when it stores it. */
export async function verifyAssertion(
  { response }: Assertion,
  { key, user_id }: { readonly key: PublicKey; readonly user_id: string },
  expected: Expected,
): Promise<Result<{ readonly sign_count: number }, CeremonyRefusal>> {
  const common = await verifyCommon("webauthn.get", response, expected);
  if (!common.ok) return common;
  if (response.userHandle !== userHandleOf(user_id)) return refused("user handle");
  const data_hash = await sha256(base64url.decode(response.clientDataJSON));
  const signed = concatenate(base64url.decode(response.authenticatorData), data_hash);
  const signature = base64url.decode(response.signature);
  if (!(await isSignedBy(key, signature, signed))) return refused("signature");
  return accepted({ sign_count: common.value.sign_count });
}

/** The user handle that authenticators store: the identity id, which is random. */
export function userHandleOf(user_id: string): string {
  return base64url.encode(user_id);
}

/** The checks that both ceremonies have in common. */
async function verifyCommon(
  type: "webauthn.create" | "webauthn.get",
  sent: { readonly clientDataJSON: string; readonly authenticatorData: string },
  expected: Expected,
): Promise<Result<AuthenticatorData, CeremonyRefusal>> {
  const data = readClientData(sent.clientDataJSON);
  if (data === null) return refused("malformed");
  if (data.type !== type) return refused("type");
  if (data.challenge !== expected.challenge) return refused("challenge");
  if (data.origin !== expected.origin) return refused("origin");
  const authenticator = readAuthenticatorData(base64url.decode(sent.authenticatorData));
  if (authenticator === null) return refused("malformed");
  const rp_id_hash = await sha256(new TextEncoder().encode(rpIdOf(expected.origin)));
  if (!isEqual(authenticator.rp_id_hash, rp_id_hash)) return refused("relying party");
  if (!authenticator.user_present) return refused("user not present");
  if (!authenticator.user_verified) return refused("user not verified");
  return accepted(authenticator);
}

/** The browser's data about a ceremony; null if it is malformed, or comes from a frame of another origin. */
function readClientData(encoded: string): z.infer<typeof client_data> | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      base64url.decode(encoded),
    );
    return client_data.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

async function sha256(data: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", data));
}

/** None of the values is secret, so the time of the comparison reveals nothing. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.byteLength === other.byteLength && one.every((byte, at) => byte === other[at]);
}

function concatenate(one: Uint8Array, other: Uint8Array): Uint8Array {
  const joined = new Uint8Array(one.byteLength + other.byteLength);
  joined.set(one);
  joined.set(other, one.byteLength);
  return joined;
}
