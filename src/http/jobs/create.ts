/** `POST /api/jobs`: creates a job and reserves its estimate. */
import * as z from "zod";
import {
  ACTION_MAX_LENGTH,
  JOB_TTL_DEFAULT_SECONDS,
  JOB_TTL_MAX_SECONDS,
  JOB_TTL_MIN_SECONDS,
  UNAVAILABLE_RETRY_AFTER_SECONDS,
} from "../../domain/limits.ts";
import { accountOf, callerOf, factory } from "../context.ts";
import { refuse } from "../refusals.ts";
import {
  appSlug,
  cost,
  idempotencyGuard,
  metadata,
  metadataJson,
  validBody,
} from "../validation.ts";
import { answerOnce } from "../views.ts";

export const createJobBody = z.object({
  app: appSlug,
  action: z
    .string("must be a string")
    .min(1, "must not be empty")
    .max(ACTION_MAX_LENGTH, `must have at most ${ACTION_MAX_LENGTH} characters`)
    // A lone surrogate has no UTF-8 form: stored, it would come back as another text.
    .refine((text) => text.isWellFormed() && !text.includes("\0"), "must be well-formed text"),
  cost_estimate: cost,
  ttl_seconds: z
    .int("must be a whole number of seconds")
    .min(JOB_TTL_MIN_SECONDS, `must be at least ${JOB_TTL_MIN_SECONDS}`)
    .max(JOB_TTL_MAX_SECONDS, `must be at most ${JOB_TTL_MAX_SECONDS}`)
    .default(JOB_TTL_DEFAULT_SECONDS),
  metadata: metadata.optional(),
});

export const createJob = factory.createHandlers(validBody(createJobBody), async (context) => {
  const request = context.req.valid("json");
  const metadata_json = metadataJson(request.metadata);
  if (!metadata_json.ok) return refuse(context, metadata_json.refusal);
  const guard = await idempotencyGuard(context, request);
  if (!guard.ok) return refuse(context, guard.refusal);
  const account = accountOf(context);
  const { app: app_slug, action, cost_estimate, ttl_seconds } = request;
  const policy = await context.get("services").apps.policy(app_slug);
  if (policy === null) {
    const retry_after_seconds = UNAVAILABLE_RETRY_AFTER_SECONDS;
    return refuse(context, { code: "unavailable", retry_after_seconds });
  }
  const answer = await account.createJob(
    callerOf(context),
    { app_slug, policy, action, cost_estimate, ttl_seconds, metadata_json: metadata_json.value },
    guard.value,
  );
  return answerOnce(context, answer, (created) => created);
});
