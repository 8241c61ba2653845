/**
 * What a sign-in provider publishes of itself (OpenID Connect Discovery 1.0; RFC 8414). Fetched by commands
 * and written into the settings, so that the Worker fetches nothing for it.
 */
import { isLoopbackHost } from "../domain/origins.ts";

/** The part of an entry of `SIGNIN_PROVIDERS` that a provider's metadata says. */
export interface DiscoveredProvider {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly userinfo_endpoint?: string;
  readonly jwks_uri?: string;
  readonly scope?: string;
  readonly client_authentication: "client_secret_basic" | "client_secret_post";
  readonly authorization_response_iss_parameter_supported: boolean;
}

type Metadata = Readonly<Record<string, unknown>>;

const TIMEOUT_MS = 10_000;

/** Documents of large providers have about 3 KiB; this bounds what a mistaken address may send. */
const DOCUMENT_MAX_BYTES = 256 * 1024;

const ENDPOINTS = [
  "authorization_endpoint",
  "token_endpoint",
  "userinfo_endpoint",
  "jwks_uri",
] as const;

/** What is asked of a person's data where the setting says nothing; the ID token has it. */
const OPENID_SCOPES = ["openid", "email", "profile"];

/** @throws Error that names the address, what is wrong with what it gave, and what to do */
export async function discoverProvider(issuer: string): Promise<DiscoveredProvider> {
  const { address, metadata } = await fetchMetadata(issuer);
  const problem = problemOf(metadata, issuer);
  if (problem !== null) throw new Error(`${address} ${problem}`);
  const endpoints = Object.fromEntries(
    ENDPOINTS.filter((name) => metadata[name] !== undefined).map((name) => [name, metadata[name]]),
  ) as Pick<DiscoveredProvider, (typeof ENDPOINTS)[number]>;
  const scopes = listOf(metadata, "scopes_supported");
  const has_openid =
    scopes === null ? metadata["jwks_uri"] !== undefined : scopes.includes("openid");
  const scope = OPENID_SCOPES.filter((name) => scopes?.includes(name) ?? true).join(" ");
  return {
    ...endpoints,
    ...(has_openid ? { scope } : {}),
    client_authentication: methodOf(metadata) ?? "client_secret_basic",
    authorization_response_iss_parameter_supported:
      metadata["authorization_response_iss_parameter_supported"] === true,
  };
}

/** Where an issuer's metadata may be: OpenID Connect's address first, then that of plain OAuth 2. */
function addressesOf(issuer: string): readonly string[] {
  const url = URL.parse(issuer);
  if (url === null || !isSafe(url, true) || /[?#]/.test(issuer) || url.username !== "") {
    throw new Error(
      `issuer must be an https address without query (plain http only to this machine), and is "${issuer}".`,
    );
  }
  const path = url.pathname.replace(/\/$/, "");
  return [
    `${url.origin}${path}/.well-known/openid-configuration`,
    `${url.origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

async function fetchMetadata(issuer: string) {
  const addresses = addressesOf(issuer);
  for (const address of addresses) {
    const metadata = await fetchDocument(address);
    if (metadata !== null) return { address, metadata };
  }
  throw new Error(
    `The issuer ${issuer} publishes no metadata: ${addresses.join(" and ")} are 404. ` +
      "Write its endpoints into SIGNIN_PROVIDERS yourself (docs/signing-in.md).",
  );
}

/** A metadata document; null if the address does not exist. */
async function fetchDocument(address: string): Promise<Metadata | null> {
  let response: Response;
  let text: string;
  try {
    // A redirect could lead out of the issuer's hands.
    const init = { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) } as const;
    response = await fetch(address, { ...init, headers: { Accept: "application/json" } });
    text = await readBounded(response);
  } catch (error) {
    throw new Error(`${address} gave no response: ${reasonOf(error)}. Is the issuer right?`, {
      cause: error,
    });
  }
  if (response.status === 404) return null;
  if (response.status !== 200) {
    throw new Error(`${address} responded with status ${response.status}. Is the issuer right?`);
  }
  const metadata = parseObject(text);
  if (metadata === null) throw new Error(`${address} is not a JSON object. Is the issuer right?`);
  return metadata;
}

async function readBounded(response: Response): Promise<string> {
  let text = "";
  let bytes = 0;
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > DOCUMENT_MAX_BYTES) throw new Error(`it is over ${DOCUMENT_MAX_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

function parseObject(text: string): Metadata | null {
  try {
    const value: unknown = JSON.parse(text);
    const is_object = typeof value === "object" && value !== null && !Array.isArray(value);
    return is_object ? (value as Metadata) : null;
  } catch {
    return null;
  }
}

/** The reason of a failed `fetch` is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `none within ${TIMEOUT_MS / 1000} seconds`;
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}

/** What is wrong with a document, as a predicate of its address; null if nothing is. */
function problemOf(metadata: Metadata, issuer: string): string | null {
  // Exactly: ID tokens are held to the same text.
  if (metadata["issuer"] !== issuer) {
    return `is the metadata of the issuer ${JSON.stringify(metadata["issuer"])}, and SIGNIN_PROVIDERS says ${JSON.stringify(issuer)}. Write the issuer exactly as the provider does.`;
  }
  for (const name of ["authorization_endpoint", "token_endpoint"]) {
    if (metadata[name] === undefined) return `has no ${name}, so nobody can sign in there.`;
  }
  const from_loopback = isLoopbackHost(new URL(issuer).hostname);
  for (const name of ENDPOINTS) {
    const text = metadata[name];
    if (text === undefined) continue;
    const url = typeof text === "string" ? URL.parse(text) : null;
    if (url === null || !isSafe(url, from_loopback)) {
      return `has the ${name} ${JSON.stringify(text)}, which must be an https address. Secrets are not sent there.`;
    }
  }
  if (methodOf(metadata) === null) {
    return "accepts neither client_secret_basic nor client_secret_post, and Passbook knows no other way to prove itself.";
  }
  return null;
}

/** Https; or plain http to this machine, which only a provider on this machine may name. */
function isSafe(url: URL, from_loopback: boolean): boolean {
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && from_loopback && isLoopbackHost(url.hostname);
}

function methodOf(metadata: Metadata): DiscoveredProvider["client_authentication"] | null {
  const supported = listOf(metadata, "token_endpoint_auth_methods_supported");
  // The default, where a provider says nothing.
  if (supported === null || supported.includes("client_secret_basic")) return "client_secret_basic";
  return supported.includes("client_secret_post") ? "client_secret_post" : null;
}

function listOf(metadata: Metadata, name: string): readonly unknown[] | null {
  const value = metadata[name];
  return Array.isArray(value) ? (value as readonly unknown[]) : null;
}
