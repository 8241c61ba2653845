/** Operators: the entries of the setting `OPERATORS`, which people they name, and their roles. Pure. */
import { accepted, refused, type Result } from "./result.ts";
import { lowerCaseAscii } from "./text.ts";

/** The roles of operators. Each may do everything that the roles before it may do. */
export const OPERATOR_ROLES = ["viewer", "support", "admin"] as const;

export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** The roles of operators. */
export type OperatorRights =
  | { readonly role: "viewer" }
  /**
   * `credits_max_per_day`: the most credits that their changes of one UTC day add up to. They are counted for `entry`, the
   * entry that names the person: somebody who deletes their account and signs in again has another identity.
   */
  | { readonly role: "support"; readonly entry: string; readonly credits_max_per_day: number }
  | { readonly role: "admin" };

/**
 * One entry of the setting `OPERATORS`. `provider`: the provider that must have verified the address; null: see
 * {@link vouchers}.
 */
export type Operator = { readonly role: OperatorRole } & (
  | { readonly kind: "identity"; readonly identity_id: string }
  | { readonly kind: "address"; readonly provider: string | null; readonly address: string }
);

/** The ways to sign in to this deployment. */
export interface SignInOptions {
  readonly provider_ids: readonly string[];
  readonly dev_signin: boolean;
}

/** The facts about a person that entries are compared with. */
export interface Nameable {
  readonly identity_id: string;
  readonly email: string | null;
  /** The provider that verified the address; null: none did. */
  readonly vouched_by: string | null;
}

/** The development sign-in, as a provider's id. */
const DEVELOPMENT = "dev";

const ADDRESS = /^(?:([a-z0-9][a-z0-9-]{0,31}):)?([^\s:@]+@[^\s:@]+)$/;

/**
 * Reads an entry: an identity id, `ada@example.com` or `google:ada@example.com`, each with or without a role, such as
 * `=viewer`.
 */
export function parseOperator(entry: string): Result<Operator, "unreadable" | "unknown_role"> {
  const [named = "", given = "admin", ...rest] = entry.split("=");
  const role = OPERATOR_ROLES.find((known) => known === given);
  if (role === undefined || rest.length > 0) return refused("unknown_role");
  if (!named.includes("@")) {
    const is_identity = /^\S+$/.test(named);
    return is_identity
      ? accepted({ kind: "identity", identity_id: named, role })
      : refused("unreadable");
  }
  const [, provider = null, address] = ADDRESS.exec(named) ?? [];
  return address === undefined
    ? refused("unreadable")
    : accepted({ kind: "address", provider, address: lowerCaseAscii(address), role });
}

/** The entry without its role. */
export function operatorName(operator: Operator): string {
  if (operator.kind === "identity") return operator.identity_id;
  const { provider, address } = operator;
  return provider === null ? address : `${provider}:${address}`;
}

/** Whether two entries name the same and give different roles. */
export function contradict(one: Operator, other: Operator): boolean {
  return operatorName(one) === operatorName(other) && one.role !== other.role;
}

/**
 * The entry that names a person; null: they are not an operator. Of several entries that name the person, the most
 * specific one counts: an identity id before an address with its provider, and that before an address.
 */
export function findOperator(
  operators: readonly Operator[],
  options: SignInOptions,
  person: Nameable,
): Operator | null {
  const [entry] = operators
    .filter((operator) => names(operator, options, person))
    .toSorted((one, other) => precision(other) - precision(one));
  return entry ?? null;
}

/** The rights that an entry gives. `credits_max_per_day`: see {@link OperatorRights}. */
export function rightsOf(operator: Operator, credits_max_per_day: number): OperatorRights {
  const { role } = operator;
  if (role !== "support") return { role };
  return { role, entry: operatorName(operator), credits_max_per_day };
}

/** Whether a role may do what `needed` may do. */
export function includesRole(role: OperatorRole, needed: OperatorRole): boolean {
  return OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(needed);
}

function precision(operator: Operator): number {
  if (operator.kind === "identity") return 2;
  return operator.provider === null ? 0 : 1;
}

/**
 * Whether an entry names a person: by identity id, or by an e-mail address that an accepted provider verified.
 * An unverified address matches no entry.
 */
function names(
  operator: Operator,
  options: SignInOptions,
  { identity_id, email, vouched_by }: Nameable,
): boolean {
  if (operator.kind === "identity") return operator.identity_id === identity_id;
  if (email === null || vouched_by === null) return false;
  const counts = vouchers(operator, options).includes(vouched_by);
  return counts && operator.address === lowerCaseAscii(email);
}

/** Why an entry can match nobody in this deployment, with what to write instead; null: it can match someone. */
export function whyUnmatchable(operator: Operator, options: SignInOptions): string | null {
  const [first] = options.provider_ids;
  if (operator.kind === "identity" || vouchers(operator, options).length > 0) return null;
  if (first === undefined) return "Configure a provider in SIGNIN_PROVIDERS.";
  return operator.provider === null
    ? `Write the provider before the address, such as ${first}:ada@example.com.`
    : `SIGNIN_PROVIDERS has no provider ${operator.provider}. It has ${options.provider_ids.join(", ")}.`;
}

/**
 * The providers whose verification of an entry's address counts. An entry without a provider counts only if
 * there is exactly one: otherwise the least careful of several providers would decide who operates. The
 * development sign-in accepts any address, so naming it protects nothing.
 */
function vouchers(
  { provider }: Extract<Operator, { kind: "address" }>,
  { provider_ids, dev_signin }: SignInOptions,
): readonly string[] {
  const only = provider_ids.length === 1 ? provider_ids : [];
  const development = dev_signin ? [DEVELOPMENT] : [];
  if (provider === null) return [...only, ...development];
  return [...provider_ids, ...development].filter((id) => id === provider);
}
