/** Token exchange (RFC 8693): a token for another one that may do the same or less, such as for an agent. */
import type { AuthenticatedClient } from "../../../authorization/authentication.ts";
import type { Exchanged } from "../../../account/contract.ts";
import { isRegisteredClientId, type ProtectedResource } from "../../../domain/oauth_client.ts";
import { CHARGE_SCOPE } from "../../../domain/oauth_scopes.ts";
import type { OAuthError, OAuthErrorCode } from "../../../domain/oauth_errors.ts";
import { credentialId, PERSONAL_TOKEN_PREFIX, type Credential } from "../../../domain/proof.ts";
import { accepted, refused, type Result } from "../../../domain/result.ts";
import type { ExchangeProblem } from "../../../domain/token_exchange.ts";
import { OAUTH_TOKEN_TTL_SECONDS } from "../../../domain/token_family.ts";
import { isDeletedClient, isDeletedResource } from "../../caller/deleted_registrations.ts";
import type { AppContext } from "../../context.ts";
import { countNetworkRequest, countRequest } from "../../middleware/rate_limits.ts";
import { authenticateClient, findResource, isAsserted, isProven } from "../clients.ts";
import {
  errorFrom,
  errorOf,
  invalidRequest,
  RESOURCE_DELETED,
  widerScope,
  type Problem,
} from "../errors.ts";
import {
  ACCESS_TOKEN_TYPE,
  PERSONAL_TOKEN_TYPE,
  readExchange,
  type ExchangeForm,
} from "../exchange_form.ts";
import { credentialsOf, requestedResource, type OAuthForm } from "../form.ts";
import { respondGranted, type GrantHandler, type TokenResponse } from "../tokens.ts";

export const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";

/** The actor and the person it acts for, as in our access tokens. */
interface Actor {
  readonly sub: string;
  readonly act?: Actor;
}

/** The token to be exchanged. */
interface Subject {
  readonly token: string;
  readonly identity_id: string;
  readonly credential: Credential;
  /** Null: our API. Undefined: a refresh token, whose resource the account knows. */
  readonly resource: string | null | undefined;
  /** Null: an access token. */
  readonly generation: number | null;
  readonly act: Actor | null;
  readonly expires_at_ms: number;
  /** The client that the token was issued to; left out: none, or a refresh token's. */
  readonly client_id?: string;
}

export const exchangeToken: GrantHandler = async (context, form) => {
  const read = readExchange(form);
  if (!read.ok) return read;
  const subject = await readSubject(context, read.value);
  const client = await findClient(context, form, subject);
  if (!client.ok) return client;
  if (subject === null) return refused(await invalidSubject(context));
  const { is_personal } = read.value;
  if (is_personal && client.value?.kind === "registered") return refused(NOT_OF_REGISTERED);
  if (await isDeletedResource(context, subject.resource ?? null)) return refused(RESOURCE_DELETED);
  const limited = await countRequest(context, "token_family", exchangerOf(subject, client.value));
  if (limited !== null) return refused(errorFrom(limited));
  const { generation, expires_at_ms } = subject;
  const requested = requestedResource(context, form.get("resource"));
  // Every personal access token is of our API.
  const resource = is_personal ? (requested ?? null) : requested;
  const owned = await findOwned(context, client.value, subject);
  const exchanged = await context
    .get("services")
    .accounts(subject.identity_id)
    .exchange(
      { kind: "allowance", credential: subject.credential },
      {
        ...read.value.narrowing,
        credential: subject.credential,
        client_id: client.value?.client_id ?? null,
        client_asserted: client.value !== null && isAsserted(client.value),
        client_proven: client.value !== null && isProven(client.value),
        subject:
          generation === null ? { kind: "access", expires_at_ms } : { kind: "refresh", generation },
        resource,
        owns_audience: owned !== null,
        charging_app: resource === null && owned?.charges === true ? owned.app_slug : null,
        is_personal,
      },
    );
  if (!exchanged.ok) {
    return exchanged.refusal.code === "unauthorized"
      ? refused(await invalidSubject(context))
      : refused(errorFrom(exchanged.refusal));
  }
  const { value } = exchanged;
  const has_clients = value.kind === "same" || value.kind === "charge";
  if (has_clients && (await isDeletedClient(context, ...value.client_ids))) {
    return refused(await invalidSubject(context));
  }
  if (!is_personal) return respond(context, client.value, subject, value);
  const personal = await respond(context, null, subject, value);
  const issued_token_type = PERSONAL_TOKEN_TYPE;
  return personal.ok ? accepted({ ...personal.value, issued_token_type }) : personal;
};

/** Nothing would end the token if an operator deletes the client. */
const NOT_OF_REGISTERED = invalidRequest(
  `Only a client with a document, and a program with a personal access token, gets a ${PERSONAL_TOKEN_TYPE}.`,
);

