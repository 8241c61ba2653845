/**
 * Approvals of single jobs beyond a cap. Nothing is stored before the holder decides; the row makes a decision final, and
 * an approval good for one job.
 */
import {
  whyNotApproved,
  type ApprovalRequest,
  type ApprovalState,
} from "../../domain/job_approval.ts";
import { accepted, refused } from "../../domain/result.ts";
import { roomNow, spentNow, tightestCap } from "../../domain/spending_cap.ts";
import { actingAllowance } from "../caller.ts";
import type { Answer, CreateJobRequest, ShownApproval } from "../contract.ts";
import { readBalance } from "../ledger/posting.ts";
import { capsOf } from "../sql/allowance_store.ts";
import type { Transaction } from "../transaction.ts";

/** What the holder sees before they decide. Refused if the allowance that requests it has ended. */
export function readApproval(
  transaction: Transaction,
  request: ApprovalRequest,
): Answer<ShownApproval> {
  const { allowances, now_ms } = transaction;
  if (transaction.caller.kind !== "holder")
    return refused({ code: "scope", reason: "holder_only" });
  const chain = allowances.readLivingChain(request.allowance_id, now_ms);
  if (chain === null) return refused({ code: "personal_token_not_found" });
  const [{ label, kind, client_id, client_host }] = chain;
  const tightest = tightestCap(chain.flatMap(capsOf), now_ms);
  const { balance_after: credits, reserved_after: held } = readBalance(transaction);
  return accepted({
    state: stateOf(transaction, request),
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
            room: roomNow(tightest, now_ms),
          },
    credits,
    held,
  });
}

/** Approves or denies. A decision is final: a second one changes nothing. */
export function decideApproval(
  transaction: Transaction,
  request: ApprovalRequest,
  is_approved: boolean,
): Answer<null> {
  const { approvals, now_ms } = transaction;
  const shown = readApproval(transaction, request);
  if (!shown.ok) return shown;
  if (request.expires_at_ms <= now_ms) return refused({ code: "approval_ended" });
  if (shown.value.state !== "open") return accepted(null);
  const { id, expires_at_ms } = request;
  approvals.deleteExpired(now_ms);
  approvals.insert({ id, is_approved, expires_at_ms, is_used: false });
  return accepted(null);
}

/** Whether the holder approved this job beyond its caps. Refused if the approval in the request is not good for it. */
export function isApproved(transaction: Transaction, job: CreateJobRequest): Answer<boolean> {
  const { approval } = job;
  if (approval === undefined) return accepted(false);
  const { identity_id, now_ms } = transaction;
  const { app_slug, action, cost_estimate: credits } = job;
  const allowance_id = actingAllowance(transaction)?.id ?? null;
  const state = stateOf(transaction, approval);
  const wanted = { identity_id, allowance_id, app_slug, action, credits };
  const not_approved = whyNotApproved(approval, state, wanted, now_ms);
  return not_approved === null ? accepted(state === "approved") : refused(not_approved);
}

function stateOf({ approvals }: Transaction, { id }: ApprovalRequest): ApprovalState {
  const row = approvals.read(id);
  if (row === null) return "open";
  if (row.is_used) return "used";
  return row.is_approved ? "approved" : "denied";
}
