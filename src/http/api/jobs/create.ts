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
import { accountOf, callerOf, factory, type AppContext } from "../../context.ts";
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
  const policy = await context.get("services").apps.policy(app_slug);
  if (policy === null) {
    return refused({ code: "unavailable", retry_after_seconds: UNAVAILABLE_RETRY_AFTER_SECONDS });
  }
  return accepted({
    app_slug,
    policy,
    action,
    cost_estimate,
    ttl_seconds,
    metadata_json: metadata_json.value,
  });
}

export const createJob = factory.createHandlers(validBody(createJobBody), async (context) => {
  const body = context.req.valid("json");
  const request = await createJobRequest(context, body);
  if (!request.ok) return refuse(context, request.refusal);
  const guard = await idempotencyGuard(context, body);
  if (!guard.ok) return refuse(context, guard.refusal);
  const account = accountOf(context);
  const created = await account.createJob(callerOf(context), request.value, guard.value);
  return respondOnce(context, created, (job) => job);
});
