/**
 * Discovery of a sign-in provider's endpoints (OpenID Connect Discovery 1.0; RFC 8414). Commands fetch them and write them
 * into the settings, so that the Worker has nothing to fetch.
 */
import { isLoopbackHost } from "../domain/origins.ts";

/** The fields of an entry of `SIGNIN_PROVIDERS` that come from the provider's metadata. */
interface DiscoveredProvider {
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

/** Large providers' documents have about 3 KiB. The limit stops a wrong address from sending much more. */
const DOCUMENT_MAX_BYTES = 256 * 1024;

const ENDPOINTS = [
  "authorization_endpoint",
  "token_endpoint",
  "userinfo_endpoint",
  "jwks_uri",
] as const;

/** The scopes of an entry without `scope`: their data is in the ID token. */
const OPENID_SCOPES = ["openid", "email", "profile"];

/** @throws Error with the address, the problem of its document, and what to do */
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

/** The possible addresses of an issuer's metadata: OpenID Connect's first, then that of plain OAuth 2. */
function addressesOf(issuer: string): readonly string[] {
  const url = URL.parse(issuer);
  if (url === null || !isSafe(url, true) || /[?#]/.test(issuer) || url.username !== "") {
    throw new Error(
      `issuer must be an https address without a query (plain http only for this machine), but it is "${issuer}".`,
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
    `The issuer ${issuer} publishes no metadata: ${addresses.join(" and ")} responded with 404. ` +
      "Write its endpoints into SIGNIN_PROVIDERS yourself (docs/signing-in.md).",
  );
}

/** A metadata document; null if the address does not exist. */
async function fetchDocument(address: string): Promise<Metadata | null> {
  let response: Response;
  let text: string;
  try {
    // A redirect could lead to another party.
    const init = { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) } as const;
    response = await fetch(address, { ...init, headers: { Accept: "application/json" } });
    text = await readBounded(response);
  } catch (error) {
    throw new Error(`${address} gave no response: ${reasonOf(error)}. Check the issuer.`, {
      cause: error,
    });
  }
  if (response.status === 404) return null;
  if (response.status !== 200) {
    throw new Error(`${address} responded with status ${response.status}. Check the issuer.`);
  }
  const metadata = parseObject(text);
  if (metadata === null) throw new Error(`${address} is not a JSON object. Check the issuer.`);
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
  if (error.name === "TimeoutError") return `it took longer than ${TIMEOUT_MS / 1000} seconds`;
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}

/** The problem of a document, as the rest of a sentence about its address; null without one. */
function problemOf(metadata: Metadata, issuer: string): string | null {
  // Compared exactly, as the `iss` of ID tokens is.
  if (metadata["issuer"] !== issuer) {
    return `is the metadata of the issuer ${JSON.stringify(metadata["issuer"])}, but SIGNIN_PROVIDERS has ${JSON.stringify(issuer)}. Write the issuer exactly as the provider does.`;
  }
  for (const name of ["authorization_endpoint", "token_endpoint"]) {
    if (metadata[name] === undefined)
      return `has no ${name}, so people cannot sign in with this provider.`;
  }
  const from_loopback = isLoopbackHost(new URL(issuer).hostname);
  for (const name of ENDPOINTS) {
    const text = metadata[name];
    if (text === undefined) continue;
    const url = typeof text === "string" ? URL.parse(text) : null;
    if (url === null || !isSafe(url, from_loopback)) {
      return `has the ${name} ${JSON.stringify(text)}, which must be an https address, since it receives secrets.`;
    }
  }
  if (methodOf(metadata) === null) {
    return "accepts neither client_secret_basic nor client_secret_post, and Passbook supports no other client authentication.";
  }
  return null;
}

/** Https is safe. Plain http is allowed only for this machine, and only for a provider on this machine. */
function isSafe(url: URL, from_loopback: boolean): boolean {
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && from_loopback && isLoopbackHost(url.hostname);
}

function methodOf(metadata: Metadata): DiscoveredProvider["client_authentication"] | null {
  const supported = listOf(metadata, "token_endpoint_auth_methods_supported");
  // The default of a provider without this list.
  if (supported === null || supported.includes("client_secret_basic")) return "client_secret_basic";
  return supported.includes("client_secret_post") ? "client_secret_post" : null;
}

function listOf(metadata: Metadata, name: string): readonly unknown[] | null {
  const value = metadata[name];
  return Array.isArray(value) ? (value as readonly unknown[]) : null;
}
