/** `POST` and `DELETE` below `/api/admin/accounts/{identity_id}`: operators' actions on one account. */
import * as account from "../../../../operator/account_actions.ts";
import {
  optionalReasonBody,
  reasonBody,
  reasonQuery,
} from "../../../../operator/audited_action.ts";
import { actingOf } from "../../../caller/acting.ts";
import { holderId } from "../../../caller/holder.ts";
import type * as z from "zod/mini";
import { startedBy } from "../../../../domain/started_by.ts";
import type { OperatorRole } from "../../../../domain/operators.ts";
import { endpoint } from "../../endpoint.ts";
import { entryView, jobView, respondDone, respondOnce } from "../../../views.ts";

export const adjustCredits = endpoint(
  {
    at: "POST /api/admin/accounts/{identity_id}/credits",
    role: "support",
    key: "required",
    body: account.creditsBody,
    refusals: ["balance_limit", "balance_below_zero", "too_many_lots"],
  },
  async (context, { body, key }) => {
    const acting = await actingOf(context);
    const adjusted = await account.adjustCredits(acting, holderId(context), { ...body, key });
    return respondOnce(context, adjusted, ({ entry, credits }) => ({
      entry: entryView({ ...entry, by: null }),
      credits,
    }));
  },
);

export const refundJob = endpoint(
  {
    at: "POST /api/admin/accounts/{identity_id}/jobs/{job_id}/refund",
    role: "support",
    key: "required",
    body: account.refundBody,
    refusals: ["job_not_found", "refund_limit", "balance_limit"],
  },
  async (context, { params, body, key }) => {
    const acting = await actingOf(context);
    const job_id = params.job_id.toLowerCase();
    const request = { ...body, key };
    const refunded = await account.refundJob(acting, holderId(context), job_id, request);
    return respondOnce(context, refunded, ({ job, entry, credits }) => ({
      job: jobView(job),
      entry: entryView({ ...entry, by: startedBy(job) }),
      credits,
    }));
  },
);

export const changePlan = endpoint(
  {
    at: "POST /api/admin/accounts/{identity_id}/plan",
    role: "admin",
    body: account.planBody,
  },
  async (context, { body, key }) => {
    const request = { ...body, key };
    const changed = await account.setPlan(await actingOf(context), holderId(context), request);
    return respondOnce(context, changed, (value) => ({ ok: true, account: value.account }));
  },
);

interface ActionFacts {
  readonly at: `POST /api/admin/accounts/{identity_id}/${string}`;
  readonly role: OperatorRole;
  readonly body: z.ZodMiniType<{ readonly reason?: string | undefined }>;
  readonly body_is_optional?: true;
}

/** An action whose only field is a reason. */
const accountAction = (facts: ActionFacts, perform: account.AccountAction) =>
  endpoint(facts, async (context, { body, key }) => {
    const request = { ...body, key };
    return respondDone(context, await perform(await actingOf(context), holderId(context), request));
  });

export const suspendAccount = endpoint(
  {
    at: "POST /api/admin/accounts/{identity_id}/suspend",
    role: "support",
    body: account.suspendBody,
  },
  async (context, { body, key }) => {
    const request = { ...body, key };
    return respondDone(
      context,
      await account.suspend(await actingOf(context), holderId(context), request),
    );
  },
);

export const restoreAccount = accountAction(
  {
    at: "POST /api/admin/accounts/{identity_id}/restore",
    role: "support",
    body: reasonBody,
  },
  account.restore,
);

export const signOutAccount = accountAction(
  {
    at: "POST /api/admin/accounts/{identity_id}/signout",
    role: "support",
    body: optionalReasonBody,
    body_is_optional: true,
  },
  account.signOut,
);

export const rebuildAccount = accountAction(
  {
    at: "POST /api/admin/accounts/{identity_id}/rebuild",
    role: "admin",
    body: account.emptyBody,
    body_is_optional: true,
  },
  account.rebuild,
);

export const revokeAccountToken = endpoint(
  {
    at: "DELETE /api/admin/accounts/{identity_id}/personal-tokens/{id}",
    role: "support",
    query: reasonQuery,
    refusals: ["personal_token_not_found"],
  },
  async (context, { params, query, key }) => {
    const acting = await actingOf(context);
    const request = { ...query, key };
    return respondDone(
      context,
      await account.revokeToken(acting, holderId(context), params.id, request),
    );
  },
);
