/** The client of an OAuth request, and the limits of what may be fetched for it. */
import type { AuthenticatedClient } from "../../authorization/authentication.ts";
import type { CountFetch } from "../../authorization/public_json.ts";
import type { SentCredentials } from "../../domain/client_credentials.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../../domain/limits.ts";
import type { Lookup, OAuthClient, ProtectedResource } from "../../domain/oauth_client.ts";
import type { OAuthError } from "../../domain/oauth_errors.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { refused, type Result } from "../../domain/result.ts";
import type { AppContext } from "../context.ts";
import { countNetworkRequest, countRequest } from "../middleware/rate_limits.ts";

/** `unknown`: no such client, or its document is not usable; `problems` say why in development. `refused`: 429 or 503. */
type ResolvedClient =
  | { readonly kind: "found"; readonly client: OAuthClient }
  | { readonly kind: "unknown"; readonly problems: readonly string[] }
  | { readonly kind: "sign_in_first" }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/**
 * Finds the client of an authorization request. `identity_id`: the person who is signed in; null: nobody is signed in,
 * so nothing is fetched or read from KV.
 */
export async function resolveClient(
  context: AppContext,
  client_id: string,
  identity_id: string | null,
): Promise<ResolvedClient> {
  const counter = identity_id === null ? null : countFetches(context, identity_id);
  const { clients } = context.get("services");
  const found = await clients.resolve(client_id, counter?.count ?? null);
  switch (found.kind) {
    case "found":
      return { kind: "found", client: found.value };
    case "unreadable":
      return { kind: "refused", refusal: UNREADABLE };
    case "limited":
      return { kind: "refused", refusal: counter?.refusal() ?? UNREADABLE };
    case "unknown":
    case "sign_in_first":
      return found;
  }
}

/** The icon that the document of a client names; null: none that can be shown. */
export async function readClientIcon(context: AppContext, client_id: string, identity_id: string) {
  const found = await resolveClient(context, client_id, identity_id);
  const icon =
    found.kind === "found" && found.client.kind === "document" ? found.client.icon : null;
  if (icon === null) return null;
  const { count } = countFetches(context, identity_id);
  return context.get("services").client_icons.read(icon, count);
}

/** A registered protected resource by its address. */
export function findResource(context: AppContext, uri: string): Promise<Lookup<ProtectedResource>> {
  return context.get("services").apps.findResource(uri);
}

const UNREADABLE: Refusal = {
  code: "unavailable",
  retry_after_seconds: UNAVAILABLE_RETRY_AFTER_SECONDS,
};

/** Counts fetches for a person and a network, and remembers the refusal of the first that is too many. */
function countFetches(context: AppContext, identity_id: string) {
  let refusal: Refusal | null = null;
  const count: CountFetch = async () => {
    refusal =
      (await countRequest(context, "client_document", identity_id)) ??
      (await countNetworkRequest(context, "client_document"));
    return refusal === null;
  };
  return { count, refusal: () => refusal };
}

const PROBLEMS = {
  missing: {
    error: "invalid_client",
    error_description: "The request has no client_id. Send it, or authenticate with HTTP Basic.",
  },
  malformed: {
    error: "invalid_client",
    error_description:
      "The client authentication is malformed. Send HTTP Basic, client_secret, or client_assertion with its type and the same client_id.",
  },
  two_methods: {
    error: "invalid_request",
    error_description:
      "The request authenticates its client in more than one way. Send only one of HTTP Basic, client_secret and client_assertion.",
  },
  invalid: {
    error: "invalid_client",
    error_description:
      "The client is unknown, or its secret or assertion is wrong. Check client_id, and that the secret is this client's. An app's key is no secret.",
  },
} as const satisfies Readonly<Record<string, OAuthError>>;

/**
 * Authenticates the client of a request to the token endpoint. `identity_id`: the account of the code or token that the
 * request presents, if its MAC is right; null: it presents none of ours, so nothing is fetched for it and no use is noted.
 * A failure counts for the network.
 */
export async function authenticateClient(
  context: AppContext,
  sent: SentCredentials,
  identity_id: string | null,
): Promise<Result<AuthenticatedClient, OAuthError>> {
  context.set("sender", { client_id: null, identity_id });
  const { client_authentication } = context.get("services");
  const issuer = context.get("base_url");
  const audience = { issuer, token_endpoint: `${issuer}/oauth/token` };
  const counter = identity_id === null ? null : countFetches(context, identity_id);
  const count = counter?.count ?? null;
  const result = await client_authentication.authenticate(sent, audience, count);
  if (result.ok) {
    context.set("sender", { client_id: result.value.client_id, identity_id });
    if (identity_id !== null) noteUse(context, result.value);
    return result;
  }
  if (result.refusal === "unreadable")
    return refused(busy("The service cannot check the client now."));
  if (result.refusal === "limited") return refused(slowDown(counter?.refusal() ?? null));
  const limited = await countNetworkRequest(context, "client_failure");
  return refused(limited === null ? PROBLEMS[result.refusal] : slowDown(limited));
}

function busy(reason: string): OAuthError {
  return {
    error: "temporarily_unavailable",
    error_description: `${reason} Try again shortly.`,
    retry_after_seconds: UNAVAILABLE_RETRY_AFTER_SECONDS,
  };
}

function slowDown(limited: Refusal | null): OAuthError {
  if (limited?.code !== "rate_limited") return busy("The service cannot count requests now.");
  const { window_seconds } = limited.rule;
  return {
    error: "slow_down",
    error_description: `Too many requests. Try again in ${window_seconds} seconds.`,
    retry_after_seconds: window_seconds,
  };
}

/** Notes the day of the client's last use. No response waits for it. */
function noteUse(context: AppContext, authenticated: AuthenticatedClient): void {
  if (authenticated.kind !== "registered") return;
  const written = context.get("services").note_client_use(authenticated.client_id);
  if (written !== null) context.executionCtx.waitUntil(written);
}

/** Whether a client proved itself. A public one, or a document's without an assertion, is only named. */
export function isProven(client: AuthenticatedClient): boolean {
  return client.kind === "registered" ? !client.client.public : client.asserted;
}

/** Whether a client proved itself as strongly as its description may require. A registered client always did. */
export function isAsserted(client: AuthenticatedClient): boolean {
  return client.kind === "registered" || client.asserted;
}
