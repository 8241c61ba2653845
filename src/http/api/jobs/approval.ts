/**
 * Requests for a holder's approval of one job. The request itself travels, sealed, in the address of its page and in
 * `approval`, so that nothing is stored before the holder decides.
 */
import type { CreateJobRequest } from "../../../account/contract.ts";
import { APPROVAL_TTL_MS, type ApprovalRequest } from "../../../domain/job_approval.ts";
import { REDIRECT_MAX_LENGTH } from "../../../domain/limits.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import type { AppContext } from "../../context.ts";

type OverBudget = Extract<Refusal, { readonly code: "token_budget_exceeded" }>;

/** The refusal with a request for the holder's approval; without one if its address would be too long for a sign-in. */
export async function offerApproval(
  context: AppContext,
  refusal: OverBudget,
  { app_slug, action, cost_estimate: credits }: CreateJobRequest,
): Promise<OverBudget> {
  const { allowance_id, cap } = refusal;
  if (allowance_id === undefined) return refusal;
  const { identity_id } = context.get("caller");
  const expires_at_ms = Date.now() + APPROVAL_TTL_MS;
  const of_job = { identity_id, allowance_id, app_slug, action, credits, cap, expires_at_ms };
  const request: ApprovalRequest = { id: crypto.randomUUID(), ...of_job };
  const { job_approvals } = context.get("services");
  const base_url = context.get("base_url");
  const approval = await job_approvals.seal(base_url, JSON.stringify(request), APPROVAL_TTL_MS);
  return withApproval(context, refusal, approval);
}

/** The refusal with the request that the caller sent again, because the holder has not decided yet. */
export function withApproval(
  context: AppContext,
  refusal: OverBudget,
  approval: string,
): OverBudget {
  const approval_url = `${context.get("base_url")}/approve/${approval}`;
  return approval_url.length > REDIRECT_MAX_LENGTH
    ? refusal
    : { ...refusal, approval: { approval, approval_url } };
}

/** Opens a request, also after it has expired; null: it is not ours. */
export async function openApproval(
  context: AppContext,
  approval: string,
): Promise<ApprovalRequest | null> {
  const opened = await context
    .get("services")
    .job_approvals.open(context.get("base_url"), approval);
  return opened === null ? null : (JSON.parse(opened.text) as ApprovalRequest);
}
