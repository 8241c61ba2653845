/** Plans in the OpenAPI document. */
import * as z from "zod";
import { PERIODS } from "../../../../domain/plans.ts";
import { describe, done } from "../../../openapi/operation.ts";
import { record_version, slug, time } from "../../../openapi/schemas.ts";
import * as endpoints from "./plans.ts";
import { named } from "../../../openapi/shapes.ts";

const plan_id = z.string().describe("The plan's id, a slug.");

const rule = named("PlanRule", {
  credits: z.int().describe("The credits of each period. They expire when the next ones come."),
  every: z.enum(PERIODS),
  rollover_max: z
    .int()
    .describe("The most that is left of a period's credits for one more period."),
  app_slugs: z
    .array(slug)
    .nullable()
    .describe("The only apps that can use the credits; null: all apps."),
});

const plan = named("Plan", {
  id: plan_id,
  name: z.string(),
  recurring: z.array(rule),
  version: record_version,
  created_at: time,
});

const listed_plan = plan
  .extend({
    accounts: z
      .int()
      .describe("How many accounts have the plan, some seconds late. At most 4,000 are counted."),
    behind: z
      .int()
      .describe("How many accounts do not have its newest rules yet. At most 4,000 are counted."),
  })
  .meta({ id: "ListedPlan" });

const path = { id: plan_id.meta({ examples: ["studio"] }) };
const RULE = { credits: 1000, every: "month", rollover_max: 200, app_slugs: null } as const;
const SETTINGS = { name: "Studio", recurring: [RULE] };
const EXAMPLE = { id: "studio", ...SETTINGS, version: 2, created_at: "2026-11-20T09:30:00.000Z" };
const LISTED = { ...EXAMPLE, accounts: 40, behind: 0 };

export const plans = describe("Operators", endpoints, {
  listPlans: {
    summary: "All plans",
    description: "All of them, by id, each with how many accounts have it.",
    success: {
      description: "The plans.",
      schema: named("PlanList", { plans: z.array(listed_plan) }),
      example: { plans: [LISTED] },
    },
  },
  readPlan: {
    summary: "One plan",
    description: "Its rules, and how many accounts have it.",
    path,
    success: {
      description: "The plan.",
      schema: named("OneListedPlan", { plan: listed_plan }),
      example: { plan: LISTED },
    },
  },
  savePlan: {
    summary: "Create a plan, or change it",
    description:
      "Each rule of `recurring` (at most 4) brings credits every `day`, `week` or `month`, which expire when the next ones come. At most `rollover_max` of what is left (default 0) stays usable for one more period. `app_slugs` are the only apps that can use the credits (default: all). To change a plan, send the `version` that you read; to create one, omit it or send 0. If the plan was saved in the meantime, the response is 409 `plan_changed` and nothing changes. Accounts that have the plan use changed rules from their next turn on: the schedule brings them, or the account's next call, and `behind` counts the accounts that wait. The id `free` is the plan of new accounts and cannot be saved.",
    path,
    example: { ...SETTINGS, version: 1 },
    success: {
      description: "The plan.",
      schema: named("OnePlan", { plan }),
      example: { plan: EXAMPLE },
    },
  },
  deletePlan: {
    summary: "Delete a plan",
    description: "If accounts have the plan, the response is 409 `plan_in_use`.",
    path,
    success: done,
  },
});
