import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { DEFAULT_POLICY } from "../../../../src/domain/app_policy.ts";
import { APPROVAL_TTL_MS, type ApprovalState } from "../../../../src/domain/job_approval.ts";
import { DAY_MS } from "../../../../src/domain/calendar.ts";
import { evict } from "../../support/evict.ts";
import { expectInvariants } from "../invariants.ts";
import { histories } from "../../support/histories.ts";
import { withToken } from "../../support/allowances.ts";
import type { CapPeriod, SpendingCap } from "../../../../src/domain/spending_cap.ts";

const CAP = 50;
const GRANT = 400;
const SESSION = { kind: "holder" } as const;
/** The key of the jobs' app. It is bound by the caps of a job's creator. */
const APP_KEY = "app";
const APP = { kind: "app", app_slug: "demo", key_hash: "0".repeat(64) } as const;
const CLAIM_MS = 7 * DAY_MS;
const JOB = { app_slug: "demo", action: "render", metadata_json: null, policy: DEFAULT_POLICY };

/** The name of a period at a time, by the calendar's own functions. */
function periodName(period: CapPeriod, at_ms: number, begin_ms: number): string {
  const at = new Date(at_ms);
  switch (period) {
    case "day":
      return at.toISOString().slice(0, 10);
    case "week": {
      while (at.getUTCDay() !== 1) at.setUTCDate(at.getUTCDate() - 1);
      return at.toISOString().slice(0, 10);
    }
    case "month":
      return at.toISOString().slice(0, 7);
    case "30_days":
      return String(Math.floor((at_ms - begin_ms) / (30 * DAY_MS)));
    case "total":
      return "always";
  }
}

interface Token {
  /** The token that it was exchanged from. */
  readonly parent?: string;
  readonly caps: readonly SpendingCap[];
  /** Caps of the same periods that its holder may change to. */
  readonly other_caps?: readonly SpendingCap[];
}

const cap = (credits: number, period: CapPeriod): SpendingCap => ({ credits, period });

/** Three tokens with their own caps, and two trees of exchanged ones, of four levels and of two. */
const TOKENS: Readonly<Record<string, Token>> = {
  total: { caps: [cap(CAP, "total")] },
  thirty: { caps: [cap(CAP, "30_days")] },
  several: {
    caps: [cap(20, "day"), cap(CAP, "month")],
    other_caps: [cap(30, "day"), cap(15, "month")],
  },
  root: { caps: [cap(90, "total")], other_caps: [cap(40, "total")] },
  child: { parent: "root", caps: [cap(70, "total"), cap(40, "day")] },
  grandchild: { parent: "child", caps: [] },
  leaf: { parent: "grandchild", caps: [cap(30, "week")] },
  sibling: { parent: "root", caps: [cap(60, "month")] },
  free: { caps: [] },
  agent: { parent: "free", caps: [cap(45, "week"), cap(60, "total")] },
};

/** A token and its ancestors; empty for a session. */
function pathOf(by: string): readonly string[] {
  const token = TOKENS[by];
  if (token === undefined) return [];
  return [by, ...(token.parent === undefined ? [] : pathOf(token.parent))];
}

const isCapped = (by: string): boolean =>
  by === APP_KEY || pathOf(by).some((token) => (TOKENS[token]?.caps.length ?? 0) > 0);

/** Whether a caller may end a job: a capped one only its own and its descendants'; some are ended only by the app. */
const mayEnd = (by: string, { creator, settle }: Pick<ModelJob, "creator" | "settle">): boolean => {
  if (by === APP_KEY) return true;
  return settle === "holder" && (!isCapped(by) || pathOf(creator).includes(by));
};

const ACTORS: readonly string[] = ["session", ...Object.keys(TOKENS)];

type Action =
  | {
      readonly kind: "create";
      readonly by: string;
      readonly costs: readonly number[];
      readonly settle: "holder" | "app";
      readonly ttl_seconds: number;
    }
  | {
      readonly kind: "complete";
      readonly by: string;
      readonly pick: number;
      readonly cost: number;
    }
  | {
      readonly kind: "fail";
      readonly by: string;
      readonly pick: number;
      readonly refund: boolean;
      readonly cost: number | undefined;
    }
  | {
      readonly kind: "progress";
      readonly by: string;
      readonly pick: number;
      readonly reserve: number;
      readonly spent: number | null;
    }
  | {
      readonly kind: "approve";
      readonly by: string;
      readonly credits: number;
      /** Null: the holder does not decide. */
      readonly approves: boolean | null;
      readonly wait_ms: number;
      /** The jobs that are created with it. */
      readonly uses: readonly { readonly by: string; readonly cost: number }[];
    }
  | { readonly kind: "cancel"; readonly pick: number }
  | { readonly kind: "refund"; readonly pick: number; readonly amount: number }
  | { readonly kind: "change"; readonly token: string; readonly other: boolean }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "revoke"; readonly token: string }
  | { readonly kind: "evict" };

