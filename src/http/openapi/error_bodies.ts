/** The bodies of refusals, as schemas: `{ error, code }`, and what some codes add. */
import * as z from "zod";
import { CAP_PERIODS } from "../../domain/personal_token.ts";
import type { RefusalCode } from "../../domain/refusal_codes.ts";

const required = z.int().min(0).describe("What the request needed.");
const upstream_status = z
  .int()
  .nullable()
  .describe("The status of the other server; null where it did not answer.");

/** Members in addition to `error` and `code`. */
const MEMBERS: Readonly<Partial<Record<RefusalCode, Readonly<Record<string, z.ZodType>>>>> = {
  insufficient_credits: {
    credits: z.int().describe("What is available: the balance without what is held."),
    held: z.int().min(0).describe("What started jobs have reserved."),
    required,
  },
  token_budget_exceeded: {
    cap: z.strictObject({ credits: z.int().min(0), period: z.enum(CAP_PERIODS) }),
    spent: z.int().min(0).describe("What the token has spent of its cap."),
    room: z.int().min(0).describe("What it may still spend."),
    required,
    resets_at: z.iso
      .datetime()
      .nullable()
      .describe("When the next period of the cap begins; null for a total."),
  },
  balance_below_zero: { credits: z.int().describe("The balance."), required },
  overage_limit: { limit: z.int().min(0).describe("The most that this job may cost.") },
  upstream_unavailable: { upstream_status },
  upstream_error: { upstream_status },
  upstream_not_configured: { upstream_status },
};

/** The bodies that some codes have: one schema for all codes with the same members. */
export function errorBodies(
  codes: readonly RefusalCode[],
  further: Readonly<Record<string, z.ZodType>> = {},
): readonly z.ZodObject[] {
  const alike = Map.groupBy(codes, (code) => Object.keys(MEMBERS[code] ?? {}).join());
  return [...alike.values()].map((group) =>
    z.strictObject({
      error: z.string().describe("A sentence for people."),
      code: z.enum(group).describe("A stable word for programs."),
      ...MEMBERS[group[0] ?? "internal"],
      ...further,
    }),
  );
}