/** RFC 8693, section 2.2.2. It counts for the network: a guesser's requests all fail. */
async function invalidSubject(context: AppContext): Promise<OAuthError> {
  const limited = await countNetworkRequest(context, "client_failure");
  return limited === null
    ? invalidRequest("subject_token is not a valid token of this service, or it has ended.")
    : errorFrom(limited);
}

/**
 * The allowance that exchanges are counted for: a client's connection, whatever its sessions and narrower tokens, or a
 * personal token.
 */
function exchangerOf(
  { identity_id, credential, resource }: Subject,
  client: AuthenticatedClient | null,
): string {
  if (client === null) return credentialId(credential);
  return `${identity_id} ${client.client_id} ${resource ?? ""}`;
}

/** Null: it is not one of our tokens, or it has expired. */
async function readSubject(
  context: AppContext,
  { subject_token: token, subject_kind }: ExchangeForm,
): Promise<Subject | null> {
  const { access_tokens, personal_tokens, refresh_tokens, resource_tokens } =
    context.get("services");
  const issuer = context.get("base_url");
  if (subject_kind === "refresh") {
    const claims = await refresh_tokens.read(token);
    if (claims === null) return null;
    const { identity_id, family_id, generation } = claims;
    const credential = { kind: "family", family_id, generation, scopes: "all" } as const;
    const found = { token, identity_id, credential, generation };
    return { ...found, resource: undefined, act: null, expires_at_ms: Infinity };
  }
  if (token.startsWith(PERSONAL_TOKEN_PREFIX)) {
    const claims = await personal_tokens.verify(issuer, token);
    if (claims === null || (await isDeletedClient(context, claims.client_id ?? ""))) return null;
    const { identity_id, personal_token_id, expires_at_ms, ...client } = claims;
    const credential = { kind: "allowance", allowance_id: personal_token_id } as const;
    const found = { token, identity_id, credential, generation: null, ...client };
    return { ...found, resource: null, act: null, expires_at_ms };
  }
  const own = await access_tokens.verify(issuer, token);
  // A token that charges was exchanged already. Otherwise it would last for as long as its app exchanges it again.
  if (own?.scopes.includes(CHARGE_SCOPE) === true) return null;
  const other = own === null ? await resource_tokens.verify(issuer, token) : null;
  const claims = own === null ? other : { resource: null, ...own };
  if (claims === null || (await isDeletedClient(context, claims.client_id))) return null;
  return { token, generation: null, ...claims };
}

/** The client of the request. A personal access token belongs to no client, so its request names none. */
async function findClient(
  context: AppContext,
  form: OAuthForm,
  subject: Subject | null,
): Promise<Result<AuthenticatedClient | null, OAuthError>> {
  const sent = credentialsOf(context, form);
  const names_none =
    sent.authorization === null && sent.client_id === null && sent.client_assertion === null;
  if (subject?.credential.kind === "allowance" && names_none) return accepted(null);
  return authenticateClient(context, sent, subject?.identity_id ?? null);
}

/** The resource that the token is for, if the app of a client that proved itself owns it; null: it does not. */
async function findOwned(
  context: AppContext,
  client: AuthenticatedClient | null,
  { resource }: Subject,
): Promise<ProtectedResource | null> {
  if (client?.kind !== "registered" || client.client.public || !resource) return null;
  const found = await findResource(context, resource);
  const is_own = found.kind === "found" && found.value.app_slug === client.client.app_slug;
  return is_own ? found.value : null;
}

type OtherProblem = Exclude<ExchangeProblem, "wider_scope">;

const PROBLEMS: Readonly<Record<OtherProblem, readonly [OAuthErrorCode, string]>> = {
  wider_apps: ["invalid_request", "apps has apps that the exchanged token may not use."],
  wider_caps: [
    "invalid_request",
    "caps has a cap above one that the exchanged token has, of the same period or in total.",
  ],
  later_expiry: [
    "invalid_request",
    "expires_in ends later than what the exchanged token stands for.",
  ],
  too_deep: ["invalid_request", "The exchanged token was itself exchanged too often."],
  too_many_children: [
    "invalid_request",
    "Too many tokens were exchanged for this one and are still valid. Revoke some.",
  ],
  not_charging: [
    "invalid_scope",
    "This connection may not charge: the person did not agree to it yet, or the token was narrowed. Its client must send the person to authorize again.",
  ],
  charge_narrowed: [
    "invalid_request",
    "authorization_details do not apply to a token that charges: the connection's limits do. Leave them out.",
  ],
};

