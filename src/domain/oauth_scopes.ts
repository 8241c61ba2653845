/** The scopes that OAuth clients can request. Pure. */

/** Scopes of our API: those of personal access tokens, without `admin`, which no OAuth client gets. */
export const CLIENT_SCOPES = ["read", "write", "upstream"] as const;

/** `openid`: an ID token, and the claims that the next two name. `offline_access`: the client stays connected after sign-out. */
export const SIGNIN_SCOPES = ["openid", "profile", "email", "offline_access"] as const;

export const OAUTH_SCOPES = [...SIGNIN_SCOPES, ...CLIENT_SCOPES] as const;

/**
 * The right of a connection to a resource that charges: the resource's app may start jobs within the connection's caps. The
 * connection has it by itself; no client needs to request it.
 */
export const CHARGE_SCOPE = "charge";

/** Scopes that no other resource may have: a person would be asked for what they mean here. */
export const RESERVED_SCOPES: readonly string[] = [...OAUTH_SCOPES, CHARGE_SCOPE, "admin"];

/** The words of a `scope` parameter (RFC 6749, section 3.3), each once. */
export function readScope(text: string): readonly string[] {
  return [...new Set(text.split(" ").filter((word) => word !== ""))];
}

/** The most scopes, and characters of each, that a message names. */
const NAMED_MAX = 5;
const NAMED_CHARACTERS_MAX = 60;

/** The first scopes for an `error_description`, which RFC 6749, section 5.2, limits to some ASCII characters; others become `?`. */
export function nameScopes(scopes: readonly string[]): string {
  return scopes
    .slice(0, NAMED_MAX)
    .map((scope) => scope.slice(0, NAMED_CHARACTERS_MAX).replaceAll(/[^!#-[\]-~]/g, "?"))
    .join(" ");
}
