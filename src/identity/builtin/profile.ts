/** Reads a person's data from a provider's claims. All of it is untrusted input. */
import { readClaim, readText, SUBJECT_MAX_LENGTH, type Claims } from "../../domain/claims.ts";
import type { ProfileFields } from "../../oauth/providers.ts";

/** A provider's data about a person. */
export interface Profile {
  readonly name: string | null;
  readonly email: string | null;
  readonly email_verified: boolean;
}

/** The subject at the provider; null if the claims have no usable one. */
export function readSubject(claims: Claims, fields: ProfileFields): string | null {
  const value = readClaim(claims, fields.subject);
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
    fields.email_verified === null ? false : readClaim(claims, fields.email_verified);
  return {
    name: readText(claims, fields.name),
    email,
    email_verified: email !== null && verified === true,
  };
}

/** A profile after a token with an address. A token that does not verify the address leaves the verification of a sign-in. */
export function withToken(old: Profile, token: Profile): Profile {
  const verified = token.email_verified || (old.email === token.email && old.email_verified);
  return { name: token.name ?? old.name, email: token.email, email_verified: verified };
}
