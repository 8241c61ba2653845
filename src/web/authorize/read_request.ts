/** Reads an authorization request: its client, its scopes and limits, and whether the person must sign in first. */
import {
  readAuthorizeRequest,
  whyPkceMissing,
  type AddressProblem,
  type Asked,
  type AuthorizeError,
  type ReturnAddress,
} from "../../domain/authorize_request.ts";
import { chooseScopes, ownAppOf, signInNeed, type SignInNeed } from "../../domain/consent.ts";
import { REDIRECT_MAX_LENGTH } from "../../domain/limits.ts";
import type { OAuthClient, ProtectedResource } from "../../domain/oauth_client.ts";
import { readScope } from "../../domain/oauth_scopes.ts";
import { matchesRedirect, otherLoopback } from "../../domain/redirect_match.ts";
import { resourceKey } from "../../domain/resource_uri.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { AppContext } from "../../http/context.ts";
import { findResource, resolveClient } from "../../http/oauth/clients.ts";
import { COMMAND_LINE_CLIENT_PATH } from "../../http/oauth/command_line_client.ts";
import { readSpendingDetails, type SpendingDetails } from "../../http/oauth/spending_details.ts";
import type { ResumedSession } from "../../identity/port.ts";
import { isNewSignIn, PROOF_MAX_LENGTH, setNewSignIn } from "./new_sign_in.ts";

/** Why the page cannot ask, and no address can receive a response. */
export type CannotAsk =
  | AddressProblem
  /** There is no such client, or its document is not usable. */
  | "client_unknown"
  | "redirect_uri_unknown"
  /** A client that nobody registered calls itself like this service or a registered app. */
  | "name_taken"
  /** The host of a client that nobody registered cannot be its name, or is the name of a registered app. */
  | "host_unusable"
  /** The client requests a response without a page, but its document is read only for a signed-in person. */
  | "not_signed_in"
  | "request_too_long"
  | "form_unreadable";

/** A client with one of its own redirect addresses: it may receive responses there. */
export interface KnownClient {
  readonly client: OAuthClient;
  readonly address: ReturnAddress;
  /** Whether the client requests a response without a page (`prompt=none`), also if it is an error. */
  readonly is_silent: boolean;
}

/** A request that a signed-in person can decide. */
export interface AskingRequest extends KnownClient {
  readonly asked: Asked;
  readonly session: ResumedSession;
  /** Null: our API. */
  readonly resource: ProtectedResource | null;
  /** The name of an app under which a client acts that nobody registered; null: a registered one, or the service's own. */
  readonly own_app: string | null;
  /** The scopes that the client can get. */
  readonly scopes: readonly string[];
  /** Limits that the client suggests, or null. */
  readonly suggested: SpendingDetails | null;
  /** The request without what has no meaning here. */
  readonly query: string;
}

export type Reading =
  | {
      readonly kind: "cannot_ask";
      readonly problem: CannotAsk;
      readonly redirect_uri?: string;
      /** The registered address that differs only in the name of this machine; null: none. */
      readonly other_loopback?: string | null;
      /** In development: the rules that the client's document breaks. */
      readonly broken_rules?: readonly string[];
    }
  /** Too many requests, or the registry cannot be read. */
  | { readonly kind: "busy"; readonly refusal: Refusal }
  | { readonly kind: "sign_in"; readonly return_to: string }
  | { readonly kind: "refused"; readonly known: KnownClient; readonly error: AuthorizeError }
  | { readonly kind: "asks"; readonly request: AskingRequest };

export async function readRequest(context: AppContext, query: URLSearchParams): Promise<Reading> {
  const read = readAuthorizeRequest(query);
  if (!read.ok) return { kind: "cannot_ask", problem: read.refusal };
  const { address, asked } = read.value;
  const session = context.get("session") ?? null;
  const is_silent = readScope(query.get("prompt") ?? "").includes("none");

  const found = await resolveClient(context, address.client_id, session?.identity_id ?? null);
  if (found.kind === "sign_in_first") {
    return is_silent
      ? { kind: "cannot_ask", problem: "not_signed_in" }
      : (signIn(context, query, asked.ok ? signInNeed(asked.value, null, Date.now()) : "first") ?? {
          kind: "cannot_ask",
          problem: "request_too_long",
        });
  }
  if (found.kind === "refused") return { kind: "busy", refusal: found.refusal };
  if (found.kind === "unknown") {
    return { kind: "cannot_ask", problem: "client_unknown", broken_rules: found.problems };
  }
  const named = await readName(context, found.client);
  if (!named.ok) return { kind: "cannot_ask", problem: named.refusal };
  const known = { client: found.client, address, is_silent };
  if (!matchesRedirect(address.redirect_uri, known.client.redirect_uris)) {
    const { redirect_uri } = address;
    const other_loopback = otherLoopback(redirect_uri, known.client.redirect_uris);
    return { kind: "cannot_ask", problem: "redirect_uri_unknown", redirect_uri, other_loopback };
  }

  if (!asked.ok) return { kind: "refused", known, error: asked.refusal };
  const offered = await readOffer(context, asked.value, known.client);
  if (!offered.ok) return { kind: "refused", known, error: offered.refusal };
  const suggested = readSuggestion(query);
  if (!suggested.ok) return { kind: "refused", known, error: suggested.refusal };
  // A session that proves nothing is never new enough for `max_age`.
  const signed_in_at_ms = session && (session.is_proven ? session.started_at_ms : -Infinity);
  const need = signInNeed(asked.value, signed_in_at_ms, Date.now());
  const { hinted_identity_id: hinted } = asked.value;
  const is_other = is_silent && hinted !== null && hinted !== session?.identity_id;
  // The session of a sign-in for this request is new enough, however short `max_age` is.
  const { prompts, max_age_seconds } = asked.value;
  const wants_proof = prompts.includes("login") || max_age_seconds !== null;
  const is_new = wants_proof && session !== null && (await isNewSignIn(context, query, session));
  if (is_new && !session.is_proven) return { kind: "refused", known, error: NOT_PROVEN };
  if (session === null || (need !== "none" && !is_new) || is_other) {
    const silent = is_silent ? LOGIN_REQUIRED : TOO_LONG;
    const signing_in = is_silent ? null : signIn(context, query, need);
    return signing_in ?? { kind: "refused", known, error: silent };
  }
  const own_app = named.value;
  const request = { ...known, ...offered.value, asked: asked.value, session, own_app };
  const more = { suggested: suggested.value, query: query.toString() };
  return { kind: "asks", request: { ...request, ...more } };
}

