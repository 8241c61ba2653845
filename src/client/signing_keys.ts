/** The service's public keys. Forged tokens with unknown key ids cannot cause more than one fetch per pause. */
import { PassbookError } from "./errors.ts";
import type { Fetch } from "./transport.ts";

/** Keys are fetched again after this time, so that retired keys stop being accepted. */
const FRESH_MS = 10 * 60 * 1000;

/** While the service does not respond, fetched keys are accepted for this time. */
const STALE_MS = 60 * 60 * 1000;

/** The shortest pause between two fetches, also after a failed fetch. */
const PAUSE_MS = 30 * 1000;

const TIMEOUT_MS = 5_000;
const RESPONSE_MAX_LENGTH = 65_536;

export type SigningAlgorithm = "EdDSA" | "RS256";

/** Finds the public key with this id; null if the service has no such key. @throws PassbookError `no_response` */
export type FindKey = (kid: string, algorithm: SigningAlgorithm) => Promise<CryptoKey | null>;

const IMPORTED_AS = {
  EdDSA: { name: "Ed25519" },
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
} as const;

/** The keys of a service, cached in memory. */
export function createSigningKeys(origin: string, fetch: Fetch): FindKey {
  let keys: ReadonlyMap<string, CryptoKey> = new Map();
  let [fetched_at_ms, started_at_ms] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let pending: Promise<void> | null = null;

  const refresh = async (): Promise<void> => {
    started_at_ms = Date.now();
    keys = await fetchKeys(`${origin}/.well-known/jwks.json`, fetch);
    fetched_at_ms = Date.now();
  };
  return async (kid, algorithm) => {
    const age_ms = Date.now() - fetched_at_ms;
    const is_wanted = age_ms > FRESH_MS || !keys.has(kid);
    if (is_wanted && pending === null && Date.now() - started_at_ms > PAUSE_MS) {
      pending = refresh().finally(() => void (pending = null));
    }
    // If the fetch failed, cached keys are accepted for a while.
    await pending?.catch(() => {});
    if (Date.now() - fetched_at_ms > STALE_MS) {
      throw new PassbookError(
        "no_response",
        `Tokens cannot be verified: the public keys of ${origin} could not be fetched.`,
      );
    }
    const key = keys.get(kid);
    return key?.algorithm.name === IMPORTED_AS[algorithm].name ? key : null;
  };
}

async function fetchKeys(url: string, fetch: Fetch): Promise<ReadonlyMap<string, CryptoKey>> {
  const response = await fetch(url, {
    method: "GET",
    headers: { Accept: "application/json" },
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  if (response.status !== 200 || text.length > RESPONSE_MAX_LENGTH) throw new Error("no keys");
  const { keys } = JSON.parse(text) as {
    keys: readonly Readonly<Record<string, string>>[];
  };
  const imported = keys.map(async ({ kid, kty, crv, x, n, e }) => {
    if (typeof kid !== "string") return [];
    const is_rsa = kty === "RSA";
    if (!is_rsa && !(kty === "OKP" && crv === "Ed25519")) return [];
    // Only these, because keys with another `alg` or `use` are not imported.
    const jwk = (is_rsa ? { kty, n, e } : { kty, crv, x }) as JsonWebKey;
    const algorithm = IMPORTED_AS[is_rsa ? "RS256" : "EdDSA"];
    const key = await crypto.subtle.importKey("jwk", jwk, algorithm, false, ["verify"]);
    return [[kid, key] as const];
  });
  return new Map((await Promise.all(imported)).flat());
}
