import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { DEFAULT_POLICY } from "../../../../src/domain/app_policy.ts";
import { DAY_MS } from "../../../../src/domain/calendar.ts";
import { evict } from "../../support/evict.ts";
import { expectInvariants } from "../invariants.ts";
import { histories } from "../../support/histories.ts";
import { withToken } from "../../support/allowances.ts";
import { type CapPeriod } from "../../../../src/domain/spending_cap.ts";

const CAP = 50;
const GRANT = 400;
const SESSION = { kind: "holder" } as const;

/** The cap of every second token is for 30 days; the others have a total cap. */
const CAPPED = Array.from({ length: 6 }, (_, at) => `capped-${at}`);
const periodOf = (token: string): CapPeriod =>
  CAPPED.indexOf(token) % 2 === 0 ? "total" : "30_days";

/** The callers: a browser session, a token without a cap, and tokens capped at 50 credits. */
const ACTORS: readonly string[] = ["session", "free", ...CAPPED];

type Action =
  | {
      readonly kind: "create";
      readonly by: string;
      readonly costs: readonly number[];
      readonly ttl_seconds: number;
    }
  | {
      readonly kind: "complete";
      readonly by: string;
      readonly pick: number;
      readonly cost: number;
    }
  | { readonly kind: "fail"; readonly by: string; readonly pick: number; readonly refund: boolean }
  | {
      readonly kind: "progress";
      readonly by: string;
      readonly pick: number;
      readonly reserve: number;
      readonly spent: number | null;
    }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "revoke"; readonly token: string }
  | { readonly kind: "evict" };

/** Stands for the job's creator, because a capped token may end only its own jobs. */
const CREATOR = "creator";
const by = fc.constantFrom(...ACTORS);
const ender = fc.oneof(fc.constant(CREATOR), by);
const cost = fc.integer({ min: 0, max: 30 });
const pick = fc.nat({ max: 5 });
const ttl_seconds = fc.constantFrom(60, 30 * 24 * 60 * 60);
const costs = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(cost) },
  { weight: 1, arbitrary: fc.array(cost, { minLength: 2, maxLength: 6 }) },
);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("create" as const), by, costs, ttl_seconds }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("complete" as const), by: ender, pick, cost }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("fail" as const),
      by: ender,
      pick,
      refund: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("progress" as const),
      by: ender,
      pick,
      reserve: fc.integer({ min: 0, max: 40 }),
      spent: fc.option(fc.integer({ min: 0, max: 20 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(61_000, 11 * DAY_MS, 31 * DAY_MS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("revoke" as const),
      token: fc.constantFrom(...CAPPED),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("evict" as const) }) },
);

/** A job of the model: the credits it takes from the balance now, and every change of that number. */
interface ModelJob {
  readonly id: string;
  readonly creator: string;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  state: "started" | "timed out" | "over";
  taken: number;
  spent: number | null;
  step: number;
  readonly moves: { readonly credits: number; readonly at_ms: number }[];
}

/** The documented rules of caps, computed from all moves instead of stored sums. */
class Model {
  readonly jobs: ModelJob[] = [];
  readonly revoked = new Set<string>();
  readonly #begin_ms = Date.now();

  get credits(): number {
    return GRANT - this.jobs.reduce((sum, { taken }) => sum + taken, 0);
  }

