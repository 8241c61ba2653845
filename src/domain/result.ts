/**
 * The answer of an operation that may be refused for a reason the caller is meant to see.
 * A plain value, never a class: it crosses Durable Object RPC, where prototypes are lost.
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
 * Stops the program where a rule that must always hold does not.
 * @throws Error naming the broken rule; inside a transaction the throw undoes every write.
 */
export function assertInvariant(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${rule}`);
}
