/** The people of tokens of trusted issuers, in this isolate's memory, so that most requests query no store. */
import type { IssuerClaims, TrustedIssuer } from "../domain/trusted_issuer.ts";
import { SESSION_JWT_TTL_SECONDS } from "../domain/limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { IdentityPort, TokenPersonFound } from "./port.ts";

/** People that one isolate remembers, at about 200 bytes each. A full memory is emptied. */
const PEOPLE_MAX = 5_000;

/** A verified token of a person. */
interface PersonToken extends IssuerClaims {
  readonly issuer: TrustedIssuer;
  readonly expires_at_ms: number;
}

/** `issued_at_ms`: an older token may be of an account that the person left since. */
interface Remembered {
  readonly identity_id: string;
  readonly issued_at_ms: number;
  readonly until_ms: number;
}

/**
 * An identity is remembered for as long as a session token of ours is valid: an unlinked identity may be used for that
 * long in both cases. The lifetime of the token bounds it as well.
 */
export function createTokenPeople(identity: Pick<IdentityPort, "findByToken">) {
  const people = new Map<string, Remembered>();
  const keyOf = ({ issuer, subject }: PersonToken): string => `${issuer.issuer} ${subject}`;
  return {
    /** The identity, if this isolate found it for this token or for an earlier one; else null. */
    known(token: PersonToken): string | null {
      const person = people.get(keyOf(token));
      if (person === undefined || token.issued_at_ms < person.issued_at_ms) return null;
      return Date.now() < person.until_ms ? person.identity_id : null;
    },
    /** Finds or makes the identity: see `IdentityPort.findByToken`. */
    async find(
      token: PersonToken,
      whyNoNewPerson: () => Promise<Refusal | null>,
    ): Promise<TokenPersonFound> {
      const { issuer, subject, issued_at_ms, expires_at_ms } = token;
      const { name, email, email_verified } = token;
      const person = {
        provider: issuer.id,
        issuer: issuer.people_issuer,
        subject,
        issued_at_ms,
        profile: { name, email, email_verified },
        takes_starters: issuer.starter_credits,
      };
      const found = await identity.findByToken(person, whyNoNewPerson);
      if (found.kind !== "found") return found;
      const { identity_id } = found;
      if (people.size >= PEOPLE_MAX) people.clear();
      const until_ms = Math.min(expires_at_ms, Date.now() + SESSION_JWT_TTL_SECONDS * 1000);
      people.set(keyOf(token), { identity_id, issued_at_ms, until_ms });
      return found;
    },
  };
}

export type TokenPeople = ReturnType<typeof createTokenPeople>;