/** The app that a client acts as; null: it is registered, or is one of our own documents. */
async function readName(
  context: AppContext,
  client: OAuthClient,
): Promise<Result<string | null, CannotAsk>> {
  if (client.kind !== "document") return accepted(null);
  if (client.client_id === `${context.get("base_url")}${COMMAND_LINE_CLIENT_PATH}`) {
    return accepted(null);
  }
  const { apps, config } = context.get("services");
  const registered = await apps.all();
  const taken = [config.service_name, ...[...registered.values()].map(({ name }) => name)];
  if (taken.some((name) => plainName(name) === plainName(client.name)))
    return refused("name_taken");
  const own_app = ownAppOf(client.client_id, (slug) => registered.has(slug));
  return own_app === null ? refused("host_unusable") : accepted(own_app);
}

/** A name without what readers overlook: case, width and spaces. */
function plainName(name: string): string {
  return name.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, "");
}

/** The limits that a client suggests (RFC 9396). The person decides. */
function readSuggestion(query: URLSearchParams): Result<SpendingDetails | null, AuthorizeError> {
  const text = query.get("authorization_details");
  if (text === null || text === "") return accepted(null);
  const details = readSpendingDetails(text);
  if (details.ok) return details;
  return refused({ error: "invalid_request", error_description: details.refusal });
}

const LOGIN_REQUIRED: AuthorizeError = {
  error: "login_required",
  error_description: "The person must sign in. Send the request without prompt=none.",
};

const NOT_PROVEN: AuthorizeError = {
  error: "login_required",
  error_description:
    "The person signed in at a provider that does not prove a new sign-in. Another way to sign in may prove it.",
};

const TOO_LONG: AuthorizeError = {
  error: "invalid_request",
  error_description: `Shorten the request, for example its state, to ${REDIRECT_MAX_LENGTH - PROOF_MAX_LENGTH} characters.`,
};

/** The request of a client that may get it. */
async function readOffer(
  context: AppContext,
  asked: Asked,
  client: OAuthClient,
): Promise<Result<Pick<AskingRequest, "resource" | "scopes">, AuthorizeError>> {
  const pkce_optional = client.kind === "registered" && client.pkce_optional;
  const pkce_missing = whyPkceMissing(asked, { pkce_optional });
  if (pkce_missing !== null) return refused(pkce_missing);
  const resource = await readResource(context, asked.resource);
  if (!resource.ok) return resource;
  const scopes = chooseScopes(asked.scopes, {
    resource: resource.value,
    may_upstream: await mayGetUpstream(context, client),
  });
  return scopes.ok ? accepted({ resource: resource.value, scopes: scopes.value }) : scopes;
}

/** The resource at an address; null: our API, also under its own address. */
async function readResource(
  context: AppContext,
  uri: string | null,
): Promise<Result<ProtectedResource | null, AuthorizeError>> {
  if (uri === null || resourceKey(uri) === context.get("base_url")) return accepted(null);
  const found = await findResource(context, uri);
  if (found.kind === "found") return accepted(found.value);
  const is_unknown = found.kind === "unknown";
  return refused({
    error: is_unknown ? "invalid_target" : "temporarily_unavailable",
    error_description: is_unknown
      ? "No such resource is registered here. Check its address."
      : "Try again in a few seconds.",
  });
}

/** An app gets upstream tokens only of the providers of its registration; a client with a document gets no upstream tokens. */
async function mayGetUpstream(context: AppContext, client: OAuthClient): Promise<boolean> {
  if (client.kind !== "registered") return false;
  const apps = await context.get("services").apps.all();
  return (apps.get(client.app_slug)?.upstream_providers.length ?? 0) > 0;
}

/** Sends the person to sign in and back; null: the way back is too long to remember. */
function signIn(context: AppContext, query: URLSearchParams, need: SignInNeed): Reading | null {
  const back = new URLSearchParams(query);
  // A hint about the person may be longer than the rest, and has no use after they signed in.
  for (const name of ["id_token_hint", "login_hint"]) back.delete(name);
  const is_again = need === "again";
  setNewSignIn(back, is_again);
  const return_to = `${context.get("base_url")}/oauth/authorize?${back.toString()}`;
  const max_length = REDIRECT_MAX_LENGTH - (is_again ? PROOF_MAX_LENGTH : 0);
  return return_to.length > max_length ? null : { kind: "sign_in", return_to };
}
