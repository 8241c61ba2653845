/**
 * Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document): the `client_id` is the address of a JSON
 * document that describes the client. Reads what the clients in use publish: unknown members and grant types are ignored,
 * and redirect addresses that are neither https nor loopback are left out. Pure.
 */
import {
  CLIENT_ID_MAX_LENGTH,
  CLIENT_NAME_MAX_LENGTH,
  DOCUMENT_AUTH_METHODS,
  type DocumentAuthMethod,
  type DocumentClient,
} from "./oauth_client.ts";
import { isFetchable, isPublicHttpsUrl } from "./public_url.ts";
import { isWebRedirect } from "./redirect_match.ts";
import { accepted, refused, type Result } from "./result.ts";
import { findInvisible } from "./text.ts";

/** The largest document (the draft's section 6.6 recommends it), and how long its server may take, to the last byte. */
export const CLIENT_DOCUMENT_MAX_BYTES = 5 * 1024;
export const CLIENT_DOCUMENT_TIMEOUT_MS = 5_000;

/** How long a copy is used, whatever its server says: not read for every request, and at most a day old. */
const COPY_MIN_SECONDS = 5 * 60;
const COPY_MAX_SECONDS = 24 * 60 * 60;

/** How long a copy is used, from the response's `Cache-Control`. */
export function copySeconds(cache_control: string | null): number {
  const [, max_age = "0"] = /(?:^|[\s,])max-age=(\d{1,10})/i.exec(cache_control ?? "") ?? [];
  return Math.min(COPY_MAX_SECONDS, Math.max(COPY_MIN_SECONDS, Number(max_age)));
}

/** Whether a response's media type is JSON. */
export function isJsonType(content_type: string | null): boolean {
  return /^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i.test(content_type ?? "");
}

/**
 * Whether a `client_id` is the address of a document that may be fetched: with a path, without a fragment, and written
 * exactly as a URL parser writes it, so that no two spellings name one document.
 */
export function isClientDocumentUrl(client_id: string, allows_loopback: boolean): boolean {
  if (client_id.length > CLIENT_ID_MAX_LENGTH || !isFetchable(client_id, allows_loopback)) {
    return false;
  }
  const { href, pathname, hostname } = new URL(client_id);
  return (
    href === client_id && pathname !== "/" && !client_id.includes("#") && !hostname.endsWith(".")
  );
}

/** What is wrong with the address of a document, as a sentence for its developer; null: nothing. */
export function addressProblem(client_id: string, allows_loopback: boolean): string | null {
  if (isClientDocumentUrl(client_id, allows_loopback)) return null;
  const local = allows_loopback ? ", or http on this machine," : "";
  return `The address must be https on a public host name and the default port${local} with a path, without #, in at most ${CLIENT_ID_MAX_LENGTH} characters, and written as browsers write it.`;
}

/** What is wrong with the response that should be a document, before its body is read; null: nothing. */
export function responseProblem(status: number, content_type: string | null): string | null {
  if (status >= 300 && status < 400) {
    return `The response is a redirect (status ${status}). Serve the document at its own address.`;
  }
  if (status !== 200) return `The response has status ${status}. It must have status 200.`;
  if (isJsonType(content_type)) return null;
  return `Content-Type is ${shown(content_type)}. It must be application/json, or a type that ends with +json.`;
}

/** Why a document could not be read at all, as a sentence for its developer. */
export function documentFailure(problem: string, max_bytes = CLIENT_DOCUMENT_MAX_BYTES): string {
  if (problem === "too_large") return `The document has more than ${max_bytes} bytes.`;
  if (problem === "not_json") return "The document is not JSON.";
  if (problem === "not_utf8") return "The document is not UTF-8.";
  const seconds = CLIENT_DOCUMENT_TIMEOUT_MS / 1000;
  return `The server of the document did not send it whole within ${seconds} seconds. Check that it runs.`;
}

