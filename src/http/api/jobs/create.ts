/** `POST /api/jobs`: creates a job and reserves its estimate. */
import * as z from "zod/mini";
import type { CreateJobRequest } from "../../../account/contract.ts";
import {
  ACTION_MAX_LENGTH,
  JOB_TTL_MAX_SECONDS,
  REDIRECT_MAX_LENGTH,
  UNAVAILABLE_RETRY_AFTER_SECONDS,
} from "../../../domain/limits.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../../domain/result.ts";
import { accountOf, callerOf, factory, type AppContext } from "../../context.ts";
import { offerApproval, openApproval, withApproval } from "./approval.ts";
import { refuse } from "../../refusals.ts";
import {
  appSlug,
  cost,
  idempotencyGuard,
  metadata,
  metadataJson,
  validBody,
  wellFormed,
} from "../../validation.ts";
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
  return accepted({
    app_slug,
    is_registered: (await apps.starterGrant(app_slug))?.is_registered ?? true,
    policy,
    action,
    cost_estimate,
    ttl_seconds,
    metadata_json: metadata_json.value,
  });
}

/** A batch takes no approvals. */
export const createOneJobBody = z.extend(createJobBody, {
  approval: z.optional(
    z
      .string("must be a string")
      .check(z.maxLength(REDIRECT_MAX_LENGTH, "must be the approval of a 402 response")),
  ),
});

export const createJob = factory.createHandlers(validBody(createOneJobBody), async (context) => {
  const { approval: sealed, ...body } = context.req.valid("json");
  const request = await createJobRequest(context, body);
  if (!request.ok) return refuse(context, request.refusal);
  const approval = sealed === undefined ? undefined : await openApproval(context, sealed);
  if (approval === null) return refuse(context, { code: "approval_invalid" });
  // Without the approval, so that the request and its repetition with an approval are one under their key.
  const guard = await idempotencyGuard(context, body);
  if (!guard.ok) return refuse(context, guard.refusal);
  const job = { ...request.value, approval };
  const created = await accountOf(context).createJob(callerOf(context), job, guard.value);
  if (created.ok || created.refusal.code !== "token_budget_exceeded") {
    return respondOnce(context, created, (it) => it);
  }
  const { refusal } = created;
  return refuse(
    context,
    sealed === undefined
      ? await offerApproval(context, refusal, request.value)
      : withApproval(context, refusal, sealed),
  );
});
