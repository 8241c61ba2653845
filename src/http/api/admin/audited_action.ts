/** An operator's action: recorded in the audit log before it runs, and run at most once per idempotency key. */
import { credentialId } from "../../../domain/proof.ts";
import * as z from "zod/mini";
import type { IdempotencyGuard, OnceAnswer } from "../../../account/contract.ts";
import type { Changes } from "../../../domain/audit.ts";
import { REASON_MAX_LENGTH } from "../../../domain/limits.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { accepted, assertInvariant, refused, type Result } from "../../../domain/result.ts";
import type { AppContext } from "../../context.ts";
import { guardOf, shownText, wellFormed } from "../../validation.ts";

/** An operator's reason, for the audit log. If credits change, the account's holder sees it too. */
export const reason = z
  .string("must be a string")
  .check(
    z.trim(),
    z.minLength(1, "must not be empty"),
    z.maxLength(REASON_MAX_LENGTH, `must be at most ${REASON_MAX_LENGTH} characters`),
    wellFormed,
    shownText,
  );

export interface OperatorAction {
  /** The action's name in the audit log, such as `account.credits`. */
  readonly act: string;
  /** The identity or app slug that the action changes. */
  readonly subject: string;
  readonly reason: string | null;
  /** Further fields of the audit record. No secrets. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The operator's idempotency key. */
  readonly key: string | undefined;
  /** All subjects of the request that the action is part of; the key belongs to this list. */
  readonly subjects?: readonly string[];
  /**
   * Looks up what the action needs, such as the record that it changes. A refusal leaves no audit record, so that requests
   * about what does not exist do not fill the log; a repeated request still gets the response of its key.
   */
  readonly find?: () => Promise<Result<unknown, Refusal>>;
}

/** Refuses the key of a request with several actions if it belongs to another such request, of whatever subjects. */
export async function whyNotUnderKey(
  context: AppContext,
  action: Omit<OperatorAction, "subject">,
): Promise<Refusal | null> {
  const guard = await actionGuard(action);
  if (!guard.ok) return guard.refusal;
  if (guard.value === null) return null;
  const { act } = action;
  const actor = context.get("caller").identity_id;
  const { audit } = context.get("services");
  const is_reused = await audit.hasOtherList({ act, actor, guard: guard.value });
  return is_reused ? { code: "idempotency_key_reused" } : null;
}

function actionGuard(action: Omit<OperatorAction, "subject">) {
  const { key, reason, details, subjects } = action;
  return guardOf(key, { reason, details, subjects });
}

/** An attempt at an action: see {@link performAction}. */
export interface Attempt {
  readonly audit_id: string;
  readonly is_done: boolean;
}

/**
 * Runs an action that stores its own response per key, as the account does, or that may be repeated under its key.
 * Nothing runs if the audit log cannot be written (it throws), or if the key belongs to another action. `perform` also gets
 * the id of the audit record, which all attempts under one key share, and whether an earlier attempt did the action, whose
 * response is then repeated. `changesOf`: what the action changed.
 */
export async function performAction<Value>(
  context: AppContext,
  action: OperatorAction,
  perform: (guard: IdempotencyGuard | null, attempt: Attempt) => Promise<OnceAnswer<Value>>,
  changesOf: (value: Value) => Changes | null = () => null,
): Promise<OnceAnswer<Value>> {
  const begun = await begin(context, action);
  if (!begun.ok) return begun;
  const { id, kind, guard } = begun.value;
  const result = await perform(guard, { audit_id: id, is_done: kind === "done" });
  // A stored response to a new audit record means that an earlier request ran the action.
  const replayed = result.ok && result.value.replayed && kind === "new";
  const outcome = result.ok ? (replayed ? "replayed" : "done") : "refused";
  // Also of a stored response, if the outcome of the request that ran the action was not logged.
  const changed = result.ok && outcome === "done" ? changesOf(result.value.value) : null;
  await context.get("services").audit.conclude(id, outcome, changed);
  return result;
}

/**
 * Runs an action without a result of its own; the audit log remembers that a key's action is done. `perform` must be
 * safe to repeat, since an interrupted action runs again. It gets the id of the audit record, which all attempts under
 * one key share.
 */
export async function performActionOnce(
  context: AppContext,
  action: OperatorAction,
  perform: (audit_id: string) => Promise<Result<unknown, Refusal>>,
  changesOf: () => Changes | null = () => null,
): Promise<OnceAnswer<null>> {
  const begun = await begin(context, action);
  if (!begun.ok) return begun;
  if (begun.value.kind === "done") return accepted({ value: null, replayed: true });
  const result = await perform(begun.value.id);
  const { audit } = context.get("services");
  const outcome = result.ok ? "done" : "refused";
  await audit.conclude(begun.value.id, outcome, result.ok ? changesOf() : null);
  return result.ok ? accepted({ value: null, replayed: false }) : result;
}

interface BegunAction {
  readonly id: string;
  readonly guard: IdempotencyGuard | null;
  readonly kind: "new" | "begun" | "done";
}

async function begin(
  context: AppContext,
  action: OperatorAction,
): Promise<Result<BegunAction, Refusal>> {
  const { act, subject, reason, details, find } = action;
  const guard = await actionGuard(action);
  if (!guard.ok) return guard;
  const { audit } = context.get("services");
  const found = await find?.();
  if (found?.ok === false && !(await audit.has({ act, subject, guard: guard.value }))) {
    return found;
  }
  const { actor, by_token } = await readActor(context);
  const begun = await audit.begin({
    act,
    subject,
    reason,
    details: { ...details, ...by_token },
    actor,
    request_id: context.get("request_id"),
    guard: guard.value,
  });
  if (begun.kind === "reused") return refused({ code: "idempotency_key_reused" });
  return accepted({ id: begun.id, guard: guard.value, kind: begun.kind });
}

/** Who acts: an operator by their identity, or an app by the id of its key. */
async function readActor(context: AppContext) {
  const own_app = context.get("own_app");
  if (own_app !== undefined) {
    const id = await context.get("services").app_records.readKeyId(own_app.key_hash);
    assertInvariant(id !== null, "a key keeps its row");
    return { actor: `app_key:${id}`, by_token: {} };
  }
  const { identity_id, proof } = context.get("caller");
  const by_token =
    proof.kind === "personal_token" ? { personal_token: credentialId(proof.credential) } : {};
  return { actor: identity_id, by_token };
}