/** The client that a document describes; refused: each rule that the document breaks, as a sentence for its developer. */
export function readClientDocument(
  client_id: string,
  document: unknown,
  allows_loopback: boolean,
): Result<DocumentClient, readonly string[]> {
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    return refused(["The document is not a JSON object."]);
  }
  const fields = document as Readonly<Record<string, unknown>>;
  const redirect_uris = texts(fields["redirect_uris"])?.filter(isWebRedirect) ?? [];
  const post_logout_redirect_uris = texts(fields["post_logout_redirect_uris"]) ?? [];
  const keys = readKeys(fields, allows_loopback);
  const has_keys = keys.jwks !== undefined || keys.jwks_uri !== undefined;
  // A client cannot prove an assertion without its keys.
  const methods = authMethods(fields).filter((method) => method === "none" || has_keys);
  const problems = [
    fields["client_id"] === client_id
      ? []
      : `client_id must be the address of the document, ${client_id}. It is ${shown(fields["client_id"])}.`,
    redirect_uris.length > 0 ? [] : `redirect_uris has no address that can be used. ${REDIRECTS}`,
    mustHave(fields, "grant_types", "authorization_code"),
    mustHave(fields, "response_types", "code"),
    methods.length > 0 ? [] : METHODS,
  ].flat();
  if (problems.length > 0) return refused(problems);
  const { host } = new URL(client_id);
  return accepted({
    kind: "document",
    client_id,
    host,
    name: readName(fields["client_name"]) ?? host,
    icon: ownAddress(fields["logo_uri"], client_id),
    site: ownAddress(fields["client_uri"], client_id),
    privacy: ownAddress(fields["policy_uri"], client_id),
    terms: ownAddress(fields["tos_uri"], client_id),
    redirect_uris,
    post_logout_redirect_uris: post_logout_redirect_uris.filter(isWebRedirect),
    token_endpoint_auth_methods: methods,
    ...keys,
  });
}

const REDIRECTS =
  "Each must be https, or http on 127.0.0.1, [::1] or localhost, with ASCII characters only, and without # and *.";

const METHODS =
  "token_endpoint_auth_method must be none (or left out), or private_key_jwt with keys in jwks or jwks_uri. A document cannot hold a secret.";

/** The problem of a list that may be left out, and must have `value` otherwise. */
function mustHave(
  fields: Readonly<Record<string, unknown>>,
  name: string,
  value: string,
): readonly string[] {
  const list = fields[name];
  if (list === undefined || texts(list)?.includes(value) === true) return [];
  return [`${name} must be a list with "${value}", or left out. It is ${shown(list)}.`];
}

const SHOWN_MAX_LENGTH = 200;

/** A value of a document in a message. */
function shown(value: unknown): string {
  const text = value === undefined || value === null ? "missing" : JSON.stringify(value);
  return text.length > SHOWN_MAX_LENGTH ? `${text.slice(0, SHOWN_MAX_LENGTH)}…` : text;
}

/** An https address on the client's own host or below it; null: none, or another's, which people would take for the client's. */
function ownAddress(value: unknown, client_id: string): string | null {
  if (typeof value !== "string" || value.length > CLIENT_ID_MAX_LENGTH) return null;
  if (!isPublicHttpsUrl(value)) return null;
  const [own, { hostname, href }] = [new URL(client_id).hostname, new URL(value)];
  return hostname === own || hostname.endsWith(`.${own}`) ? href : null;
}

/** The strings of an array; null: not an array. */
function texts(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  return value.filter((entry: unknown) => typeof entry === "string");
}

/**
 * The methods that both sides support. ChatGPT prefers `private_key_jwt` in the one field and offers `none` only in the
 * other. A document without either field is of a public client.
 */
function authMethods(fields: Readonly<Record<string, unknown>>): readonly DocumentAuthMethod[] {
  const one = fields["token_endpoint_auth_method"];
  const several = fields["token_endpoint_auth_methods_supported"];
  if (one === undefined && several === undefined) return ["none"];
  const named = [one, ...(texts(several) ?? [])];
  return DOCUMENT_AUTH_METHODS.filter((method) => named.includes(method));
}

function readKeys(
  fields: Readonly<Record<string, unknown>>,
  allows_loopback: boolean,
): Pick<DocumentClient, "jwks" | "jwks_uri"> {
  const { jwks, jwks_uri } = fields;
  const keys: unknown = (jwks as { readonly keys?: unknown } | null | undefined)?.keys;
  if (Array.isArray(keys)) {
    return {
      jwks: { keys: keys.filter((key: unknown) => typeof key === "object" && key !== null) },
    };
  }
  const is_address =
    typeof jwks_uri === "string" &&
    jwks_uri.length <= CLIENT_ID_MAX_LENGTH &&
    isFetchable(jwks_uri, allows_loopback);
  return is_address ? { jwks_uri } : {};
}

/** A name that pages can show; null: none, or one that could mislead. */
function readName(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const name = value.trim();
  const is_shown =
    name !== "" &&
    name.length <= CLIENT_NAME_MAX_LENGTH &&
    name.isWellFormed() &&
    !name.includes("\n") &&
    findInvisible(name) === null;
  return is_shown ? name : null;
}
