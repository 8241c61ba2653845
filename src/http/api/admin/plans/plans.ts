/** `/api/admin/plans`: the plans whose accounts get credits again and again. */
import { reasonQuery } from "../../../../operator/audited_action.ts";
import * as operator from "../../../../operator/save_plan.ts";
import { actingOf } from "../../../caller/acting.ts";
import { refuse } from "../../../refusals.ts";
import { respondDone, respondOnce, timestamp } from "../../../views.ts";
import { endpoint } from "../../endpoint.ts";
import { refuseField } from "../refuse_field.ts";

function planView({ id, name, recurring, version, created_at_ms }: operator.PlanRecord) {
  return { id, name, recurring, version, created_at: timestamp(created_at_ms) };
}

const listedView = ({ accounts, behind, ...plan }: operator.ListedPlan) => ({
  ...planView(plan),
  accounts,
  behind,
});

export const savePlan = endpoint(
  {
    at: "PUT /api/admin/plans/{id}",
    role: "admin",
    body: operator.savePlanBody,
    refusals: ["plan_changed", "plan_not_found", "limit_reached:plans"],
  },
  async (context, { params, body, key }) => {
    const problem = operator.planIdProblem(params.id);
    if (problem !== null) return refuseField(context, problem);
    const saved = await operator.savePlan(await actingOf(context), params.id, { ...body, key });
    return respondOnce(context, saved, ({ record }) => ({ plan: planView(record) }));
  },
);

export const listPlans = endpoint(
  { at: "GET /api/admin/plans", role: "viewer" },
  async (context) => {
    const plans = await operator.listPlans(context.get("services"));
    return context.json({ plans: plans.map(listedView) });
  },
);

export const readPlan = endpoint(
  { at: "GET /api/admin/plans/{id}", role: "viewer", refusals: ["plan_not_found"] },
  async (context, { params }) => {
    const plans = await operator.listPlans(context.get("services"));
    const plan = plans.find(({ id }) => id === params.id);
    if (plan === undefined) return refuse(context, { code: "plan_not_found" });
    return context.json({ plan: listedView(plan) });
  },
);

export const deletePlan = endpoint(
  {
    at: "DELETE /api/admin/plans/{id}",
    role: "admin",
    query: reasonQuery,
    refusals: ["plan_not_found", "plan_in_use"],
  },
  async (context, { params, query, key }) => {
    const acting = await actingOf(context);
    return respondDone(context, await operator.deletePlan(acting, params.id, { ...query, key }));
  },
);
