/** Runs operators' actions for a request: see `operator/audited_action.ts`. */
import * as z from "zod/mini";
import type { IdempotencyGuard, OnceAnswer } from "../../../account/contract.ts";
import type { Changes } from "../../../domain/audit.ts";
import { REASON_MAX_LENGTH } from "../../../domain/limits.ts";
import { credentialId } from "../../../domain/proof.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { assertInvariant, type Result } from "../../../domain/result.ts";
import type { Acting } from "../../../operator/acting.ts";
import * as operator from "../../../operator/audited_action.ts";
import type { AppContext } from "../../context.ts";
import type { Services } from "../../services.ts";
import { shownText, wellFormed } from "../../validation.ts";

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

/** The version of a record that a save changes: see `operator/save_record.ts`. */
export const version = z.optional(
  z.int("must be a whole number").check(z.gte(0, "must be the version that you read")),
);

/** The request's caller as the one who acts: an operator by their identity, or an app by the id of its key. */
export async function actingOf(context: AppContext): Promise<Acting<Services>> {
  const services = context.get("services");
  const request_id = context.get("request_id");
  const own_app = context.get("own_app");
  if (own_app !== undefined) {
    const id = await services.app_records.readKeyId(own_app.key_hash);
    assertInvariant(id !== null, "a key keeps its row");
    return { services, actor: { id: `app_key:${id}`, personal_token: null }, request_id };
  }
  const { identity_id, proof } = context.get("caller");
  const personal_token = proof.kind === "personal_token" ? credentialId(proof.credential) : null;
  return { services, actor: { id: identity_id, personal_token }, request_id };
}

type Perform<Value> = (
  guard: IdempotencyGuard | null,
  attempt: operator.Attempt,
) => Promise<OnceAnswer<Value>>;

/** {@link operator.performAction} for the request's caller. */
export async function performAction<Value>(
  context: AppContext,
  action: operator.OperatorAction,
  perform: Perform<Value>,
  changesOf?: (value: Value) => Changes | null,
): Promise<OnceAnswer<Value>> {
  return operator.performAction(await actingOf(context), action, perform, changesOf);
}

/** {@link operator.performActionOnce} for the request's caller. */
export async function performActionOnce(
  context: AppContext,
  action: operator.OperatorAction,
  perform: (audit_id: string) => Promise<Result<unknown, Refusal>>,
  changesOf?: () => Changes | null,
): Promise<OnceAnswer<null>> {
  return operator.performActionOnce(await actingOf(context), action, perform, changesOf);
}

/** {@link operator.whyNotUnderKey} for the request's caller. */
export async function whyNotUnderKey(
  context: AppContext,
  action: Omit<operator.OperatorAction, "subject">,
): Promise<Refusal | null> {
  return operator.whyNotUnderKey(await actingOf(context), action);
}
