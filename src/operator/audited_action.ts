/** An operator's action: recorded in the audit log before it runs, and run at most once per idempotency key. */
import type { IdempotencyGuard, OnceAnswer } from "../account/contract.ts";
import type { AuditLog } from "../directory/audit.ts";
import type { Changes } from "../domain/audit.ts";
import { guardOf } from "../domain/idempotency_guard.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { Acting } from "./acting.ts";

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

/** An attempt at an action: see {@link performAction}. */
export interface Attempt {
  readonly audit_id: string;
  readonly is_done: boolean;
}

type Audited = Acting<{ readonly audit: AuditLog }>;

/** Refuses the key of a request with several actions if it belongs to another such request, of whatever subjects. */
export async function whyNotUnderKey(
  { services, actor }: Audited,
  action: Omit<OperatorAction, "subject">,
): Promise<Refusal | null> {
  const guard = await actionGuard(action);
  if (!guard.ok) return guard.refusal;
  if (guard.value === null) return null;
  const list = { act: action.act, actor: actor.id, guard: guard.value };
  const is_reused = await services.audit.hasOtherList(list);
  return is_reused ? { code: "idempotency_key_reused" } : null;
}

function actionGuard(action: Omit<OperatorAction, "subject">) {
  const { key, reason, details, subjects } = action;
  return guardOf(key, { reason, details, subjects });
}

/**
 * Runs an action that stores its own response per key, as the account does, or that may be repeated under its key.
 * Nothing runs if the audit log cannot be written (it throws), or if the key belongs to another action. `perform` also gets
 * the id of the audit record, which all attempts under one key share, and whether an earlier attempt did the action, whose
 * response is then repeated. `changesOf`: what the action changed.
 */
export async function performAction<Value>(
  acting: Audited,
  action: OperatorAction,
  perform: (guard: IdempotencyGuard | null, attempt: Attempt) => Promise<OnceAnswer<Value>>,
  changesOf: (value: Value) => Changes | null = () => null,
): Promise<OnceAnswer<Value>> {
  const begun = await begin(acting, action);
  if (!begun.ok) return begun;
  const { id, kind, guard } = begun.value;
  const result = await perform(guard, { audit_id: id, is_done: kind === "done" });
  // A stored response to a new audit record means that an earlier request ran the action.
  const replayed = result.ok && result.value.replayed && kind === "new";
  const outcome = result.ok ? (replayed ? "replayed" : "done") : "refused";
  // Also of a stored response, if the outcome of the request that ran the action was not logged.
  const changed = result.ok && outcome === "done" ? changesOf(result.value.value) : null;
  await acting.services.audit.conclude(id, outcome, changed);
  return result;
}

/**
 * Runs an action without a result of its own; the audit log remembers that a key's action is done. `perform` must be
 * safe to repeat, since an interrupted action runs again. It gets the id of the audit record, which all attempts under
 * one key share.
 */
export async function performActionOnce(
  acting: Audited,
  action: OperatorAction,
  perform: (audit_id: string) => Promise<Result<unknown, Refusal>>,
  changesOf: () => Changes | null = () => null,
): Promise<OnceAnswer<null>> {
  const begun = await begin(acting, action);
  if (!begun.ok) return begun;
  if (begun.value.kind === "done") return accepted({ value: null, replayed: true });
  const result = await perform(begun.value.id);
  const outcome = result.ok ? "done" : "refused";
  await acting.services.audit.conclude(begun.value.id, outcome, result.ok ? changesOf() : null);
  return result.ok ? accepted({ value: null, replayed: false }) : result;
}

interface BegunAction {
  readonly id: string;
  readonly guard: IdempotencyGuard | null;
  readonly kind: "new" | "begun" | "done";
}

async function begin(
  { services, actor, request_id }: Audited,
  action: OperatorAction,
): Promise<Result<BegunAction, Refusal>> {
  const { act, subject, reason, details, find } = action;
  const guard = await actionGuard(action);
  if (!guard.ok) return guard;
  const found = await find?.();
  if (found?.ok === false && !(await services.audit.has({ act, subject, guard: guard.value }))) {
    return found;
  }
  const { id, personal_token } = actor;
  const begun = await services.audit.begin({
    act,
    subject,
    reason,
    details: personal_token === null ? details : { ...details, personal_token },
    actor: id,
    request_id,
    guard: guard.value,
  });
  if (begun.kind === "reused") return refused({ code: "idempotency_key_reused" });
  return accepted({ id: begun.id, guard: guard.value, kind: begun.kind });
}
