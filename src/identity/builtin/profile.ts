/** Reads a person's data from a provider's claims. All of it is untrusted input. */
import type { ProfileFields } from "../../oauth/providers.ts";
import type { Profile } from "./users.ts";

/** The longest subject a provider may name (OpenID Connect Core, section 2: 255 characters). */
const SUBJECT_MAX_LENGTH = 255;

/** Longest name or e-mail address taken from a provider (RFC 5321 allows 254); a longer one is dropped. */
const PROFILE_TEXT_MAX_LENGTH = 254;

/** Claims of an ID token, or a user-info response. */
export type Claims = Readonly<Record<string, unknown>>;

/** The subject at the provider; null if the claims have no usable one. */
export function readSubject(claims: Claims, fields: ProfileFields): string | null {
  const value = readField(claims, fields.subject);
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : null;
  if (typeof value !== "string" || value === "") return null;
  return value.length <= SUBJECT_MAX_LENGTH ? value : null;
}

/**
 * Name and e-mail address. Only the boolean true verifies an address: some providers send the string "false",
 * and reading that as true would give accounts away.
 */
export function readProfile(claims: Claims, fields: ProfileFields): Profile {
  const email = readText(claims, fields.email);
  const verified =
    fields.email_verified === null ? false : readField(claims, fields.email_verified);
  return {
    name: readText(claims, fields.name),
    email,
    email_verified: email !== null && verified === true,
  };
}

function readText(claims: Claims, path: string | null): string | null {
  const value = path === null ? null : readField(claims, path);
  if (typeof value !== "string" || value === "" || !value.isWellFormed()) return null;
  return value.length <= PROFILE_TEXT_MAX_LENGTH ? value : null;
}

function readField(claims: Claims, path: string): unknown {
  let value: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = (value as Claims)[name];
  }
  return value;
}
