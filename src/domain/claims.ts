/** Reads claims about a person that another service sent. All of them are untrusted input. Pure. */

/** The longest subject a service may name (OpenID Connect Core, section 2: 255 characters). */
export const SUBJECT_MAX_LENGTH = 255;

/** Longest name or e-mail address that is taken over (RFC 5321 allows 254); a longer one is dropped. */
const PROFILE_TEXT_MAX_LENGTH = 254;

/** Claims of a token, or fields of a response. */
export type Claims = Readonly<Record<string, unknown>>;

/** A claim by its name, or a nested one by a path with dots; undefined if the token lacks it. */
export function readClaim(claims: Claims, path: string): unknown {
  // Names of custom claims are often URLs, which have dots.
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = (value as Claims)[name];
  }
  return value;
}

/** A claim that is a text of usable length; else null. */
export function readText(claims: Claims, path: string | null): string | null {
  const value = path === null ? null : readClaim(claims, path);
  if (typeof value !== "string" || value === "" || !value.isWellFormed()) return null;
  return value.length <= PROFILE_TEXT_MAX_LENGTH ? value : null;
}
