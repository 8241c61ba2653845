/** A trusted issuer in memory: signs tokens, serves its keys to the Worker's `fetch`, and can fail on request. */
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from "jose";
import { vi } from "vitest";
import type { ProviderDouble } from "./provider_double.ts";

export const APP_ORIGIN = "http://localhost:3000";

export interface TokenHeader {
  readonly alg?: string;
  readonly kid?: string;
  readonly typ?: string;
}

export interface IssuerDouble {
  readonly issuer: string;
  /** How often its keys were read. */
  reads(): number;
  /** A token of a person, valid for 5 minutes in the app at {@link APP_ORIGIN}. `undefined` removes a claim. */
  token(
    claims?: Readonly<Record<string, unknown>>,
    header?: TokenHeader,
    key?: CryptoKey | Uint8Array,
  ): Promise<string>;
  /** Replaces the keys by new ones, and publishes them. */
  rotate(alg?: "RS256" | "ES256" | "EdDSA"): Promise<void>;
  /** Responds in place of the keys; null: the keys again. */
  respond(answer: (() => Response | Promise<Response>) | null): void;
  /** The public half of the current key. */
  publicJwk(): JWK;
  handle(): Promise<Response>;
}

let keys_made = 0;

async function drawKey(
  alg: string,
): Promise<{ kid: string; alg: string; key: CryptoKey; jwk: JWK }> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  keys_made += 1;
  const kid = `key-${keys_made}`;
  return {
    kid,
    alg,
    key: privateKey,
    jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" },
  };
}

export async function openIssuer(
  issuer: string,
  alg: "RS256" | "ES256" | "EdDSA" = "ES256",
): Promise<IssuerDouble> {
  let current = await drawKey(alg);
  let reads = 0;
  let instead: (() => Response | Promise<Response>) | null = null;
  return {
    issuer,
    reads: () => reads,
    token(claims = {}, header = {}, key = current.key) {
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({
        iss: issuer,
        sub: "person-1",
        azp: APP_ORIGIN,
        sid: "sess_1",
        iat: now,
        nbf: now,
        exp: now + 300,
        ...claims,
      })
        .setProtectedHeader({ alg: current.alg, kid: current.kid, typ: "JWT", ...header })
        .sign(key);
    },
    async rotate(next = alg) {
      current = await drawKey(next);
    },
    respond: (answer) => {
      instead = answer;
    },
    publicJwk: () => current.jwk,
    async handle() {
      reads += 1;
      return (await instead?.()) ?? Response.json({ keys: [current.jwk] });
    },
  };
}

/** Another server on the network. */
interface OtherServer {
  readonly origin: string;
  handle(request: Request): Promise<Response>;
}

/** Makes the Worker's `fetch` reach these issuers' keys and these servers; returns `TRUSTED_ISSUERS` and `SIGNIN_PROVIDERS`. */
export function trust(
  issuers: readonly { readonly double: IssuerDouble; readonly entry?: object }[],
  providers: readonly ProviderDouble[] = [],
  others: readonly OtherServer[] = [],
): Record<string, string> {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const { origin, pathname } = new URL(request.url);
    const issuer = issuers.find(({ double }) => new URL(double.issuer).origin === origin);
    if (issuer !== undefined && pathname.endsWith("jwks.json")) return issuer.double.handle();
    const provider = providers.find(({ settings }) => settings["issuer"] === origin);
    const other = others.find((server) => server.origin === origin);
    if (other !== undefined) return other.handle(request);
    if (provider === undefined) throw new TypeError(`no such host: ${request.url}`);
    return provider.handle(request);
  });
  // Its tokens name no audience, and its people get starter credits.
  const usual = { any_audience: true, starter_credits: true };
  const entries = issuers.map(({ double: { issuer }, entry }) => ({ issuer, ...usual, ...entry }));
  return {
    TRUSTED_ISSUERS: JSON.stringify(entries),
    SIGNIN_PROVIDERS: JSON.stringify(providers.map(({ settings }) => settings)),
  };
}
