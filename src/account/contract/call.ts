/** What every call of an account has: a caller, and a result or a refusal. */
import type { Credential } from "../../domain/proof.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { Result } from "../../domain/result.ts";

/**
 * Who acts in an account. The account reads a token's life and limits in the operation's own transaction.
 * `holder`: the account's holder, by a browser session;
 * `personal_token`: a personal access token of the holder, or a token of a client, within the limits of its allowance;
 * `app`: an app's server by the app's key, in accounts that were opened for the app, for its own jobs;
 * `unverified_app`: an app's key that nobody could verify; to end jobs, if the account accepted the key lately;
 * `operator`: an operator of the service, for the operations that HTTP gives to operators;
 * `service`: Passbook itself.
 */
export type Caller =
  | { readonly kind: "holder" }
  | { readonly kind: "personal_token"; readonly credential: Credential }
  | { readonly kind: "app"; readonly app_slug: string; readonly key_hash: string }
  | { readonly kind: "unverified_app"; readonly key_hash: string }
  | { readonly kind: "operator" }
  | { readonly kind: "service" };

/** A caller whose credential was verified, here or before the call. */
export type VerifiedCaller = Exclude<Caller, { readonly kind: "unverified_app" }>;

export const HOLDER = { kind: "holder" } as const satisfies Caller;
export const OPERATOR = { kind: "operator" } as const satisfies Caller;
/** The account of nobody that `/readyz` exercises. No identity provider gives this identity. */
export const CANARY_IDENTITY = "passbook_canary";

export const SERVICE = { kind: "service" } as const satisfies Caller;

/**
 * The message of the error that every call of an object throws if a newer build changed its data so that this build
 * would misread it. Nothing changed.
 */
export const NEWER_DATA = "newer_data";

export type Answer<Value> = Result<Value, Refusal>;

/** A client's `Idempotency-Key`, and a digest of the request that it was sent with. */
export interface IdempotencyGuard {
  readonly key: string;
  readonly fingerprint: string;
}

/** The result of a request that may carry a key. `replayed`: it is the first request's, and nothing happened now. */
export interface Once<Value> {
  readonly value: Value;
  readonly replayed: boolean;
}

export type OnceAnswer<Value> = Answer<Once<Value>>;

/** A page of rows, and the key after which the next page begins; null: there are no more rows. */
export interface Page<Row, Key> {
  readonly rows: readonly Row[];
  readonly next: Key | null;
}
