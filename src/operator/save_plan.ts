/** Plans: operators save them, and delete those that no account has. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../account/contract.ts";
import type { PlanRecord } from "../directory/plan_records.ts";
import { COST_MAX_CREDITS } from "../domain/limits.ts";
import { FIRST_PLAN, PERIODS, PLAN_RULES_MAX } from "../domain/plans.ts";
import { accepted, refused } from "../domain/result.ts";
import { appSlug, lotApps } from "../fields.ts";
import type { Acting } from "./acting.ts";
import { performActionOnce, reason, type ActionRequest } from "./audited_action.ts";
import {
  saveRecord,
  version,
  type FieldProblem,
  type Keyed,
  type RecordKind,
  type SavedRecord,
} from "./save_record.ts";

export type { PlanRecord };

const credits = (least: number) =>
  z
    .int("must be a whole number")
    .check(
      z.gte(least, `must be at least ${least}`),
      z.lte(COST_MAX_CREDITS, `must be at most ${COST_MAX_CREDITS}`),
    );

const rule = z.strictObject(
  {
    credits: credits(1),
    every: z.enum(PERIODS, `must be one of ${PERIODS.join(", ")}`),
    rollover_max: z.optional(credits(0)),
    app_slugs: z.optional(z.nullable(lotApps)),
  },
  {
    error: ({ code }) =>
      code === "invalid_type" ? "must be a rule, such as 1000/month or 1000/month:200" : undefined,
  },
);

export const savePlanBody = z.strictObject({
  name: z
    .string("must be a string")
    .check(
      z.trim(),
      z.minLength(1, "must not be empty"),
      z.maxLength(64, "must have at most 64 characters"),
    ),
  recurring: z
    .array(rule, "must be a list of rules")
    .check(z.maxLength(PLAN_RULES_MAX, `must have at most ${PLAN_RULES_MAX} rules`)),
  version,
  reason: z.optional(reason),
});

export type SavePlan = z.output<typeof savePlanBody>;

/** Why a plan cannot have this id; null: it can. */
export function planIdProblem(id: string): FieldProblem | null {
  const checked = appSlug.safeParse(id);
  const message = checked.success
    ? `must not be ${FIRST_PLAN}: every new account has this plan, and it brings no credits`
    : (checked.error.issues[0]?.message ?? "");
  return checked.success && id !== FIRST_PLAN ? null : { path: ["id"], message };
}

/** Creates a plan, or changes it for the accounts that have it, from their next turn on. */
export function savePlan(
  acting: Acting,
  id: string,
  body: Keyed<SavePlan>,
): Promise<OnceAnswer<SavedRecord<PlanRecord>>> {
  const { plan_records } = acting.services;
  const recurring = body.recurring.map(({ rollover_max = 0, app_slugs = null, ...it }) => ({
    ...it,
    rollover_max,
    app_slugs,
  }));
  const complete = { ...body, recurring };
  const kind: RecordKind<typeof complete, PlanRecord> = {
    act: "plan.save",
    subject: id,
    details: {},
    not_found: { code: "plan_not_found" },
    changed: { code: "plan_changed" },
    find: () => plan_records.find(id),
    completed: (given) => given,
    settingsOf: (plan) => ({ name: plan.name, recurring: plan.recurring }),
    write: (given, save) => plan_records.save(id, given, save),
  };
  return saveRecord(acting, kind, complete);
}

/** Deletes a plan. Refused as `plan_in_use` while accounts have it, as far as the read model knows. */
export function deletePlan(
  acting: Acting,
  id: string,
  request: ActionRequest,
): Promise<OnceAnswer<null>> {
  const { plan_records, read_model } = acting.services;
  const done_code = "plan_not_found";
  const find = async () =>
    (await plan_records.find(id)) === null ? refused({ code: done_code } as const) : accepted(null);
  const action = { act: "plan.delete", subject: id, details: {}, find, done_code } as const;
  return performActionOnce(acting, { ...action, ...request }, async () => {
    const [{ accounts } = { accounts: 0 }] = await read_model.countPlans([{ id, version: 0 }]);
    return accounts > 0 ? refused({ code: "plan_in_use", accounts }) : plan_records.remove(id);
  });
}

/** A plan, how many accounts have it, and how many of them do not have its newest rules yet. */
export interface ListedPlan extends PlanRecord {
  readonly accounts: number;
  readonly behind: number;
}

/** All plans by id. The numbers are some seconds late. */
export async function listPlans({
  plan_records,
  read_model,
}: Pick<Acting["services"], "plan_records" | "read_model">): Promise<readonly ListedPlan[]> {
  const plans = await plan_records.list();
  const counts = await read_model.countPlans(plans);
  return plans.map((plan, at) => ({ ...plan, ...(counts[at] ?? { accounts: 0, behind: 0 }) }));
}
