/** Verifies the assertion of a document client: a JWT that it signed with a key of its document. */
import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet } from "jose";
import { ASSERTION_ALGORITHMS, type DocumentClient } from "../domain/oauth_client.ts";
import type { Clients } from "./clients.ts";
import type { CountFetch, PublicJson } from "./public_json.ts";

/** The longest remaining lifetime of an assertion. It can be repeated until it expires, but its code or token cannot. */
const ASSERTION_LIFETIME_MAX_SECONDS = 5 * 60;

/** How far a client's clock may be from ours. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** Key sets are larger than documents: a provider's has up to ten RSA keys, some with certificates. */
const KEY_SET_MAX_BYTES = 16 * 1024;

/** The issuer, and its token endpoint: the two values that assertions may be addressed to. */
export interface Audience {
  readonly issuer: string;
  readonly token_endpoint: string;
}

interface Claim {
  readonly client_id: string;
  readonly assertion: string;
  readonly audience: Audience;
}

interface Sources {
  readonly clients: Clients;
  readonly json: PublicJson;
  readonly count: CountFetch;
}

type AssertionVerdict = "valid" | "invalid" | "limited";

/**
 * Copies are used first. If none of their keys signed the assertion, the document and the keys are read again, because a
 * client may have replaced its key. It never throws.
 */
export async function verifyAssertion(claim: Claim, sources: Sources): Promise<AssertionVerdict> {
  const first = await tryOnce(claim, sources, false);
  if (first.verdict !== "no_key" || !first.used_copy) return plain(first.verdict);
  return plain((await tryOnce(claim, sources, true)).verdict);
}

const plain = (verdict: AssertionVerdict | "no_key"): AssertionVerdict =>
  verdict === "no_key" ? "invalid" : verdict;

async function tryOnce(
  claim: Claim,
  { clients, json, count }: Sources,
  fresh: boolean,
): Promise<{ readonly verdict: AssertionVerdict | "no_key"; readonly used_copy: boolean }> {
  const document = await clients.readDocument(claim.client_id, count, fresh);
  if (document.kind !== "found") {
    return { verdict: document.kind === "limited" ? "limited" : "invalid", used_copy: false };
  }
  const client = document.value;
  if (!client.token_endpoint_auth_methods.includes("private_key_jwt")) {
    return { verdict: "invalid", used_copy: false };
  }
  const keys = await readKeys(client, json, count, fresh);
  if (keys.kind !== "found") {
    return { verdict: keys.kind === "limited" ? "limited" : "invalid", used_copy: false };
  }
  const used_copy = document.is_copy || keys.is_copy;
  return { verdict: await verify(claim, keys.value), used_copy };
}

type KeysLookup =
  | { readonly kind: "found"; readonly value: unknown; readonly is_copy: boolean }
  | { readonly kind: "unusable" | "limited" };

async function readKeys(
  { jwks, jwks_uri }: DocumentClient,
  json: PublicJson,
  count: CountFetch,
  fresh: boolean,
): Promise<KeysLookup> {
  if (jwks !== undefined) return { kind: "found", value: jwks, is_copy: false };
  if (jwks_uri === undefined) return { kind: "unusable" };
  const wanted = { max_bytes: KEY_SET_MAX_BYTES, problemsOf: keySetProblems, fresh };
  const read = await json.read(jwks_uri, wanted, count);
  return read.kind === "copy" || read.kind === "fetched"
    ? { kind: "found", value: read.value, is_copy: read.kind === "copy" }
    : { kind: read.kind };
}

function keySetProblems(value: unknown): readonly string[] {
  const is_key_set = Array.isArray((value as { readonly keys?: unknown } | null)?.keys);
  return is_key_set ? [] : ["The document is not a key set: keys must be a list."];
}

async function verify(
  { client_id, assertion, audience }: Claim,
  keys: unknown,
): Promise<"valid" | "invalid" | "no_key"> {
  try {
    const { payload } = await jwtVerify(assertion, createLocalJWKSet(keys as JSONWebKeySet), {
      algorithms: [...ASSERTION_ALGORITHMS],
      issuer: client_id,
      subject: client_id,
      requiredClaims: ["exp", "aud"],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    // One audience only: another server that the client also addressed could use the assertion here.
    const [aud, ...others] = [payload.aud].flat();
    const is_ours = aud === audience.issuer || aud === audience.token_endpoint;
    const latest_s = Date.now() / 1000 + ASSERTION_LIFETIME_MAX_SECONDS + CLOCK_TOLERANCE_SECONDS;
    const is_short = payload.exp !== undefined && payload.exp <= latest_s;
    return is_ours && others.length === 0 && is_short ? "valid" : "invalid";
  } catch (error) {
    const may_be_new =
      error instanceof errors.JWKSNoMatchingKey ||
      error instanceof errors.JWSSignatureVerificationFailed;
    return may_be_new ? "no_key" : "invalid";
  }
}
