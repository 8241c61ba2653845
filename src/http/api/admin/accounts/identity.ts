/** The person whom an operator names: by identity, or by e-mail address. */
import type { Refusal } from "../../../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../../../domain/result.ts";
import type { AppContext } from "../../../context.ts";

/** The most people with one address that a refusal counts. */
const PEOPLE_COUNTED_MAX = 100;

/**
 * The identity of a person. A text without `@` is an identity and costs no query. An address is refused as
 * `account_unknown` if nobody has it, and as `identity_ambiguous` if several people have it: two providers may have
 * verified it for two people.
 */
export async function resolveIdentity(
  context: AppContext,
  named: string,
): Promise<Result<string, Refusal>> {
  if (!named.includes("@")) return accepted(named);
  const { identity } = context.get("services");
  const [found, ...others] = await identity.findByAddress(named.trim(), PEOPLE_COUNTED_MAX);
  if (found === undefined) return refused({ code: "account_unknown" });
  return others.length === 0
    ? accepted(found)
    : refused({ code: "identity_ambiguous", matches: others.length + 1 });
}

/** {@link resolveIdentity} for a filter, which may be missing. */
export async function resolveFilter(
  context: AppContext,
  named: string | undefined,
): Promise<Result<string | undefined, Refusal>> {
  return named === undefined ? accepted(undefined) : resolveIdentity(context, named);
}
