/**
 * Approvals of single jobs beyond a cap. The request is a row from the refused request on; the row makes a decision final,
 * and an approval good for one job.
 */
import { approvalDecided } from "../../domain/access_event.ts";
import { APPROVAL_TTL_MS, whyNotApproved, type ApprovalState } from "../../domain/job_approval.ts";
import { accepted, refused } from "../../domain/result.ts";
import { approvedNow, roomNow, spentNow, tightestCap } from "../../domain/spending_cap.ts";
import { actingAllowance } from "../caller.ts";
import type { Answer, CreateJobRequest, ShownApproval } from "../contract.ts";
import { readBalance } from "../ledger/posting.ts";
import { capsOf } from "../sql/allowance_store.ts";
import type { Transaction } from "../transaction.ts";

/**
 * The answer to a request for one job, with a request for the holder's approval if a cap refused it. Equal requests share
 * one while it is open. Part of the refused request's transaction.
 */
export function offeringApproval<Value>(
  { approvals, now_ms }: Transaction,
  { app_slug, action, cost_estimate: credits, approval: known }: CreateJobRequest,
  answer: Answer<Value>,
): Answer<Value> {
  if (answer.ok || answer.refusal.code !== "token_budget_exceeded") return answer;
  const { refusal } = answer;
  const { allowance_id, cap } = refusal;
  if (known !== undefined) return refused({ ...refusal, approval: known });
  if (allowance_id === undefined) return answer;
  const { credits: cap_credits, period: cap_period } = cap;
  const wanted = { allowance_id, app_slug, action, credits, cap_credits, cap_period };
  const open = approvals.findOpen(wanted, now_ms);
  if (open !== null) return refused({ ...refusal, approval: open.id });
  const id = crypto.randomUUID();
  const expires_at_ms = now_ms + APPROVAL_TTL_MS;
  approvals.insert({ ...wanted, id, state: "open", expires_at_ms }, now_ms);
  return refused({ ...refusal, approval: id });
}

/**
 * A request as the holder sees it. Refused as `approval_invalid` if the account does not have it, and as
 * `personal_token_not_found` if the allowance that requested it has ended before the holder decided.
 */
export function readApproval(transaction: Transaction, id: string): Answer<ShownApproval> {
  const { allowances, approvals, now_ms } = transaction;
  if (transaction.caller.kind !== "holder")
    return refused({ code: "scope", reason: "holder_only" });
  const request = approvals.read(id);
  if (request === null) return refused({ code: "approval_invalid" });
  const chain = allowances.readLivingChain(request.allowance_id, now_ms);
  const own = chain?.[0] ?? allowances.read(request.allowance_id);
  if (own === null || (chain === null && request.state === "open")) {
    return refused({ code: "personal_token_not_found" });
  }
  const { label, kind, client_id, client_host } = own;
  const tightest = tightestCap((chain ?? [own]).flatMap(capsOf), now_ms);
  const { balance_after: credits, reserved_after: held } = readBalance(transaction);
  return accepted({
    request,
    label,
    kind,
    client_id,
    client_host,
    budget:
      tightest === null
        ? null
        : {
            cap: { credits: tightest.credits, period: tightest.period },
            spent: spentNow(tightest, now_ms),
            approved: approvedNow(tightest, now_ms),
            room: roomNow(tightest, now_ms),
          },
    credits,
    held,
  });
}

/** Approves or denies. A decision is final: a second one changes nothing. @returns what was decided. */
export function decideApproval(
  transaction: Transaction,
  id: string,
  is_approved: boolean,
): Answer<ApprovalState> {
  const { allowances, approvals, announce, now_ms } = transaction;
  const shown = readApproval(transaction, id);
  if (!shown.ok) return shown;
  const { request } = shown.value;
  if (request.state !== "open") return accepted(request.state);
  if (request.expires_at_ms <= now_ms) return refused({ code: "approval_ended" });
  const state = is_approved ? "approved" : "denied";
  approvals.saveState(id, state);
  const allowance = allowances.read(request.allowance_id);
  if (allowance !== null) {
    announce.accessChanged(approvalDecided(allowance, request, is_approved), now_ms);
  }
  return accepted(state);
}

/** Whether the holder approved this job beyond its caps. Refused if the approval in the request is not good for it. */
export function readApproved(
  transaction: Transaction,
  { approval, app_slug, action, cost_estimate: credits }: CreateJobRequest,
): Answer<{ readonly credits: number } | null> {
  if (approval === undefined) return accepted(null);
  const { approvals, now_ms } = transaction;
  const allowance_id = actingAllowance(transaction)?.id ?? null;
  const request = approvals.read(approval);
  if (request === null) return refused({ code: "approval_invalid" });
  const wanted = { allowance_id, app_slug, action, credits };
  const not_approved = whyNotApproved(request, wanted, now_ms);
  if (not_approved !== null) return refused(not_approved);
  return accepted(request.state === "approved" ? request : null);
}
