/**
 * Privacy requests: `GET /api/admin/accounts/{identity_id}/export` returns everything that is stored about a person, and
 * `DELETE /api/admin/accounts/{identity_id}` deletes their account. Also for suspended accounts. Both are audited.
 */
import * as z from "zod/mini";
import type { OnceAnswer } from "../../../../account/contract.ts";
import { DELETION_ACT } from "../../../../domain/audit.ts";
import { accepted } from "../../../../domain/result.ts";
import { factory, type AppContext } from "../../../context.ts";
import { collectPersonData, respondWithDocument } from "../../../person_data.ts";
import { refuse } from "../../../refusals.ts";
import { idempotencyKey, validBody, validQuery } from "../../../validation.ts";
import { respondDone } from "../../../views.ts";
import { performAction, performActionOnce, reason } from "../audited_action.ts";
import { requireHolder } from "./holder.ts";

export const exportQuery = z.object({ reason: z.optional(reason) });
export const deletionBody = z.strictObject({ confirm: z.string("must be a string"), reason });

const EXPORT_FILENAME = "person-data.json";

interface PrivacyRequest {
  readonly reason?: string | undefined;
  /** The idempotency key. */
  readonly key: string | undefined;
}

/** The person's data as a download. The holder sees in it that an operator exported it. */
export async function exportAccount(
  context: AppContext,
  { reason: given, key }: PrivacyRequest,
): Promise<OnceAnswer<Response>> {
  const { identity_id } = context.get("holder");
  const action = {
    act: "account.export",
    subject: identity_id,
    reason: given ?? null,
    details: {},
    key,
  };
  return performAction(context, action, async () => {
    const collected = await collectPersonData(context.get("services"), identity_id);
    if (!collected.ok) return collected;
    const value = respondWithDocument(context, collected.value, EXPORT_FILENAME);
    return accepted({ value, replayed: false });
  });
}

/** Deletes the account as its holder would. `confirm` was checked. */
export function deleteAccount(
  context: AppContext,
  { reason: given, key }: PrivacyRequest,
): Promise<OnceAnswer<null>> {
  const { account_deletion } = context.get("services");
  const { identity_id } = context.get("holder");
  const action = {
    act: DELETION_ACT,
    subject: identity_id,
    reason: given ?? null,
    details: {},
    key,
  };
  return performActionOnce(context, action, async () => {
    const deleted = await account_deletion.deleteAccount(identity_id, "operator");
    if (deleted.ok || deleted.refusal.code !== "account_unknown") return deleted;
    // The account was deleted before, but its person is still there: the deletion was interrupted.
    await account_deletion.finish(identity_id);
    return accepted(null);
  });
}

/** The message of a wrong confirmation, for the field `confirm`; null if it is right. */
export function confirmationProblem(identity_id: string, confirm: string): string | null {
  if (confirm === identity_id) return null;
  return `confirm must be the identity_id of the account to delete, ${identity_id}. Nothing was deleted.`;
}

export const getExport = factory.createHandlers(validQuery(exportQuery), async (context) => {
  const request = { ...context.req.valid("query"), key: idempotencyKey(context) };
  const exported = await exportAccount(context, request);
  return exported.ok ? exported.value.value : refuse(context, exported.refusal);
});

/** A retry finds no person any more. While the deletion is recorded, it gets the response of the first request. */
const repeatDeletion = factory.createMiddleware(async (context, next) => {
  const identity_id = context.req.param("identity_id") ?? "";
  const { account_deletion, identity } = context.get("services");
  const repeated =
    (await account_deletion.isRecorded(identity_id)) &&
    (await identity.readPerson(identity_id)) === null;
  return repeated ? respondDone(context, accepted({ value: null, replayed: true })) : next();
});

export const removeAccount = factory.createHandlers(
  validBody(deletionBody),
  repeatDeletion,
  requireHolder,
  async (context) => {
    const { confirm, reason: given } = context.req.valid("json");
    const problem = confirmationProblem(context.get("holder").identity_id, confirm);
    if (problem !== null) return refuse(context, { code: "invalid_request", detail: problem });
    const request = { reason: given, key: idempotencyKey(context) };
    return respondDone(context, await deleteAccount(context, request));
  },
);
