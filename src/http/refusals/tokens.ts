/** The error messages of refusals about device logins, personal access tokens and approvals. */
import type { Refusal } from "../../domain/refusals.ts";
import { timestamp } from "../../domain/wire.ts";
import type { ErrorTable } from "./table.ts";

export const TOKENS = {
  user_code_invalid: "This code is unknown. Compare it with the code on your device.",
  device_code_not_found: "This device_code is unknown. Start again.",
  expired_token: "This code has expired. Start again on your device.",
  already_used: "This code has already been used. Start again on your device.",
  access_denied: "This login was denied. If that was a mistake, start again on your device.",
  token_budget_exceeded: (refusal) => ({
    more: budgetView(refusal),
    error: `This token can spend ${refusal.room} more credits, which does not cover ${refusal.required}.`,
  }),
  approval_invalid:
    "This approval is unknown, or not for this job: its token, app and action must be the same, and its estimate at most the approved amount. To request one for this job, leave approval out.",
  approval_denied: "The account's holder denied this job.",
  approval_ended:
    "This approval was used, or its 15 minutes are over. To request another, leave approval out.",
  personal_token_not_found: "You have no token with this id.",
} satisfies Partial<ErrorTable>;

function budgetView({
  cap,
  spent,
  room,
  required,
  resets_at_ms,
  approval,
}: Extract<Refusal, { code: "token_budget_exceeded" }>) {
  const resets_at = resets_at_ms === null ? null : timestamp(resets_at_ms);
  return { cap, spent, room, required, resets_at, approval: approval ?? null };
}
