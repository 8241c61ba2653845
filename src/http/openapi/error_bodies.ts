/** Schemas of error bodies: `{ error, code }`, and the further members of some codes. */
import * as z from "zod";
import { LIMITED } from "../../domain/limit_reached.ts";
import { OPERATOR_ROLES } from "../../domain/operators.ts";
import { CAP_PERIODS } from "../../domain/spending_cap.ts";
import type { RefusalCode } from "../../domain/refusal_codes.ts";
import { count, positive, text_or_null } from "./shapes.ts";

const required = count.describe("The credits that the request needs.");
const topup_url = z
  .url()
  .nullable()
  .describe(
    "The page where the account's holder buys credits, with `return_to` as in `approval_url`. Null: nothing is for sale.",
  );
const upstream_status = z
  .int()
  .nullable()
  .describe("The status of the other server; null if it did not respond.");

/** Members in addition to `error` and `code`. */
const MEMBERS: Readonly<Partial<Record<RefusalCode, Readonly<Record<string, z.ZodType>>>>> = {
  limit_reached: {
    of: z.enum(LIMITED).describe("The limited thing."),
    limit: positive.describe("How many there can be at once."),
  },
  insufficient_credits: {
    credits: z
      .int()
      .nullable()
      .describe(
        "The available credits: the balance without held credits. Null for an app that charges for a connection.",
      ),
    spendable: z
      .int()
      .nullable()
      .describe(
        "The credits of these that the job's app can reserve: without those for other apps only. Null where `credits` is.",
      ),
    held: count.nullable().describe("The credits that started jobs hold. Null where `credits` is."),
    required,
    topup: z
      .literal("pending")
      .optional()
      .describe(
        "An automatic top-up is due. A job does not wait for it; try again in a few seconds.",
      ),
    topup_url,
  },
  token_budget_exceeded: {
    cap: z.strictObject({ credits: count, period: z.enum(CAP_PERIODS) }),
    spent: count.describe("The credits that the token has spent of its cap."),
    room: count.describe("The credits that the token can still spend."),
    required,
    resets_at: z.iso
      .datetime()
      .nullable()
      .describe("The start of the next period of the cap; null for a cap with the period `total`."),
    approval: text_or_null.describe(
      "Repeat `POST /api/jobs` with this after the holder approved the job. Null if what was requested cannot be approved.",
    ),
    approval_url: z
      .url()
      .nullable()
      .describe(
        "The page where the account's holder approves or denies this one job. `return_to` in its query is an address of the app or the OAuth client that it leads back to.",
      ),
    topup_url,
  },
  role_required: { role: z.enum(OPERATOR_ROLES).describe("The lowest role that suffices.") },
  suspended: {
    public_reason: z
      .string()
      .optional()
      .describe("Why, if an operator gave a reason for people. Only for a session."),
  },
  identity_ambiguous: { matches: z.int().min(2).describe("How many people have the address.") },
  plan_in_use: { accounts: positive.describe("How many accounts have the plan.") },
  balance_below_zero: { credits: z.int().describe("The balance."), required },
  overage_limit: { limit: count.describe("The highest allowed cost of this job.") },
  refund_limit: {
    limit: count.describe("The credits of this job's cost that can still be refunded."),
  },
  spent_limit: { limit: count.describe("The credits that the job holds.") },
  step_too_old: { step: positive.describe("The job's last step.") },
  upstream_unavailable: { upstream_status },
  upstream_error: { upstream_status },
  upstream_not_configured: { upstream_status },
};

/** One schema for all codes with the same members. */
export function errorBodies(
  codes: readonly RefusalCode[],
  further: Readonly<Record<string, z.ZodType>> = {},
): readonly z.ZodObject[] {
  const alike = Map.groupBy(codes, (code) => Object.keys(MEMBERS[code] ?? {}).join());
  return [...alike.values()].map((group) =>
    z.strictObject({
      error: z.string().describe("A message for people."),
      code: z.enum(group).describe("A stable code for programs."),
      ...MEMBERS[group[0] ?? "internal"],
      ...further,
    }),
  );
}
