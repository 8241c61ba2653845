/**
 * The claims of an ID token (OpenID Connect Core, section 3.1.3.7). Its signature need not be verified: it comes from the
 * token endpoint, over TLS and in response to this client's own request (rule 6).
 */
import { PassbookError } from "../errors.ts";
import { isText, readPart } from "../signed_token.ts";

export interface ExpectedIdToken {
  readonly issuer: string;
  readonly client_id: string;
  /** Undefined: a refreshed ID token need not have it. */
  readonly nonce?: string;
}

/** The person that an ID token is about. @throws PassbookError `invalid_response` if it is for another client or request */
export function readPerson(
  id_token: string,
  { issuer, client_id, nonce }: ExpectedIdToken,
): string {
  const { iss, aud, sub, exp, nonce: given } = readPart(id_token.split(".")[1] ?? "");
  const is_mine = iss === issuer && aud === client_id && isText(sub);
  const is_current = typeof exp === "number" && exp * 1000 > Date.now();
  if (is_mine && is_current && (nonce === undefined || given === nonce)) return sub;
  throw new PassbookError("invalid_response", "The ID token is not for this sign-in.");
}
