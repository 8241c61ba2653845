/** The person whom an operator names, and whether the operator may change that person's account. */
import { findOperator, includesRole } from "../domain/operators.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { IdentityPort, Person } from "../identity/port.ts";
import type { Acting } from "./acting.ts";

/** The most people with one address that a refusal counts. */
const PEOPLE_COUNTED_MAX = 100;

/**
 * The identity of a person. A text without `@` is an identity and costs no query. An address is refused as
 * `account_unknown` if nobody has it, and as `identity_ambiguous` if several people have it: two providers may have
 * verified it for two people.
 */
export async function resolveIdentity(
  identity: IdentityPort,
  named: string,
): Promise<Result<string, Refusal>> {
  if (!named.includes("@")) return accepted(named);
  const [found, ...others] = await identity.findByAddress(named.trim(), PEOPLE_COUNTED_MAX);
  if (found === undefined) return refused({ code: "account_unknown" });
  return others.length === 0
    ? accepted(found)
    : refused({ code: "identity_ambiguous", matches: others.length + 1 });
}

/** The person who has the identity or, if nobody else does, the e-mail address. Only the identity provider is queried. */
export async function findPerson(
  identity: IdentityPort,
  named: string,
): Promise<Result<Person, Refusal>> {
  const resolved = await resolveIdentity(identity, named);
  if (!resolved.ok) return resolved;
  const person = await identity.readPerson(resolved.value);
  return person === null ? refused({ code: "account_unknown" }) : accepted(person);
}

/** {@link findPerson} for a change of the person's account, which the operator must be allowed to make. */
export async function findToChange(
  acting: Acting,
  named: string,
): Promise<Result<Person, Refusal>> {
  const found = await findPerson(acting.services.identity, named);
  if (!found.ok) return found;
  const refusal = whyNotNamed(named, found.value) ?? whyNotChange(acting, found.value);
  return refusal === null ? found : refused(refusal);
}

/**
 * Refuses a change of an account that an unverified address names: anybody may have written the address of the person
 * whom the operator means. Null if the address is verified.
 */
function whyNotNamed(named: string, holder: Person): Refusal | null {
  const is_certain = named === holder.identity_id || holder.email_verified;
  if (is_certain) return null;
  const detail = `Nobody verified that this e-mail address belongs to the person with the identity ${holder.identity_id}. Read the account; if it is the right one, name it by this identity.`;
  return { code: "invalid_request", detail };
}

/** {@link resolveIdentity} for a filter, which may be missing. */
export async function resolveFilter(
  identity: IdentityPort,
  named: string | undefined,
): Promise<Result<string | undefined, Refusal>> {
  return named === undefined ? accepted(undefined) : resolveIdentity(identity, named);
}

/**
 * Refuses a change of the account of an operator with a higher role: otherwise someone with the role support could lock out
 * every admin. Null if the actor may change it.
 */
function whyNotChange({ services, actor }: Acting, holder: Person): Refusal | null {
  const { operators, signin_options } = services.config;
  const theirs = findOperator(operators, signin_options, holder);
  if (theirs === null) return null;
  const is_allowed = actor.rights !== null && includesRole(actor.rights.role, theirs.role);
  return is_allowed ? null : { code: "role_required", role: theirs.role };
}
