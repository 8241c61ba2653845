/**
 * The parameters of an authorization request (OAuth 2.1, section 4.1.1; OpenID Connect Core, section 3.1.2.1). Pure.
 * Unknown parameters are ignored, and one without a value counts as not sent.
 */
import { accepted, refused, type Result } from "./result.ts";
import { readScope } from "./oauth_scopes.ts";

/** The errors that a client receives at its redirect address. */
type AuthorizeErrorCode =
  | "invalid_request"
  | "unsupported_response_type"
  | "invalid_scope"
  | "access_denied"
  | "temporarily_unavailable"
  // RFC 8707, section 2
  | "invalid_target"
  // OpenID Connect Core, section 3.1.2.6
  | "login_required"
  | "consent_required"
  | "interaction_required"
  | "request_not_supported"
  | "request_uri_not_supported"
  | "registration_not_supported";

export interface AuthorizeError {
  readonly error: AuthorizeErrorCode;
  /** The fault and the next step, in ASCII without double quotes and backslashes (RFC 6749, section 4.1.2.1). */
  readonly error_description: string;
}

/** Where a response goes. Nothing may be sent there before the client's registration or document confirms it. */
export interface ReturnAddress {
  readonly client_id: string;
  readonly redirect_uri: string;
  /** Null: not sent, or sent more than once. */
  readonly state: string | null;
}

const PROMPTS = ["none", "login", "consent", "select_account"] as const;
type Prompt = (typeof PROMPTS)[number];

/** The request of a client. Null: not sent. */
export interface Asked {
  /** Undefined: not sent. */
  readonly scopes: readonly string[] | undefined;
  /** PKCE's S256 challenge (RFC 7636). */
  readonly code_challenge: string | null;
  readonly resource: string | null;
  readonly nonce: string | null;
  readonly prompts: readonly Prompt[];
  readonly max_age_seconds: number | null;
  /** Whom the client expects to be signed in, according to the ID token that it sent. */
  readonly hinted_identity_id: string | null;
}

interface AuthorizeRequest {
  readonly address: ReturnAddress;
  /** Refused: an error that the client may receive. */
  readonly asked: Result<Asked, AuthorizeError>;
}

/** Why a request names nobody who could receive a response. */
export type AddressProblem =
  | "client_id_missing"
  | "client_id_repeated"
  | "redirect_uri_missing"
  | "redirect_uri_repeated";

/** The parameters that have a meaning here. None may be sent twice (RFC 6749, section 3.1). */
const KNOWN = [
  "response_type",
  "client_id",
  "redirect_uri",
  "scope",
  "state",
  "response_mode",
  "nonce",
  "code_challenge",
  "code_challenge_method",
  "prompt",
  "max_age",
  "id_token_hint",
  "authorization_details",
  "request",
  "request_uri",
  "registration",
] as const;

export function readAuthorizeRequest(
  query: URLSearchParams,
): Result<AuthorizeRequest, AddressProblem> {
  const [client_id, redirect_uri, state] = ["client_id", "redirect_uri", "state"].map((name) =>
    valuesOf(query, name),
  );
  if (client_id?.[0] === undefined) return refused("client_id_missing");
  if (client_id.length > 1) return refused("client_id_repeated");
  if (redirect_uri?.[0] === undefined) return refused("redirect_uri_missing");
  if (redirect_uri.length > 1) return refused("redirect_uri_repeated");
  const address = {
    client_id: client_id[0],
    redirect_uri: redirect_uri[0],
    state: state?.length === 1 ? (state[0] ?? null) : null,
  };
  return accepted({ address, asked: readAsked(query) });
}

/** Why a client must send a PKCE challenge; null: it sent one, or need not. */
export function whyPkceMissing(
  { code_challenge }: Asked,
  { pkce_optional }: { readonly pkce_optional: boolean },
): AuthorizeError | null {
  if (code_challenge !== null || pkce_optional) return null;
  return invalid("Send code_challenge and code_challenge_method=S256 (PKCE).");
}

/** A SHA-256 in base64url (RFC 7636, section 4.2). */
const S256_CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** A hundred years, which no session reaches; a larger number is a mistake. */
const MAX_AGE_MAX_SECONDS = 100 * 365 * 24 * 60 * 60;