/** RFC 8693, section 2.2.2: a subject token that is not accepted is an `invalid_request`. */
function errorOfExchange(exchanged: Extract<Exchanged, { kind: "refused" }>): OAuthError {
  const { problem } = exchanged;
  if (problem === "wider_scope") return widerScope(exchanged.scopes);
  if (Object.hasOwn(PROBLEMS, problem)) {
    const [error, error_description] = PROBLEMS[problem as OtherProblem];
    return { error, error_description };
  }
  if (problem === "other_client") {
    return invalidRequest("subject_token was issued to another client.");
  }
  const { error, error_description } = errorOf(problem as Problem);
  return error === "invalid_grant"
    ? invalidRequest(error_description)
    : { error, error_description };
}

async function respond(
  context: AppContext,
  client: AuthenticatedClient | null,
  subject: Subject,
  exchanged: Exchanged,
): Promise<Result<TokenResponse, OAuthError>> {
  if (exchanged.kind === "refused") return refused(errorOfExchange(exchanged));
  if (exchanged.kind === "charge") return respondCharge(context, client, subject, exchanged);
  const { scopes, expires_at_ms } = exchanged;
  const issued_token_type = ACCESS_TOKEN_TYPE;
  if (client === null) {
    const token =
      exchanged.kind === "same"
        ? subject.token
        : await context.get("services").personal_tokens.sign(
            context.get("base_url"),
            {
              identity_id: subject.identity_id,
              personal_token_id: exchanged.allowance_id,
              ...registeredClientOf(subject),
            },
            expires_at_ms,
          );
    return accepted(tokenResponse(token, expires_at_ms, scopes));
  }
  if (exchanged.kind === "child") {
    if (exchanged.tokens === null) throw new Error("a client's child has a token family");
    const granted = accepted({ kind: "tokens", tokens: exchanged.tokens } as const);
    const response = await respondGranted(context, subject.identity_id, granted, {
      without: exchanged.is_lasting ? ["id_token"] : ["id_token", "refresh_token"],
    });
    return response.ok ? accepted({ ...response.value, issued_token_type }) : response;
  }
  // Not later than the exchanged token: otherwise a stolen one could be exchanged again and again.
  const ends_at_ms = Math.min(subject.expires_at_ms, expires_at_ms);
  const { resource } = exchanged;
  if (await isDeletedResource(context, resource)) return refused(RESOURCE_DELETED);
  const same = { ...subject, resource, expires_at_ms: ends_at_ms };
  const token = await signSame(context, client, same, scopes);
  return accepted(tokenResponse(token, ends_at_ms, scopes));
}

/** The claim by which a personal access token ends together with the client that collected the one it was exchanged from. */
function registeredClientOf({ client_id }: Subject): { readonly client_id?: string } {
  return client_id !== undefined && isRegisteredClientId(client_id) ? { client_id } : {};
}

/** A token of our API for the app of the resource. It may live longer than the exchanged one: work takes its time. */
async function respondCharge(
  context: AppContext,
  client: AuthenticatedClient | null,
  subject: Subject,
  { expires_at_ms }: Extract<Exchanged, { readonly kind: "charge" }>,
): Promise<Result<TokenResponse, OAuthError>> {
  if (client === null) throw new Error("only a client that proved itself charges");
  const scopes = [CHARGE_SCOPE];
  const token = await signSame(
    context,
    client,
    { ...subject, resource: null, expires_at_ms },
    scopes,
  );
  return accepted(tokenResponse(token, expires_at_ms, scopes));
}

function tokenResponse(
  access_token: string,
  expires_at_ms: number,
  scopes: readonly string[],
): TokenResponse {
  return {
    access_token,
    issued_token_type: ACCESS_TOKEN_TYPE,
    token_type: "Bearer",
    expires_in: Math.max(0, Math.floor((expires_at_ms - Date.now()) / 1000)),
    scope: scopes.join(" "),
  };
}

/** The same right, with the client as the actor (RFC 8693, section 4.1). */
function signSame(
  context: AppContext,
  { client_id }: AuthenticatedClient,
  {
    identity_id,
    credential,
    resource,
    act: earlier,
    expires_at_ms,
  }: Subject & { readonly resource: string | null },
  scopes: readonly string[],
): Promise<string> {
  const { access_tokens, resource_tokens } = context.get("services");
  const issuer = context.get("base_url");
  const act = { sub: client_id, ...(earlier === null ? {} : { act: earlier }) };
  const claims = { identity_id, credential, client_id, scopes, act };
  const issued_at_seconds = Math.floor(Date.now() / 1000);
  const expires_at_seconds = Math.min(
    Math.floor(expires_at_ms / 1000),
    issued_at_seconds + OAUTH_TOKEN_TTL_SECONDS,
  );
  const lifetime = { issued_at_seconds, expires_at_seconds };
  const id = crypto.randomUUID();
  return resource === null
    ? access_tokens.sign(issuer, claims, lifetime, id)
    : resource_tokens.sign(issuer, { ...claims, resource }, lifetime, id);
}
