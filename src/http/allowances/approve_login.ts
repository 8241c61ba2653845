/** Approval of a device login, for the API and the page. */
import * as z from "zod/mini";
import { FULL_ACCESS, API_SCOPES, type AllowanceLimits } from "../../domain/allowance.ts";
import { CAP_PERIODS } from "../../domain/spending_cap.ts";
import { readUserCode, type LoginGrant } from "../../domain/device_login.ts";
import { APPS_PER_ALLOWANCE_MAX, CAPS_PER_ALLOWANCE_MAX } from "../../domain/limits.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { accountOf, callerOf, type AppContext } from "../context.ts";
import { isForeignSession, readOperatorRights } from "../caller/operator.ts";
import { appSlug, cost } from "../validation.ts";

type Scope = (typeof API_SCOPES)[number];

function readsOrWrites(scopes: readonly Scope[]): boolean {
  return scopes.includes("read") || scopes.includes("write");
}

const cap = z.strictObject(
  {
    credits: cost,
    period: z._default(z.enum(CAP_PERIODS, `must be ${CAP_PERIODS.join(", ")}`), "total"),
  },
  "must be an object",
);

/** Several caps, each for another period. */
export const caps = z.array(cap, "must be a list").check(
  z.maxLength(CAPS_PER_ALLOWANCE_MAX, `must have at most ${CAPS_PER_ALLOWANCE_MAX} caps`),
  z.refine((all) => new Set(all.map(({ period }) => period)).size === all.length, {
    error: "must have at most one cap for each period",
  }),
);

export const apps = z
  .array(appSlug, "must be a list")
  .check(
    z.minLength(1, "must name an app, or be left out"),
    z.maxLength(APPS_PER_ALLOWANCE_MAX, `must name at most ${APPS_PER_ALLOWANCE_MAX} apps`),
  );

/** The limits that an approver may put on the token. */
export const limitFields = {
  scopes: z.optional(
    z.array(z.enum(API_SCOPES, "must be read, write, upstream or admin"), "must be a list").check(
      z.refine((scopes) => scopes.some((scope) => scope !== "upstream"), {
        error: "must name read, write or admin",
      }),
      z.refine((scopes) => !scopes.includes("upstream") || readsOrWrites(scopes), {
        error: "must name read or write in addition to upstream",
      }),
    ),
  ),
  apps: z.optional(apps),
  caps: z.optional(caps),
};

/** Strict, so that a misspelt limit is not silently ignored. */
export const limitsBody = z.strictObject(limitFields);

/**
 * The limits in the terms of the domain. Without any limit the token has full access (spec, Authentication 1). With a
 * limit, it gets upstream tokens only if the scope `upstream` is named.
 */
export function limitsFrom(body: z.output<typeof limitsBody>): AllowanceLimits {
  const { scopes, apps: slugs } = body;
  const unlimited = isUnlimited(body);
  return {
    access: accessOf(scopes),
    admin: (scopes ?? []).includes("admin"),
    upstream: unlimited ? FULL_ACCESS.upstream : (scopes ?? []).includes("upstream"),
    app_slugs: slugs === undefined ? FULL_ACCESS.app_slugs : [...new Set(slugs)],
    caps: body.caps ?? FULL_ACCESS.caps,
  };
}

function isUnlimited(body: z.output<typeof limitsBody>): boolean {
  const has_caps = (body.caps ?? []).length > 0;
  return body.scopes === undefined && body.apps === undefined && !has_caps;
}

function accessOf(scopes: readonly Scope[] | undefined): AllowanceLimits["access"] {
  if (scopes === undefined || scopes.includes("write")) return FULL_ACCESS.access;
  return scopes.includes("read") ? "read" : "none";
}

/** Approves the login of a user code for a caller with a live session. */
export async function approveLogin(
  context: AppContext,
  typed_code: string,
  limits: AllowanceLimits,
): Promise<Result<null, Refusal>> {
  const user_code = readUserCode(typed_code);
  if (user_code === null) return refused({ code: "user_code_invalid" });
  const grant = await grantToken(context, limits);
  if (!grant.ok) return grant;
  return context.get("services").device_logins(user_code).approve(grant.value);
}

/**
 * Grants a token with these limits for a caller with a live session of our own pages: the page of an app shows no limits and
 * does not ask, so its session token or its visitor's cookie gives nobody else access. A token that a session token
 * approved ends with the session, because a leaked one must not create access that outlives it.
 */
export async function grantToken(
  context: AppContext,
  limits: AllowanceLimits,
): Promise<Result<LoginGrant, Refusal>> {
  const { identity } = context.get("services");
  const { identity_id, proof, via } = context.get("caller");
  if (proof.kind !== "session") throw new Error("only a session grants a token");
  const { session_id } = proof;
  if (limits.admin) {
    if (isForeignSession(context))
      return refused({ code: "not_operator", reason: "foreign_session" });
    // The token acts with its holder's role at the time of each call, so any role may approve it.
    const operator = await readOperatorRights(context, identity_id);
    if (operator === null) return refused({ code: "not_operator" });
  }
  if (proof.azp !== context.get("base_url"))
    return refused({ code: "scope", reason: "app_approves" });
  const room = await accountOf(context).checkRoomForAllowance(callerOf(context));
  if (!room.ok) return room;
  const session = await identity.readSession(session_id, identity_id);
  if (session === null) return refused({ code: "unauthorized", reason: "session_ended" });
  const { signin_method, ends_at_ms } = session;
  const session_ends_at_ms = via === "cookie" ? null : ends_at_ms;
  return accepted({ identity_id, limits, session_id, signin_method, session_ends_at_ms });
}