/** Stands for the job's creator, because a capped token may end only its own jobs. */
const CREATOR = "creator";
const by = fc.constantFrom(...ACTORS);
const ender = fc.oneof(fc.constant(CREATOR), fc.constant(APP_KEY), by);
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
    arbitrary: fc.record({
      kind: fc.constant("create" as const),
      by,
      costs,
      settle: fc.constantFrom("holder" as const, "app" as const),
      ttl_seconds,
    }),
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
      cost: fc.option(cost, { nil: undefined }),
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
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("approve" as const),
      by: fc.constantFrom(...Object.keys(TOKENS)),
      credits: fc.integer({ min: 20, max: 60 }),
      approves: fc.constantFrom(true, true, true, false, null),
      wait_ms: fc.constantFrom(0, 0, 0, APPROVAL_TTL_MS),
      uses: fc.array(
        fc.record({
          by: fc.oneof({ weight: 4, arbitrary: fc.constant(CREATOR) }, by),
          cost: fc.integer({ min: 10, max: 60 }),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(61_000, 61_000, DAY_MS, CLAIM_MS - 61_000, 11 * DAY_MS, 31 * DAY_MS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel" as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("refund" as const), pick, amount: cost }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("change" as const),
      token: fc.constantFrom("several", "root"),
      other: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("revoke" as const),
      token: fc.constantFrom(...Object.keys(TOKENS).filter((token) => token !== "free")),
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
  /** What the holder approved beyond the caps; 0: nothing. */
  readonly approved: number;
  readonly settle: "holder" | "app";
  reserved: number;
  state: "started" | "timed out" | "over";
  taken: number;
  /** What the caps count: what it took, and for some days what it claims after it expired. */
  counted: number;
  claimed_until_ms: number | null;
  refunded: number;
  spent: number | null;
  step: number;
  /** Every change of what the caps count. */
  readonly moves: { readonly credits: number; readonly at_ms: number }[];
}

/** What a job took and did not give back: each return is of what was taken last. */
function outstanding({ moves }: ModelJob): { credits: number; at_ms: number }[] {
  const taken: { credits: number; at_ms: number }[] = [];
  for (const { credits, at_ms } of moves) {
    if (credits > 0) taken.push({ credits, at_ms });
    for (let back = Math.max(0, 0 - credits); back > 0;) {
      const last = taken.at(-1);
      if (last === undefined) break;
      const given = Math.min(back, last.credits);
      last.credits -= given;
      back -= given;
      if (last.credits === 0) taken.pop();
    }
  }
  return taken;
}

/** The documented rules of caps, computed from all moves instead of stored sums. */
class Model {
  readonly jobs: ModelJob[] = [];
  readonly revoked = new Set<string>();
  /** The tokens with their other caps. */
  readonly changed = new Set<string>();
  readonly #begin_ms = Date.now();

  get credits(): number {
    return GRANT - this.jobs.reduce((sum, { taken }) => sum + taken, 0);
  }

  /**
   * The credits that a token and its descendants have spent in the current window of a cap: what they took in it and did
   * not give back. A job gives back first what it took last.
   */
  spentBy(token: string, period: CapPeriod): number {
    const now = periodName(period, Date.now(), this.#begin_ms);
    return this.jobs
      .filter(({ creator }) => pathOf(creator).includes(token))
      .flatMap(outstanding)
      .filter(({ at_ms }) => periodName(period, at_ms, this.#begin_ms) === now)
      .reduce((sum, { credits }) => sum + credits, 0);
  }

  /** Revokes a token, and expires its and its descendants' started jobs: they cost what they spent. */
  revoke(token: string): void {
    this.revoked.add(token);
    for (const job of this.jobs) {
      if (job.state === "started" && pathOf(job.creator).includes(token)) this.expire(job);
    }
  }

  /** Expires a job: it costs what it spent. If only the app may settle it, it still claims its reserve. */
  expire(job: ModelJob): void {
    const claims = job.settle === "app" && job.reserved > (job.spent ?? 0);
    job.state = "timed out";
    job.claimed_until_ms = claims ? Math.min(Date.now(), job.expires_at_ms) + CLAIM_MS : null;
    this.take(job, job.spent ?? 0, claims ? job.reserved : (job.spent ?? 0));
  }

  capsOf(token: string): readonly SpendingCap[] {
    const { caps = [], other_caps = [] } = TOKENS[token] ?? {};
    return this.changed.has(token) ? other_caps : caps;
  }

  mayAct(by: string): boolean {
    return !pathOf(by).some((token) => this.revoked.has(token));
  }

  /** Whether every cap of a token's path allows a job to take this many more credits. */
  fitsCaps(by: string, more: number): boolean {
    const fits = (token: string): boolean =>
      this.capsOf(token).every(
        ({ credits, period }) => this.spentBy(token, period) + more <= credits,
      );
    return more <= 0 || pathOf(by).every(fits);
  }

  /** Whether the caps allow a job to take so many credits. They bind it beyond what the holder approved. */
  mayTake({ creator, counted, approved }: ModelJob, credits: number): boolean {
    return this.fitsCaps(creator, Math.min(credits - counted, credits - approved));
  }

  /** Whether a token of a job's path has ended, and one has a cap. Then the job may cost its reserve at most. */
  hasEndedCap({ creator }: ModelJob): boolean {
    return isCapped(creator) && !this.mayAct(creator);
  }

  start(
    job: Pick<ModelJob, "id" | "creator" | "reserved" | "approved" | "settle">,
    ttl_seconds: number,
  ): void {
    const times = { created_at_ms: Date.now(), expires_at_ms: Date.now() + ttl_seconds * 1000 };
    const none = { taken: 0, counted: 0, refunded: 0, claimed_until_ms: null };
    const fresh = { ...none, spent: null, step: 0, moves: [] };
    const started: ModelJob = { ...job, ...times, state: "started", ...fresh };
    this.jobs.push(started);
    this.take(started, job.reserved);
  }

  take(job: ModelJob, taken: number, counted = taken): void {
    job.moves.push({ credits: counted - job.counted, at_ms: Date.now() });
    Object.assign(job, { taken, counted });
  }

  /** Expires overdue jobs, and ends claims whose time is over. */
  endOverdue(): void {
    for (const job of this.jobs) {
      if (job.state === "started" && job.expires_at_ms <= Date.now()) this.expire(job);
      if (job.claimed_until_ms === null || job.claimed_until_ms > Date.now()) continue;
      job.claimed_until_ms = null;
      this.take(job, job.taken);
    }
  }
}

/** The ids of the tokens, by their names here. */
type Ids = ReadonlyMap<string, string>;

async function openAccount(identity_id: string) {
  const account = env.ACCOUNT.getByName(identity_id);
  await account.wallet(SESSION, { app: { slug: "demo", starter_credits: GRANT } });
  const ids = new Map<string, string>();
  for (const [name, { parent, caps }] of Object.entries(TOKENS)) {
    if (parent === undefined) {
      ids.set(name, name);
      await account.issueAllowance(SESSION, {
        id: name,
        label: name,
        app_slug: null,
        limits: { access: "write", upstream: false, admin: false, app_slugs: null, caps },
        session_id: "session",
        signin_method: "dev",
        ends_with_session: false,
        expires_at_ms: Date.now() + 10_000 * DAY_MS,
      });
      continue;
    }
    const caller = withToken(ids.get(parent) ?? "");
    const exchanged = await account.exchange(caller, {
      credential: caller.credential,
      client_id: null,
      client_asserted: false,
      client_proven: false,
      subject: { kind: "access", expires_at_ms: Infinity },
      resource: undefined,
      owns_audience: false,
      caps,
      // So that a child without caps is narrower too.
      expires_at_ms: Date.now() + (9_000 - pathOf(name).length * 1_000) * DAY_MS,
    });
    if (!exchanged.ok || exchanged.value.kind !== "child") return expect.fail("no child");
    ids.set(name, exchanged.value.allowance_id);
  }
  return { account, ids };
}

type AccountStub = Awaited<ReturnType<typeof openAccount>>["account"];

const callerOf = (ids: Ids, by: string) => {
  if (by === APP_KEY) return APP;
  return by === "session" ? SESSION : withToken(ids.get(by) ?? "");
};

/** Performs an action and compares its result with the model's. */
async function carryOut(
  account: AccountStub,
  identity_id: string,
  ids: Ids,
  model: Model,
  action: Action,
): Promise<void> {
  switch (action.kind) {
    case "evict":
      return evict(account);
    case "wait":
      vi.setSystemTime(Date.now() + action.ms);
      return;
    case "revoke": {
      const revoked = await account.revokeAllowance(SESSION, { id: ids.get(action.token) ?? "" });
      const was_living = !model.revoked.has(action.token);
      // An unused descendant of a revoked token is gone already.
      if (model.mayAct(action.token) || !was_living) expect(revoked.ok).toBe(was_living);
      if (was_living) model.revoke(action.token);
      return;
    }
    case "change": {
      const { token, other } = action;
      const { caps = [], other_caps = [] } = TOKENS[token] ?? {};
      const wanted = [...(other ? other_caps : caps)];
      const request = { id: ids.get(token) ?? "", may_widen: true, caps: wanted };
      const changed = await account.changeAllowance(SESSION, request);
      expect(changed.ok).toBe(model.mayAct(token));
      if (changed.ok) model.changed[other ? "add" : "delete"](token);
      return;
    }
    case "cancel": {
      const job = model.jobs[model.jobs.length - 1 - action.pick];
      if (job === undefined) return;
      const cancelled = await account.cancelJob(SESSION, { job_id: job.id });
      expect(cancelled.ok).toBe(job.state !== "over");
      if (job.state === "started") model.expire(job);
      return;
    }
    case "refund": {
      const job = model.jobs[model.jobs.length - 1 - action.pick];
      if (job === undefined) return;
      const { amount } = action;
      const refunded = await account.refundJob({ job_id: job.id, amount, note: "why" }, null);
      const may_refund = job.state !== "started" && amount > 0 && amount <= job.taken;
      expect({ action, ok: refunded.ok }).toEqual({ action, ok: may_refund });
      if (!may_refund) return;
      Object.assign(job, { state: "over", claimed_until_ms: null });
      model.take(job, job.taken - amount);
      return;
    }
    case "create":
      return create(account, ids, model, action);
    case "complete":
    case "fail":
      return end(account, ids, model, action);
    case "progress":
      return report(account, ids, model, action);
    case "approve":
      return approve(account, identity_id, ids, model, action);
  }
}

async function create(
  account: AccountStub,
  ids: Ids,
  model: Model,
  { by, costs, settle, ttl_seconds }: Extract<Action, { kind: "create" }>,
): Promise<void> {
  const policy = { ...DEFAULT_POLICY, settle };
  const requests = costs.map((cost_estimate) => ({ ...JOB, policy, ttl_seconds, cost_estimate }));
  const answer = await account.createJobs(callerOf(ids, by), requests, null);
  expect({ by, ok: answer.ok }).toEqual({ by, ok: model.mayAct(by) });
  if (!answer.ok) return;
  answer.value.value.results.forEach((result, at) => {
    const cost = costs[at] ?? Number.NaN;
    const allowed = model.fitsCaps(by, cost) && model.credits >= cost;
    expect({ by, cost, ok: result.ok }).toEqual({ by, cost, ok: allowed });
    if (!result.ok) return;
    const { job_id: id } = result.value;
    model.start({ id, creator: by, reserved: cost, approved: 0, settle }, ttl_seconds);
  });
}

/** Decides about a job beyond a cap, and creates jobs with the approval. */
async function approve(
  account: AccountStub,
  identity_id: string,
  ids: Ids,
  model: Model,
  action: Extract<Action, { kind: "approve" }>,
): Promise<void> {
  const { credits, approves, wait_ms, uses } = action;
  const approval = {
    id: crypto.randomUUID(),
    identity_id,
    allowance_id: ids.get(action.by) ?? "",
    app_slug: JOB.app_slug,
    action: JOB.action,
    credits,
    cap: cap(CAP, "total"),
    expires_at_ms: Date.now() + APPROVAL_TTL_MS,
  };
  let state: ApprovalState = "open";
  if (approves !== null) {
    const decided = await account.decideApproval(SESSION, approval, approves);
    expect(decided.ok).toBe(model.mayAct(action.by));
    if (decided.ok) state = approves ? "approved" : "denied";
  }
  vi.setSystemTime(Date.now() + wait_ms);
  for (const use of uses) {
    model.endOverdue();
    const by = use.by === CREATOR ? action.by : use.by;
    const request = { ...JOB, cost_estimate: use.cost, ttl_seconds: 3_600, approval };
    const answer = await account.createJob(callerOf(ids, by), request, null);
    const is_good = by === action.by && use.cost <= credits && wait_ms === 0;
    const is_usable = state === "open" || state === "approved";
    const fits = state === "approved" || model.fitsCaps(by, use.cost);
    const allowed = model.mayAct(by) && is_good && is_usable && fits && model.credits >= use.cost;
    expect({ action, use, ok: answer.ok }).toEqual({ action, use, ok: allowed });
    if (!answer.ok) continue;
    const approved = state === "approved" ? credits : 0;
    if (state === "approved") state = "used";
    const { job_id: id } = answer.value.value;
    const settle = JOB.policy.settle;
    model.start({ id, creator: by, reserved: use.cost, approved, settle }, 3_600);
  }
}

async function end(
  account: AccountStub,
  ids: Ids,
  model: Model,
  action: Extract<Action, { kind: "complete" | "fail" }>,
): Promise<void> {
  const job = model.jobs[model.jobs.length - 1 - action.pick];
  if (job === undefined) return;
  const by = action.by === CREATOR ? job.creator : action.by;
  const is_own = mayEnd(by, job);
  const may_end = model.mayAct(by) && is_own;
  const caller = callerOf(ids, by);
  if (action.kind === "fail") {
    const { refund, cost } = action;
    const ending = { job_id: job.id, refund, cost, reason: null, metadata_json: null };
    const answer = await account.failJob(caller, ending, null);
    const is_covered = cost === undefined || cost <= job.reserved;
    const allowed = may_end && job.state === "started" && is_covered;
    expect({ action, ok: answer.ok }).toEqual({ action, ok: allowed });
    if (!allowed) return;
    model.take(job, cost ?? (refund ? 0 : job.taken));
  } else {
    const ending = { job_id: job.id, actual_cost: action.cost, metadata_json: null };
    const answer = await account.completeJob(caller, ending, null);
    const is_over = action.cost > job.reserved && model.hasEndedCap(job);
    const fits = !isCapped(by) || (!is_over && model.mayTake(job, action.cost));
    const allowed = may_end && job.state !== "over" && fits;
    expect({ action, ok: answer.ok }).toEqual({ action, ok: allowed });
    if (!allowed) return;
    model.take(job, action.cost);
  }
  Object.assign(job, { state: "over", claimed_until_ms: null });
}

async function report(
  account: AccountStub,
  ids: Ids,
  model: Model,
  action: Extract<Action, { kind: "progress" }>,
): Promise<void> {
  const job = model.jobs[model.jobs.length - 1 - action.pick];
  if (job === undefined) return;
  const by = action.by === CREATOR ? job.creator : action.by;
  const { reserve, spent } = action;
  const is_own = mayEnd(by, job);
  const added = reserve - job.taken;
  const allowed =
    model.mayAct(by) &&
    is_own &&
    job.state === "started" &&
    (spent ?? job.spent ?? 0) <= reserve &&
    added <= Math.max(0, model.credits) &&
    (!isCapped(by) || model.mayTake(job, reserve));
  const step = job.step + 1;
  const request = { job_id: job.id, step, reserve, spent, ttl_seconds: null, fingerprint: "one" };
  const answer = await account.reportProgress(callerOf(ids, by), request);
  expect({ action, ok: answer.ok }).toEqual({ action, ok: allowed });
  if (!allowed) return;
  if (added !== 0) model.take(job, reserve);
  Object.assign(job, { spent: spent ?? job.spent, step, reserved: reserve });
}

async function expectSame(account: AccountStub, ids: Ids, model: Model): Promise<void> {
  model.endOverdue();
  const tokens = await account.listAllowances(SESSION);
  if (!tokens.ok) return expect.fail("refused its own owner");
  const shown = new Map(tokens.value.map(({ id, caps }) => [id, caps.map(({ spent }) => spent)]));
  const expected = new Map(
    Object.keys(TOKENS)
      .filter((token) => model.mayAct(token))
      .map((token) => [
        ids.get(token) ?? "",
        model.capsOf(token).map(({ period }) => model.spentBy(token, period)),
      ]),
  );
  expect(shown).toEqual(expected);
}

describe("an account with trees of capped tokens", () => {
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
            const { account, ids } = await openAccount(identity_id);
            const model = new Model();
            for (const action of actions) {
              await carryOut(account, identity_id, ids, model, action);
              await expectSame(account, ids, model);
            }
            const wallet = await account.wallet(SESSION, { app: null });
            expect(wallet.ok && wallet.value.account.credits).toBe(model.credits);
            await expectInvariants(identity_id);
            vi.useRealTimers();
          },
        ),
        {
          numRuns: histories(40),
          // Rare at random: an approved job holds more within its approval, and is completed late.
          examples: [
            [
              [
                {
                  kind: "approve",
                  by: "leaf",
                  credits: 60,
                  approves: true,
                  wait_ms: 0,
                  uses: [{ by: CREATOR, cost: 50 }],
                },
                { kind: "progress", by: CREATOR, pick: 0, reserve: 55, spent: null },
                { kind: "wait", ms: DAY_MS },
                { kind: "complete", by: CREATOR, pick: 0, cost: 60 },
              ],
            ],
          ],
        },
      );
    },
  );
});
