/** Approving a login, by the API and by the page. */
import * as z from "zod";
import {
  CAP_PERIODS,
  FULL_ACCESS,
  TOKEN_ACCESS,
  type TokenLimits,
} from "../../domain/access_token.ts";
import { readUserCode } from "../../domain/device_login.ts";
import { APPS_PER_TOKEN_MAX } from "../../domain/limits.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { refused, type Result } from "../../domain/result.ts";
import { callerOf, type AppContext } from "../context.ts";
import { appSlug, cost } from "../validation.ts";

/** The limits that an approver may put on the token. */
export const limitFields = {
  scopes: z.array(z.enum(TOKEN_ACCESS, "must be read or write")).min(1).optional(),
  apps: z
    .array(appSlug)
    .min(1, "must name an app, or be left out")
    .max(APPS_PER_TOKEN_MAX, `must name at most ${APPS_PER_TOKEN_MAX} apps`)
    .optional(),
  cap: z
    .strictObject({
      credits: cost,
      period: z.enum(CAP_PERIODS, "must be total or 30_days").default("total"),
    })
    .optional(),
};

/** Only these limits: a misspelt one must not be none at all. */
export const limitsBody = z.strictObject(limitFields);

/** The limits as the rules know them; without any, full access. */
export function limitsFrom(body: z.output<typeof limitsBody>): TokenLimits {
  const { scopes, apps, cap } = body;
  return {
    access: scopes === undefined || scopes.includes("write") ? FULL_ACCESS.access : "read",
    app_slugs: apps === undefined ? FULL_ACCESS.app_slugs : [...new Set(apps)],
    cap: cap ?? FULL_ACCESS.cap,
  };
}

/** Approves the login of a user code as the caller, a browser session. */
export async function approveLogin(
  context: AppContext,
  typed_code: string,
  limits: TokenLimits,
): Promise<Result<null, Refusal>> {
  const user_code = readUserCode(typed_code);
  if (user_code === null) return refused({ code: "user_code_invalid" });
  const { accounts, device_logins } = context.get("services");
  const { identity_id } = context.get("principal");
  const room = await accounts(identity_id).checkRoomForToken(callerOf(context));
  if (!room.ok) return room;
  return device_logins(user_code).approve(identity_id, limits);
}
