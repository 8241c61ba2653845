/**
 * `POST /api/jobs/batch` and `POST /api/jobs/complete/batch`: up to 100 jobs in one transaction. Each item gets the
 * response that it would get in a request of its own; a refused or malformed item does not stop the others.
 */
import * as z from "zod/mini";
import type {
  Batch,
  Caller,
  CompleteJobRequest,
  CreatedJob,
  CreateJobRequest,
  IdempotencyGuard,
  OnceAnswer,
} from "../../../account/contract.ts";
import { JOBS_PER_BATCH_MAX } from "../../../domain/limits.ts";
import { guardOf } from "../../../domain/idempotency_guard.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import type { Result } from "../../../domain/result.ts";
import { accountOf, callerOf, type AppContext } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { countBatch } from "../../middleware/rate_limits.ts";
import { refusalView, refuse } from "../../refusals.ts";
import { readValue } from "../../validation.ts";
import { respondOnce, settledView } from "../../views.ts";
import { completeJobBody, completeJobRequest } from "./complete.ts";
import { createJobBody, createJobRequest } from "./create.ts";

export const batchOf = <Item extends z.ZodMiniType>(item: Item) =>
  z.object({
    jobs: z
      .array(item, "must be a list")
      .check(
        z.minLength(1, "must not be empty"),
        z.maxLength(JOBS_PER_BATCH_MAX, `must have at most ${JOBS_PER_BATCH_MAX} items`),
      ),
  });

/** Validates only the list. Each item is validated by itself. */
const anyBatch = batchOf(z.unknown());

interface BatchKind<Schema extends z.ZodMiniType, Request, Value> {
  readonly at: `POST /${string}`;
  readonly caller: "user_or_app";
  readonly item: Schema;
  readonly requestOf: (
    context: AppContext,
    body: z.output<Schema>,
  ) => Result<Request, Refusal> | Promise<Result<Request, Refusal>>;
  readonly run: (
    account: ReturnType<typeof accountOf>,
    caller: Caller,
    requests: readonly Request[],
    guard: IdempotencyGuard | null,
  ) => Promise<OnceAnswer<Batch<Value>>>;
  readonly view: (value: Value) => object;
}

const handleBatch = <Schema extends z.ZodMiniType, Request, Value>({
  item,
  requestOf,
  run,
  view,
  ...facts
}: BatchKind<Schema, Request, Value>) =>
  endpoint({ ...facts, key: "accepted", body: anyBatch }, async (context, { body, key }) => {
    const { jobs } = body;
    const limited = await countBatch(context, jobs.length);
    if (limited !== null) return refuse(context, limited);
    const bodies = jobs.map((value) => readValue(item, value));
    const requests = await Promise.all(
      bodies.map(async (body) => (body.ok ? requestOf(context, body.value) : body)),
    );
    const fingerprinted = bodies.map((body, index) => (body.ok ? body.value : jobs[index]));
    const guard = await guardOf(key, fingerprinted);
    if (!guard.ok) return refuse(context, guard.refusal);
    const sent = requests.flatMap((request) => (request.ok ? [request.value] : []));
    const ran = await run(accountOf(context), callerOf(context), sent, guard.value);
    return respondOnce(context, ran, ({ results, credits }) => {
      const done = results.values();
      const views = requests.map((request) => {
        const result = request.ok ? done.next().value : request;
        if (result === undefined) throw new Error("the account returned too few results");
        return result.ok ? view(result.value) : refusalView(context, result.refusal);
      });
      return { results: views, credits };
    });
  });

export const createJobs = handleBatch({
  at: "POST /api/jobs/batch",
  caller: "user_or_app",
  item: createJobBody,
  requestOf: createJobRequest,
  run: (account, caller, requests: readonly CreateJobRequest[], guard) =>
    account.createJobs(caller, requests, guard),
  view: (created: CreatedJob) => created,
});

export const completeJobs = handleBatch({
  at: "POST /api/jobs/complete/batch",
  caller: "user_or_app",
  item: completeJobBody,
  requestOf: (_, body) => completeJobRequest(body),
  run: (account, caller, requests: readonly CompleteJobRequest[], guard) =>
    account.completeJobs(caller, requests, guard),
  view: settledView,
});
