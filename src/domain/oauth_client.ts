/**
 * OAuth clients: who may ask a person for a connection. A registered client belongs to an app, and an operator entered it.
 * A document client is a URL, and the document at that URL describes it. Pure.
 */

/** The id of a client or resource within its app. */
export const REGISTRATION_ID_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** No slug and no id has this character, so `{slug}~{id}` is unambiguous, also in an HTTP Basic header. */
const SEPARATOR = "~";

/** Longest `client_id`: the prefixed key of a cached document must fit in 512 bytes. */
export const CLIENT_ID_MAX_LENGTH = 480;

/** Clients, and resources, of one app. Every isolate holds all of them in memory. */
export const CLIENTS_PER_APP_MAX = 50;
export const RESOURCES_PER_APP_MAX = 50;

/** Redirect addresses of one client: its environments and platforms. */
export const REDIRECT_URIS_PER_CLIENT_MAX = 20;

/** Longest name of a client, in UTF-16 code units. People read it on the consent page. */
export const CLIENT_NAME_MAX_LENGTH = 80;

/** How a document client may authenticate at the token endpoint. A document cannot hold a secret. */
export const DOCUMENT_AUTH_METHODS = ["none", "private_key_jwt"] as const;
export type DocumentAuthMethod = (typeof DOCUMENT_AUTH_METHODS)[number];

/** The signature algorithms of client assertions. */
export const ASSERTION_ALGORITHMS = ["RS256", "ES256", "EdDSA"] as const;

/** For this long after a client's secret was replaced, the old one works too, so that its servers can be changed one by one. */
export const OLD_CLIENT_SECRET_MS = 24 * 60 * 60 * 1000;

export interface RegisteredClient {
  readonly kind: "registered";
  readonly client_id: string;
  readonly app_slug: string;
  readonly name: string;
  readonly redirect_uris: readonly string[];
  /** Where a browser may go after signing out; see `web/authorize/logout.tsx`. */
  readonly post_logout_redirect_uris: readonly string[];
  /** Without a secret. */
  readonly public: boolean;
  /** Only for a confidential client. */
  readonly pkce_optional: boolean;
}

export interface DocumentClient {
  readonly kind: "document";
  /** The URL of the document. */
  readonly client_id: string;
  /** The URL's host, which vouches for the client. */
  readonly host: string;
  /** Anyone can write any name into a document, so pages show it together with the host. */
  readonly name: string;
  /** Addresses on the client's own host or below it; null: none. The icon is shown as a copy. */
  readonly icon: string | null;
  readonly site: string | null;
  readonly privacy: string | null;
  readonly terms: string | null;
  readonly redirect_uris: readonly string[];
  /** As in {@link RegisteredClient}. */
  readonly post_logout_redirect_uris: readonly string[];
  /** At least one. Without `none`, its tokens are issued only to requests with an assertion. */
  readonly token_endpoint_auth_methods: readonly DocumentAuthMethod[];
  /** The keys of its assertions: here, or at this address. */
  readonly jwks?: { readonly keys: readonly object[] };
  readonly jwks_uri?: string;
}

export type OAuthClient = RegisteredClient | DocumentClient;

/** A registered protected resource: the API or MCP server of an app, for which tokens can be requested. */
export interface ProtectedResource {
  readonly uri: string;
  readonly app_slug: string;
  readonly scopes: readonly string[];
  /** Whether people who connect a client to it let its app charge them for that connection. */
  readonly charges: boolean;
}

/** The result of a look-up. `unreadable`: nobody knows now, so the request may be repeated later. */
export type Lookup<Found> =
  | { readonly kind: "found"; readonly value: Found }
  | { readonly kind: "unknown" }
  | { readonly kind: "unreadable" };

/** The `client_id` of an app's client. */
export function registeredClientId(app_slug: string, id: string): string {
  return `${app_slug}${SEPARATOR}${id}`;
}

/** The app and the id of a registered `client_id`. */
export function splitClientId(client_id: string): {
  readonly app_slug: string;
  readonly id: string;
} {
  const [app_slug = "", id = ""] = client_id.split(SEPARATOR);
  return { app_slug, id };
}

/** The app that a client belongs to: a document client acts only as its own host. Null: its address has none. */
export function appOfClient(client_id: string): string | null {
  return isRegisteredClientId(client_id)
    ? splitClientId(client_id).app_slug
    : (URL.parse(client_id)?.hostname ?? null);
}

/** The host that vouches for a client with a document; null: it is registered. */
export function hostOfClient(client_id: string): string | null {
  return URL.parse(client_id)?.host ?? null;
}

/** Whether a `client_id` is one that a registration could have. It needs no look-up otherwise. */
export function isRegisteredClientId(client_id: string): boolean {
  const [slug = "", id = "", ...rest] = client_id.split(SEPARATOR);
  return (
    rest.length === 0 && REGISTRATION_ID_PATTERN.test(slug) && REGISTRATION_ID_PATTERN.test(id)
  );
}