function readAsked(query: URLSearchParams): Result<Asked, AuthorizeError> {
  const repeated = KNOWN.find((name) => valuesOf(query, name).length > 1);
  if (repeated !== undefined) return refused(invalid(`Send ${repeated} only once.`));
  const one = (name: (typeof KNOWN)[number]): string | null => valuesOf(query, name)[0] ?? null;
  const problem = whyUnsupported(one) ?? whyNoCode(one) ?? whyChallengeWrong(one);
  if (problem !== null) return refused(problem);
  const resources = valuesOf(query, "resource");
  if (resources.length > 1) {
    return refused({ error: "invalid_target", error_description: "Name only one resource." });
  }
  const prompts = readPrompts(one("prompt"));
  if (!prompts.ok) return prompts;
  const max_age_seconds = readWhole(one("max_age"), MAX_AGE_MAX_SECONDS);
  if (max_age_seconds === undefined) {
    return refused(invalid("max_age must be a whole number of seconds, 0 or more."));
  }
  const hinted_identity_id = readHint(one("id_token_hint"));
  if (hinted_identity_id === undefined) {
    return refused(invalid("id_token_hint must be an ID token of this service."));
  }
  const scope = one("scope");
  return accepted({
    scopes: scope === null ? undefined : readScope(scope),
    code_challenge: one("code_challenge"),
    resource: resources[0] ?? null,
    nonce: one("nonce"),
    prompts: prompts.value,
    max_age_seconds,
    hinted_identity_id,
  });
}

type ReadOne = (name: (typeof KNOWN)[number]) => string | null;

/** Request objects and registration by the request (OpenID Connect Core, sections 6 and 7.2.1) are not supported. */
function whyUnsupported(one: ReadOne): AuthorizeError | null {
  const unsupported = (["request", "request_uri", "registration"] as const).find(
    (name) => one(name) !== null,
  );
  if (unsupported === undefined) return null;
  const error_description = `${unsupported} is not supported. Send the parameters in the query.`;
  return { error: `${unsupported}_not_supported`, error_description };
}

function whyNoCode(one: ReadOne): AuthorizeError | null {
  const response_type = one("response_type");
  if (response_type === null) return invalid("Send response_type=code.");
  if (response_type !== "code") {
    const error_description = "The only response_type is code.";
    return { error: "unsupported_response_type", error_description };
  }
  const mode = one("response_mode");
  return mode === null || mode === "query" ? null : invalid("The only response_mode is query.");
}

function whyChallengeWrong(one: ReadOne): AuthorizeError | null {
  const [challenge, method] = [one("code_challenge"), one("code_challenge_method")];
  if (challenge === null) {
    return method === null ? null : invalid("code_challenge_method needs code_challenge.");
  }
  // Without a method, RFC 7636 means `plain`.
  if (method !== "S256") return invalid("Send code_challenge_method=S256.");
  if (S256_CHALLENGE.test(challenge)) return null;
  return invalid("code_challenge must be a SHA-256 in base64url, 43 characters.");
}

function readPrompts(text: string | null): Result<readonly Prompt[], AuthorizeError> {
  const words = readScope(text ?? "");
  const prompts = words.flatMap((word) => PROMPTS.find((prompt) => prompt === word) ?? []);
  if (prompts.length < words.length) {
    return refused(invalid("prompt can have none, login, consent and select_account."));
  }
  if (prompts.includes("none") && prompts.length > 1) {
    return refused(invalid("prompt=none cannot be combined with another prompt."));
  }
  return accepted(prompts);
}

/**
 * The subject of an ID token; null: none was sent; undefined: malformed. The signature does not matter: a forged hint can
 * only make the response an error.
 */
function readHint(token: string | null): string | null | undefined {
  if (token === null) return null;
  try {
    const payload = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const { sub } = JSON.parse(atob(payload)) as { readonly sub?: unknown };
    return typeof sub === "string" ? sub : undefined;
  } catch {
    return undefined;
  }
}

/** A whole number; null: not sent; undefined: malformed or larger than `max`. */
function readWhole(text: string | null, max: number): number | null | undefined {
  if (text === null) return null;
  if (!/^\d+$/.test(text)) return undefined;
  const number = Number(text);
  return number <= max ? number : undefined;
}

function valuesOf(query: URLSearchParams, name: string): readonly string[] {
  return query.getAll(name).filter((value) => value !== "");
}

function invalid(error_description: string): AuthorizeError {
  return { error: "invalid_request", error_description };
}
