/** Who operates the service. Pure. */
import { lowerCaseAscii } from "./text.ts";

/** One entry of the setting `OPERATORS`. `provider`: whose word for the address counts; null: see below. */
export type Operator =
  | { readonly kind: "identity"; readonly identity_id: string }
  | { readonly kind: "address"; readonly provider: string | null; readonly address: string };

/** How people can sign in here. */
export interface SignInOptions {
  readonly provider_ids: readonly string[];
  readonly dev_signin: boolean;
}

/** What is known of a person that an entry may name. */
export interface Nameable {
  readonly identity_id: string;
  readonly email: string | null;
  /** The provider that vouches for the address; null: nobody does. */
  readonly vouched_by: string | null;
}

/** The development sign-in, as a provider's id. */
const DEVELOPMENT = "dev";

const ADDRESS = /^(?:([a-z0-9][a-z0-9-]{0,31}):)?([^\s:@]+@[^\s:@]+)$/;

/** Reads an entry: an identity id, `ada@example.com` or `google:ada@example.com`. Null: neither. */
export function parseOperator(entry: string): Operator | null {
  if (!entry.includes("@")) {
    return /\s/.test(entry) ? null : { kind: "identity", identity_id: entry };
  }
  const [, provider = null, address] = ADDRESS.exec(entry) ?? [];
  if (address === undefined) return null;
  return { kind: "address", provider, address: lowerCaseAscii(address) };
}

/**
 * Whether an entry names a person: by identity id, or by an e-mail address that the right provider vouches for.
 * An address that nobody verified names no one.
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

/** Why an entry names nobody here, with what to write instead; null: it may name somebody. */
export function whyIgnored(operator: Operator, options: SignInOptions): string | null {
  const [first] = options.provider_ids;
  if (operator.kind === "identity" || vouchers(operator, options).length > 0) return null;
  if (first === undefined) return "Configure a provider in SIGNIN_PROVIDERS.";
  return operator.provider === null
    ? `Write the provider before the address, such as ${first}:ada@example.com.`
    : `SIGNIN_PROVIDERS has no provider ${operator.provider}. It has ${options.provider_ids.join(", ")}.`;
}

/**
 * The providers whose word for an entry's address counts. Without a provider's name the weakest of several would
 * decide who operates. The development sign-in lets anyone in as anyone, so naming it protects nothing.
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
