/** The parts of every call of an account: a caller, and a result or a refusal. */
import type { Credential } from "../../domain/proof.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { Result } from "../../domain/result.ts";

/**
 * The caller that acts in an account. The account reads a token's life and limits in the operation's own transaction.
 * `holder`: the account's holder, by a browser session on our own pages;
 * `page`: a session of the holder that acts through a page of another origin: see {@link PageCaller};
 * `allowance`: a personal access token of the holder, or a token of an OAuth client's connection, or one exchanged from
 * either, within the limits of its allowance;
 * `app`: an app's server by the app's key, in accounts that were opened for the app, for its own jobs;
 * `operator`: an operator of the service, for the operations that HTTP gives to operators;
 * `service`: Passbook itself.
 */
export type Caller =
  | { readonly kind: "holder" }
  | PageCaller
  | { readonly kind: "allowance"; readonly credential: Credential }
  | { readonly kind: "app"; readonly app_slug: string }
  | { readonly kind: "operator" }
  | { readonly kind: "service" };

/**
 * A session that acts through a page of another origin: a session token that was issued to it, a cookie request from it,
 * or a session of an app's own sign-in service. It may do what the holder may, except what only our own pages may do.
 * `app_slugs`: the registered apps that the origin belongs to; none for an origin of `ALLOWED_ORIGINS`. Null: the registry
 * of apps cannot be read now, or `of_any_app`: a token of another sign-in service does not say which app has it.
 */
export interface PageCaller {
  readonly kind: "page";
  readonly app_slugs: readonly string[] | null;
  readonly of_any_app?: true;
}

/** The callers that a request may have. */
export type RequestCaller = Exclude<Caller, { readonly kind: "operator" | "service" }>;

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

/** The message of the error that every call of an object throws while its account is restored from the archive. */
export const ACCOUNT_RESTORING = "account_restoring";

/** The message of the error of a call that ended the object so that its storage is restored. The next call continues. */
export const RECOVERY_RESTART = "recovery_restart";

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
