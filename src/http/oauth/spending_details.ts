/** Limits of what a token may spend, as authorization details (RFC 9396). */
import type { SpendingTerms } from "../../account/contract.ts";
import * as z from "zod/mini";
import { APPS_PER_ALLOWANCE_MAX, CAPS_PER_ALLOWANCE_MAX } from "../../domain/limits.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { apps, caps } from "../allowances/approve_login.ts";
import { findUnknownField } from "../unknown_fields.ts";

/** The only type of authorization details. */
export const SPENDING_TYPE = "passbook_spending";

/** Strict, so that a misspelt limit is not silently ignored. */
const details = z
  .array(
    z.strictObject({
      type: z.literal(SPENDING_TYPE, `must be ${SPENDING_TYPE}`),
      caps: z.optional(caps),
      apps: z.optional(apps),
      expires_in: z.optional(
        z.int("must be a whole number of seconds").check(z.gte(1, "must be at least 1")),
      ),
    }),
    "must be a list",
  )
  .check(z.length(1, "must have one entry"));

export type SpendingDetails = z.output<typeof details>[number];

const SHAPE =
  "authorization_details must be a JSON list of one object with type passbook_spending, and caps, apps or expires_in, " +
  `with at most ${CAPS_PER_ALLOWANCE_MAX} caps, one a period, and ${APPS_PER_ALLOWANCE_MAX} apps.`;

/**
 * The limits that an allowance was given (RFC 9396, section 7). Without `apps`, it may use all. `at_seconds`: what
 * `expires_in` counts from.
 */
export function detailsOf({ caps, app_slugs, ends_at_ms }: SpendingTerms, at_seconds: number) {
  const expires_in = Math.max(0, Math.floor(ends_at_ms / 1000) - at_seconds);
  const apps = app_slugs === null ? {} : { apps: app_slugs };
  return [{ type: SPENDING_TYPE, caps, ...apps, expires_in }];
}

/** Fields that a description may name. It may not repeat what the sender wrote. */
const FIELDS = ["type", "caps", "apps", "expires_in"];

/** Refused: what is wrong, as an `error_description`. */
export function readSpendingDetails(text: string): Result<SpendingDetails, string> {
  const sent = parse(text);
  if (findUnknownField(details, sent) !== null) return refused(SHAPE);
  const read = details.safeParse(sent);
  const [limits] = read.data ?? [];
  if (limits !== undefined) return accepted(limits);
  const field = read.error?.issues[0]?.path.find((part) => FIELDS.includes(String(part)));
  return refused(field === undefined ? SHAPE : `${SHAPE} The problem is in ${String(field)}.`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