  /**
   * The credits that a token has spent in the current window. Spending counts in the window in which it happens; a
   * refund counts only in the window in which its job was created.
   */
  spentBy(token: string): number {
    const windowOf = (at_ms: number): number =>
      periodOf(token) === "total" ? 0 : Math.floor((at_ms - this.#begin_ms) / (30 * DAY_MS));
    const now = windowOf(Date.now());
    const counted = this.jobs
      .filter(({ creator }) => creator === token)
      .flatMap(({ moves, created_at_ms }) =>
        moves.filter(
          ({ credits, at_ms }) =>
            windowOf(at_ms) === now && (credits > 0 || windowOf(created_at_ms) === now),
        ),
      );
    return counted.reduce((sum, { credits }) => sum + credits, 0);
  }

  /** Revokes a token, and expires its started jobs: they cost what they spent. */
  revoke(token: string): void {
    this.revoked.add(token);
    for (const job of this.jobs) {
      if (job.state !== "started" || job.creator !== token) continue;
      job.state = "timed out";
      this.take(job, job.spent ?? 0);
    }
  }

  mayAct(by: string): boolean {
    return !this.revoked.has(by);
  }

  /** Whether the caller's cap allows a job to take this many more credits. */
  fitsCap(by: string, more: number): boolean {
    return !CAPPED.includes(by) || more <= 0 || this.spentBy(by) + more <= CAP;
  }

  take(job: ModelJob, taken: number): void {
    job.moves.push({ credits: taken - job.taken, at_ms: Date.now() });
    job.taken = taken;
  }

  /** Expires overdue jobs: they cost what they spent. */
  endOverdue(): void {
    for (const job of this.jobs) {
      if (job.state !== "started" || job.expires_at_ms > Date.now()) continue;
      job.state = "timed out";
      this.take(job, job.spent ?? 0);
    }
  }
}

async function openAccount(identity_id: string) {
  const account = env.ACCOUNT.getByName(identity_id);
  await account.wallet(SESSION, { app: { slug: "demo", starter_credits: GRANT } });
  for (const token of ["free", ...CAPPED]) {
    const caps = token === "free" ? [] : [{ credits: CAP, period: periodOf(token) }];
    await account.issueAllowance(SESSION, {
      id: token,
      label: token,
      app_slug: null,
      limits: { access: "write", upstream: false, admin: false, app_slugs: null, caps },
      session_id: "session",
      signin_method: "dev",
      ends_with_session: false,
      expires_at_ms: Date.now() + 10_000 * DAY_MS,
    });
  }
  return account;
}

type AccountStub = Awaited<ReturnType<typeof openAccount>>;

const callerOf = (by: string) => (by === "session" ? SESSION : withToken(by));

/** Performs an action and compares its result with the model's. */
async function carryOut(account: AccountStub, model: Model, action: Action): Promise<void> {
  switch (action.kind) {
    case "evict":
      return evict(account);
    case "wait":
      vi.setSystemTime(Date.now() + action.ms);
      return;
    case "revoke": {
      const revoked = await account.revokeAllowance(SESSION, { id: action.token });
      expect(revoked.ok).toBe(model.mayAct(action.token));
      model.revoke(action.token);
      return;
    }
    case "create":
      return create(account, model, action);
    case "complete":
    case "fail":
      return end(account, model, action);
    case "progress":
      return report(account, model, action);
  }
}

async function create(
  account: AccountStub,
  model: Model,
  { by, costs, ttl_seconds }: Extract<Action, { kind: "create" }>,
): Promise<void> {
  const request = { app_slug: "demo", action: "render", ttl_seconds, metadata_json: null };
  const requests = costs.map((cost_estimate) => ({
    ...request,
    policy: { ...DEFAULT_POLICY },
    cost_estimate,
  }));
  const answer = await account.createJobs(callerOf(by), requests, null);
  expect({ by, ok: answer.ok }).toEqual({ by, ok: model.mayAct(by) });
  if (!answer.ok) return;
  answer.value.value.results.forEach((result, at) => {
    const cost = costs[at] ?? Number.NaN;
    const allowed = model.fitsCap(by, cost) && model.credits >= cost;
    expect({ by, cost, ok: result.ok }).toEqual({ by, cost, ok: allowed });
    if (!result.ok) return;
    const times = { created_at_ms: Date.now(), expires_at_ms: Date.now() + ttl_seconds * 1000 };
    const { job_id: id } = result.value;
    const fresh = { taken: 0, spent: null, step: 0, moves: [] };
    const job: ModelJob = { id, creator: by, ...times, state: "started", ...fresh };
    model.jobs.push(job);
    model.take(job, cost);
  });
}

async function end(
  account: AccountStub,
  model: Model,
  action: Extract<Action, { kind: "complete" | "fail" }>,
): Promise<void> {
  const job = model.jobs[model.jobs.length - 1 - action.pick];
  if (job === undefined) return;
  const by = action.by === CREATOR ? job.creator : action.by;
  const is_own = !CAPPED.includes(by) || job.creator === by;
  const may_end = model.mayAct(by) && is_own;
  const caller = callerOf(by);
  if (action.kind === "fail") {
    const answer = await account.failJob(
      caller,
      { job_id: job.id, refund: action.refund, reason: null, metadata_json: null },
      null,
    );
    const allowed = may_end && job.state === "started";
    expect({ action, ok: answer.ok }).toEqual({ action, ok: allowed });
    if (!allowed) return;
    model.take(job, action.refund ? 0 : job.taken);
  } else {
    const ending = { job_id: job.id, actual_cost: action.cost, metadata_json: null };
    const answer = await account.completeJob(caller, ending, null);
    const fits = model.fitsCap(by, action.cost - job.taken);
    const allowed = may_end && job.state !== "over" && fits;
    expect({ action, ok: answer.ok }).toEqual({ action, ok: allowed });
    if (!allowed) return;
    model.take(job, action.cost);
  }
  job.state = "over";
}

async function report(
  account: AccountStub,
  model: Model,
  action: Extract<Action, { kind: "progress" }>,
): Promise<void> {
  const job = model.jobs[model.jobs.length - 1 - action.pick];
  if (job === undefined) return;
  const by = action.by === CREATOR ? job.creator : action.by;
  const { reserve, spent } = action;
  const is_own = !CAPPED.includes(by) || job.creator === by;
  const added = reserve - job.taken;
  const allowed =
    model.mayAct(by) &&
    is_own &&
    job.state === "started" &&
    (spent ?? job.spent ?? 0) <= reserve &&
    added <= Math.max(0, model.credits) &&
    model.fitsCap(by, added);
  const step = job.step + 1;
  const request = { job_id: job.id, step, reserve, spent, ttl_seconds: null, fingerprint: "one" };
  const answer = await account.reportProgress(callerOf(by), request);
  expect({ action, ok: answer.ok }).toEqual({ action, ok: allowed });
  if (!allowed) return;
  if (added !== 0) model.take(job, reserve);
  Object.assign(job, { spent: spent ?? job.spent, step });
}

async function expectSame(account: AccountStub, model: Model): Promise<void> {
  model.endOverdue();
  const tokens = await account.listAllowances(SESSION);
  if (!tokens.ok) return expect.fail("refused its own owner");
  const shown = tokens.value
    .filter(({ id }) => id !== "free")
    .map(({ id, caps }) => [id, caps[0]?.spent] as const);
  const living = CAPPED.filter((token) => model.mayAct(token));
  expect(new Map(shown)).toEqual(new Map(living.map((token) => [token, model.spentBy(token)])));
}

describe("an account with several capped tokens", () => {
  it(
    "capped tokens spend exactly what a recount of all their jobs says, even over evictions",
    { tags: ["history"], timeout: 180_000 },
    async () => {
      vi.spyOn(console, "warn").mockReturnValue();
      let accounts = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(action, { minLength: 5, maxLength: 40, size: "max" }),
          async (actions) => {
            vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
            const identity_id = `identity ${(accounts += 1)}`;
            const account = await openAccount(identity_id);
            const model = new Model();
            for (const action of actions) {
              await carryOut(account, model, action);
              await expectSame(account, model);
            }
            const wallet = await account.wallet(SESSION, { app: null });
            expect(wallet.ok && wallet.value.account.credits).toBe(model.credits);
            await expectInvariants(identity_id);
            vi.useRealTimers();
          },
        ),
        { numRuns: histories(40) },
      );
    },
  );
});
