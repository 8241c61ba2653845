/** An operator's action: recorded in the audit log before it runs, and run at most once per idempotency key. */
import type { IdempotencyGuard, OnceAnswer } from "../account/contract.ts";
import * as z from "zod/mini";
import type { Changes } from "../domain/audit.ts";
import { guardOf } from "../domain/idempotency_guard.ts";
import { REASON_MAX_LENGTH } from "../domain/limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { shownUpTo } from "../fields.ts";
import type { Acting } from "./acting.ts";

/** Longest text for people, in UTF-16 code units: two sentences, because apps show it as the error of a request. */
const TEXT_FOR_PEOPLE_MAX_LENGTH = 300;

/** An operator's reason, for the audit log. If credits change, the account's holder sees it too. */
export const reason = shownUpTo(REASON_MAX_LENGTH);

/** What an operator tells the people who are concerned. */
export const textForPeople = shownUpTo(TEXT_FOR_PEOPLE_MAX_LENGTH);

export const reasonBody = z.strictObject({ reason });
export const optionalReasonBody = z.strictObject({ reason: z.optional(reason) });
export const reasonQuery = z.object({ reason: z.optional(reason) });

/** The part of a request that every action has. */
export interface ActionRequest {
  readonly reason?: string | undefined;
  /** The idempotency key. */
  readonly key: string | undefined;
}

export interface OperatorAction extends ActionRequest {
  /** The action's name in the audit log, such as `account.credits`. */
  readonly act: string;
  /** The identity or app slug that the action changes. */
  readonly subject: string;
  /** Further fields of the audit record. No secrets. */
  readonly details: Readonly<Record<string, unknown>>;
  /** All subjects of the request that the action is part of; the key belongs to this list. */
  readonly subjects?: readonly string[];
  /**
   * Looks up what the action needs, such as the record that it changes. A refusal leaves no audit record, so that requests
   * about what does not exist do not fill the log; a repeated request still gets the response of its key.
   */
  readonly find?: () => Promise<Result<unknown, Refusal>>;
  /** The refusal of a repeated attempt which says that an earlier one did the action. Only with `find`. */
  readonly done_code?: Refusal["code"];
}

/** An attempt at an action: see {@link performAction}. */
export interface Attempt {
  readonly audit_id: string;
  readonly is_done: boolean;
}

/** Refuses the key of a request with several actions if it belongs to another such request, of whatever subjects. */
export async function whyNotUnderKey(
  { services, actor }: Acting,
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
  const { key, reason: given = null, details, subjects } = action;
  return guardOf(key, { reason: given, details, subjects });
}

/**
 * Runs an action that stores its own response per key, as the account does, or that may be repeated under its key.
 * Nothing runs if the audit log cannot be written (it throws), or if the key belongs to another action. `perform` also gets
 * the id of the audit record, which all attempts under one key share, and whether an earlier attempt did the action, whose
 * response is then repeated. `changesOf`: what the action changed.
 */
export async function performAction<Value>(
  acting: Acting,
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
  acting: Acting,
  action: OperatorAction,
  perform: (audit_id: string) => Promise<Result<unknown, Refusal>>,
  changesOf: () => Changes | null = () => null,
): Promise<OnceAnswer<null>> {
  const begun = await begin(acting, action);
  if (!begun.ok) return begun;
  if (begun.value.kind === "done") return accepted({ value: null, replayed: true });
  const { id, kind } = begun.value;
  const result = await perform(id);
  const is_repeated = !result.ok && kind === "begun" && result.refusal.code === action.done_code;
  const outcome = result.ok || is_repeated ? "done" : "refused";
  await acting.services.audit.conclude(id, outcome, result.ok ? changesOf() : null);
  return result.ok || is_repeated ? accepted({ value: null, replayed: is_repeated }) : result;
}

interface BegunAction {
  readonly id: string;
  readonly guard: IdempotencyGuard | null;
  readonly kind: "new" | "begun" | "done";
}

async function begin(
  { services, actor, request_id }: Acting,
  action: OperatorAction,
): Promise<Result<BegunAction, Refusal>> {
  const { act, subject, reason: given = null, details, find } = action;
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
    reason: given,
    details: personal_token === null ? details : { ...details, personal_token },
    actor: id,
    request_id,
    guard: guard.value,
  });
  if (begun.kind === "reused") return refused({ code: "idempotency_key_reused" });
  return accepted({ id: begun.id, guard: guard.value, kind: begun.kind });
}
