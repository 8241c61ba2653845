/** `POST /api/jobs`: creates a job and reserves its estimate. */
import * as z from "zod/mini";
import type { CreateJobRequest } from "../../../account/contract.ts";
import {
  ACTION_MAX_LENGTH,
  JOB_TTL_MAX_SECONDS,
  UNAVAILABLE_RETRY_AFTER_SECONDS,
} from "../../../domain/limits.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../../domain/result.ts";
import { startingApp } from "../../../domain/started_by.ts";
import { guardOf } from "../../../domain/idempotency_guard.ts";
import { accountOf, callerOf, type AppContext } from "../../context.ts";
import { refusalOfApp } from "../../allowances/registered_app.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { appSlug, cost, metadata, metadataJson, wellFormed } from "../../validation.ts";
import { respondOnce } from "../../views.ts";

/** A job still `started` after this many seconds fails, unless its creation says otherwise. */
const JOB_TTL_DEFAULT_SECONDS = 24 * 60 * 60;
const JOB_TTL_MIN_SECONDS = 60;

export const ttlSeconds = z
  .int("must be a whole number of seconds")
  .check(
    z.gte(JOB_TTL_MIN_SECONDS, `must be at least ${JOB_TTL_MIN_SECONDS}`),
    z.lte(JOB_TTL_MAX_SECONDS, `must be at most ${JOB_TTL_MAX_SECONDS}`),
  );

export const createJobBody = z.object({
  app: appSlug,
  action: z
    .string("must be a string")
    .check(
      z.minLength(1, "must not be empty"),
      z.maxLength(ACTION_MAX_LENGTH, `must have at most ${ACTION_MAX_LENGTH} characters`),
      wellFormed,
    ),
  cost_estimate: cost,
  ttl_seconds: z._default(ttlSeconds, JOB_TTL_DEFAULT_SECONDS),
  metadata: z.optional(metadata),
});

/**
 * The account's request, from a validated body. If the app's policy cannot be read, the job is refused as `unavailable`:
 * without the policy the holder could settle at 0 a job that only the app may settle.
 */
export async function createJobRequest(
  context: AppContext,
  body: z.output<typeof createJobBody>,
): Promise<Result<CreateJobRequest, Refusal>> {
  const { app: app_slug, action, cost_estimate, ttl_seconds } = body;
  const metadata_json = metadataJson(body.metadata);
  if (!metadata_json.ok) return metadata_json;
  const { apps } = context.get("services");
  const policy = await apps.policy(app_slug);
  if (policy === null) {
    return refused({ code: "unavailable", retry_after_seconds: UNAVAILABLE_RETRY_AFTER_SECONDS });
  }
  const is_registered = (await apps.starterGrant(app_slug))?.is_registered ?? true;
  const unregistered = refusalOfApp(context, app_slug, is_registered);
  if (unregistered !== null) return refused(unregistered);
  const pause = await apps.pauseOf(app_slug);
  const caller = callerOf(context);
  const by_app =
    caller.kind === "app" || caller.kind === "page" ? startingApp(caller, app_slug) : null;
  return accepted({
    app_slug,
    caller_app_name: by_app === null ? undefined : (await apps.all()).get(by_app)?.name,
    is_registered,
    policy,
    pause_message: pause?.message,
    action,
    cost_estimate,
    ttl_seconds,
    metadata_json: metadata_json.value,
  });
}

/** An approval is a UUID. */
const APPROVAL_MAX_LENGTH = 36;

/** A batch takes no approvals. */
const createOneJobBody = z.extend(createJobBody, {
  approval: z.optional(
    z
      .string("must be a string")
      .check(z.maxLength(APPROVAL_MAX_LENGTH, "must be the approval of a 402 response")),
  ),
});

export const createJob = endpoint(
  {
    at: "POST /api/jobs",
    caller: "user_or_app",
    key: "accepted",
    body: createOneJobBody,
    refusals: [
      "app_paused",
      "insufficient_credits",
      "token_budget_exceeded",
      "approval_invalid",
      "approval_denied",
      "approval_ended",
      "limit_reached:started_jobs",
      "account_full",
      "token_storage_full",
      "metadata_too_large",
      "balance_limit",
      "app_not_registered",
    ],
  },
  async (context, { body: { approval, ...body }, key }) => {
    const request = await createJobRequest(context, body);
    if (!request.ok) return refuse(context, request.refusal);
    // Without the approval, so that the request and its repetition with an approval are one under their key.
    const guard = await guardOf(key, body);
    if (!guard.ok) return refuse(context, guard.refusal);
    const job = { ...request.value, approval };
    const created = await accountOf(context).createJob(callerOf(context), job, guard.value);
    return respondOnce(context, created, (it) => it);
  },
);
