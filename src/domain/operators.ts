/** Operators: the entries of the setting `OPERATORS`, and which people they name. Pure. */
import { lowerCaseAscii } from "./text.ts";

/**
 * One entry of the setting `OPERATORS`. `provider`: the provider that must have verified the address; null: see
 * {@link vouchers}.
 */
export type Operator =
  | { readonly kind: "identity"; readonly identity_id: string }
  | { readonly kind: "address"; readonly provider: string | null; readonly address: string };

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

/** Reads an entry: an identity id, `ada@example.com` or `google:ada@example.com`; null for anything else. */
export function parseOperator(entry: string): Operator | null {
  if (!entry.includes("@")) {
    return /\s/.test(entry) ? null : { kind: "identity", identity_id: entry };
  }
  const [, provider = null, address] = ADDRESS.exec(entry) ?? [];
  if (address === undefined) return null;
  return { kind: "address", provider, address: lowerCaseAscii(address) };
}

/**
 * Whether an entry names a person: by identity id, or by an e-mail address that an accepted provider verified.
 * An unverified address matches no entry.
 */
export function isOperator(
  operators: readonly Operator[],
  options: SignInOptions,
  { identity_id, email, vouched_by }: Nameable,
): boolean {
  return operators.some((operator) => {
    if (operator.kind === "identity") return operator.identity_id === identity_id;
    if (email === null || vouched_by === null) return false;
    const counts = vouchers(operator, options).includes(vouched_by);
    return counts && operator.address === lowerCaseAscii(email);
  });
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
