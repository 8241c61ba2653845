/** The scopes that OAuth clients can request. Pure. */

/** Scopes of our API: those of personal access tokens, without `admin`, which no OAuth client gets. */
export const CLIENT_SCOPES = ["read", "write", "upstream"] as const;

/** `openid`: an ID token, and the claims that the next two name. `offline_access`: the client stays connected after sign-out. */
export const SIGNIN_SCOPES = ["openid", "profile", "email", "offline_access"] as const;

export const OAUTH_SCOPES = [...SIGNIN_SCOPES, ...CLIENT_SCOPES] as const;

/** Scopes that no other resource may have: a person would be asked for what they mean here. */
export const RESERVED_SCOPES: readonly string[] = [...OAUTH_SCOPES, "admin"];

/** The words of a `scope` parameter (RFC 6749, section 3.3), each once. */
export function readScope(text: string): readonly string[] {
  return [...new Set(text.split(" ").filter((word) => word !== ""))];
}
