import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FIRST_POLICY } from "../../src/domain/app_policy.ts";
import { evict } from "../support/evict.ts";

const CAP = 50;
const GRANT = 120;

/** Who acts: a browser session, a token without a cap, and two tokens capped at 50 credits. */
const ACTORS = ["session", "free", "capped", "other"] as const;
type Actor = (typeof ACTORS)[number];
const CAPPED: readonly Actor[] = ["capped", "other"];

type Action =
  | { readonly kind: "create"; readonly by: Actor; readonly cost: number }
  | { readonly kind: "complete"; readonly by: Actor; readonly pick: number; readonly cost: number }
  | { readonly kind: "fail"; readonly by: Actor; readonly pick: number; readonly refund: boolean }
  | { readonly kind: "evict" };

const by = fc.constantFrom(...ACTORS);
const cost = fc.integer({ min: 0, max: 40 });
const pick = fc.nat({ max: 30 });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("create" as const), by, cost }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("complete" as const), by, pick, cost }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("fail" as const), by, pick, refund: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("evict" as const) }) },
);

/** A job as the model remembers it: `counts` is what it takes of the balance, and of a cap. */
interface ModelJob {
  readonly id: string;
  readonly creator: Actor;
  readonly counts: number;
  readonly started: boolean;
}

const sum = (jobs: readonly ModelJob[]): number => jobs.reduce((all, job) => all + job.counts, 0);

/** Whether a capped token may make a job, its own, count for so much more. */
function fitsCap(jobs: readonly ModelJob[], by: Actor, more: number): boolean {
  if (!CAPPED.includes(by) || more <= 0) return true;
  return sum(jobs.filter(({ creator }) => creator === by)) + more <= CAP;
}

async function openAccount(identity_id: string) {
  const account = env.ACCOUNT.getByName(identity_id);
  const session = { personal_token_id: null };
  await account.wallet(session, { app: { slug: "demo", starter_credits: GRANT } });
  for (const actor of ACTORS.slice(1)) {
    const cap = CAPPED.includes(actor) ? ({ credits: CAP, period: "total" } as const) : null;
    await account.issuePersonalToken(session, {
      id: actor,
      label: actor,
      app_slug: null,
      limits: { access: "write", upstream: false, admin: false, app_slugs: null, cap },
      session_id: null,
      expires_at_ms: Date.now() + 3_600_000,
    });
  }
  return account;
}

type AccountStub = Awaited<ReturnType<typeof openAccount>>;

/** Carries an action out, holds its answer to the model's, and tells the jobs there are then. */
async function carryOut(
  account: AccountStub,
  jobs: readonly ModelJob[],
  action: Action,
): Promise<readonly ModelJob[]> {
  switch (action.kind) {
    case "evict":
      await evict(account);
      return jobs;
    case "create":
      return create(account, jobs, action);
    case "complete":
    case "fail":
      return end(account, jobs, action);
  }
}

const callerOf = (by: Actor) => ({ personal_token_id: by === "session" ? null : by });

async function create(
  account: AccountStub,
  jobs: readonly ModelJob[],
  action: Extract<Action, { kind: "create" }>,
): Promise<readonly ModelJob[]> {
  const { by, cost } = action;
  const allowed = fitsCap(jobs, by, cost) && GRANT - sum(jobs) >= cost;
  const job = {
    app_slug: "demo",
    policy: FIRST_POLICY,
    action: "render",
    ttl_seconds: 3_600,
    metadata_json: null,
  };
  const answer = await account.createJob(callerOf(by), { ...job, cost_estimate: cost }, null);
  expect({ action, ok: answer.ok }).toEqual({ action, ok: allowed });
  if (!answer.ok) return jobs;
  return [...jobs, { id: answer.value.value.job_id, creator: by, counts: cost, started: true }];
}

async function end(
  account: AccountStub,
  jobs: readonly ModelJob[],
  action: Extract<Action, { kind: "complete" | "fail" }>,
): Promise<readonly ModelJob[]> {
  const job = jobs[action.pick % Math.max(1, jobs.length)];
  if (job === undefined) return jobs;
  const { by, kind } = action;
  const counts = kind === "complete" ? action.cost : action.refund ? 0 : job.counts;
  const own = !CAPPED.includes(by) || job.creator === by;
  const allowed = job.started && own && fitsCap(jobs, by, counts - job.counts);
  const ending = { job_id: job.id, actual_cost: counts, metadata_json: null };
  const answer =
    kind === "complete"
      ? await account.completeJob(callerOf(by), ending, null)
      : await account.failJob(callerOf(by), { job_id: job.id, refund: action.refund }, null);
  expect({ action, ok: answer.ok }).toEqual({ action, ok: allowed });
  if (!allowed) return jobs;
  return jobs.map((it) => (it.id === job.id ? { ...it, counts, started: false } : it));
}

describe("an account with capped tokens", () => {
  it("counts what a slow history counts and refuses what it refuses, over evictions", async () => {
    let accounts = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
        const account = await openAccount(`identity ${(accounts += 1)}`);
        let jobs: readonly ModelJob[] = [];
        for (const action of actions) jobs = await carryOut(account, jobs, action);
        const wallet = await account.wallet({ personal_token_id: null }, { app: null });
        expect(wallet).toMatchObject({ value: { account: { credits: GRANT - sum(jobs) } } });
        const tokens = await account.listPersonalTokens({ personal_token_id: null });
        for (const { id, spent } of tokens.ok ? tokens.value : []) {
          const of_token = sum(jobs.filter(({ creator }) => creator === id));
          expect({ id, spent }).toEqual({ id, spent: id === "free" ? null : of_token });
        }
      }),
      { numRuns: 60 },
    );
  });
});
