/**
 * The result of an operation that may be refused for a reason that the caller receives. It is a plain value and
 * not a class, because Durable Object RPC loses prototypes.
 */
export type Result<Value, Failure> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: Failure };

/** Wraps a success. */
export function accepted<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

/** Wraps a refusal. A refused operation has changed nothing. */
export function refused<Failure>(refusal: Failure): {
  readonly ok: false;
  readonly refusal: Failure;
} {
  return { ok: false, refusal };
}

/**
 * Checks a rule that must always hold.
 * @throws Error with the broken rule; inside a transaction the throw undoes every write.
 */
export function assertInvariant(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${rule}`);
}

/** The kind of an error, for the log. Its message may quote secret data, so it is never logged. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

/** The message of the error that a call of an account throws if this build cannot create or migrate its tables. Nothing changed. */
export const MIGRATION_FAILED = "account_migration_failed";

/** The message of the error that is thrown if the archive cannot be read. */
export const ARCHIVE_UNREADABLE = "archive_unreadable";

/** Whether the platform itself failed: it reset an object, could not reach it, or is overloaded. A retry may succeed. */
export function isPlatformFailure(error: unknown): boolean {
  const flags = Object(error) as {
    readonly retryable?: unknown;
    readonly overloaded?: unknown;
    readonly durableObjectReset?: unknown;
  };
  return [flags.retryable, flags.overloaded, flags.durableObjectReset].includes(true);
}
