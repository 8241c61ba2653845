/** An operator's act: written into the audit log before it is done, and at most once for a key. */
import type { IdempotencyGuard, OnceAnswer } from "../../../account/contract.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../../domain/result.ts";
import type { AppContext } from "../../context.ts";
import { guardOf } from "../../validation.ts";

/** What an operator asks for. */
export interface Act {
  /** A stable word, such as `account.credits`. */
  readonly act: string;
  /** What it is done to: an identity, an app's slug. */
  readonly subject: string;
  readonly reason: string | null;
  /** What else the log says of it. No secrets. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The operator's idempotency key, from wherever it came; undefined where there is none. */
  readonly key: string | undefined;
}

/**
 * Does an act that keeps its own answers by key, as the account does: `perform` gets the guard. Or one that may be
 * done again under its key.
 * Nothing is done where the log cannot be written (it throws), or where the key stands for another act.
 */
export async function act<Value>(
  context: AppContext,
  asked: Act,
  perform: (guard: IdempotencyGuard | null) => Promise<OnceAnswer<Value>>,
): Promise<OnceAnswer<Value>> {
  const begun = await begin(context, asked);
  if (!begun.ok) return begun;
  const { id, kind, guard } = begun.value;
  const answer = await perform(guard);
  // A kept answer to a try that was not the first says that the first one was done.
  const replayed = answer.ok && answer.value.replayed && kind === "new";
  const outcome = answer.ok ? (replayed ? "replayed" : "done") : "refused";
  await context.get("services").audit.conclude(id, outcome);
  return answer;
}

/**
 * Does an act that has nothing to answer but that it was done. The log itself remembers that a key's act
 * was done; doing one again whose end nobody saw must change nothing more. `perform` gets the id of the
 * act's audit record, the same for each try under one key.
 */
export async function actOnce(
  context: AppContext,
  asked: Act,
  perform: (audit_id: string) => Promise<Result<unknown, Refusal>>,
): Promise<OnceAnswer<null>> {
  const begun = await begin(context, asked);
  if (!begun.ok) return begun;
  if (begun.value.kind === "done") return accepted({ value: null, replayed: true });
  const answer = await perform(begun.value.id);
  const { audit } = context.get("services");
  await audit.conclude(begun.value.id, answer.ok ? "done" : "refused");
  return answer.ok ? accepted({ value: null, replayed: false }) : answer;
}

interface Begun {
  readonly id: string;
  readonly guard: IdempotencyGuard | null;
  readonly kind: "new" | "begun" | "done";
}

async function begin(context: AppContext, { key, ...asked }: Act): Promise<Result<Begun, Refusal>> {
  const { reason, details } = asked;
  const guard = await guardOf(key, { reason, details });
  if (!guard.ok) return guard;
  const { identity_id, proof } = context.get("principal");
  const by_token =
    proof.kind === "personal_token" ? { personal_token: proof.personal_token_id } : {};
  const begun = await context.get("services").audit.begin({
    ...asked,
    details: { ...details, ...by_token },
    actor: identity_id,
    request_id: context.get("request_id"),
    guard: guard.value,
  });
  if (begun.kind === "reused") return refused({ code: "idempotency_key_reused" });
  return accepted({ id: begun.id, guard: guard.value, kind: begun.kind });
}
