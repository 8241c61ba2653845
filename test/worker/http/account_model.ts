/** A model of one account, from the documentation. It stores no sums: each is a recount of what the jobs took. */
import { DAY_MS } from "../../../src/domain/calendar.ts";
import type { JobPolicy } from "../../../src/domain/app_policy.ts";
import type { CapPeriod, SpendingCap } from "../../../src/domain/spending_cap.ts";

/** The apps, with the policy of their jobs and the worth of their grant. */
export const APPS = {
  demo: { settle: "holder", on_expiry: "refund", max_overage_percent: null, starter_credits: 250 },
  kept: { settle: "holder", on_expiry: "charge", max_overage_percent: 50, starter_credits: 40 },
  served: { settle: "app", on_expiry: "refund", max_overage_percent: null, starter_credits: 0 },
  metered: { settle: "app", on_expiry: "charge", max_overage_percent: 0, starter_credits: 0 },
} as const satisfies Record<string, JobPolicy & { starter_credits: number }>;
export type App = keyof typeof APPS;

interface Token {
  /** The token that it was exchanged from. */
  readonly parent?: string;
  readonly apps?: readonly App[];
  readonly caps: readonly SpendingCap[];
  /** Caps that its holder may change to. */
  readonly other_caps?: readonly SpendingCap[];
}

const cap = (credits: number, period: CapPeriod): SpendingCap => ({ credits, period });

/** Two personal access tokens, and two OAuth connections with the tokens that were exchanged from them. */
export const TOKENS: Readonly<Record<string, Token>> = {
  agent: {
    caps: [cap(60, "day"), cap(90, "month")],
    other_caps: [cap(30, "day"), cap(80, "total")],
  },
  monthly: { caps: [cap(50, "month")], other_caps: [cap(25, "month")] },
  root: { caps: [cap(90, "total")], other_caps: [cap(40, "total"), cap(30, "week")] },
  child: { parent: "root", caps: [cap(70, "total"), cap(40, "day")] },
  grandchild: { parent: "child", caps: [], apps: ["demo", "kept", "served"] },
  leaf: { parent: "grandchild", caps: [cap(30, "week")] },
  sibling: { parent: "root", caps: [cap(60, "month")] },
  free: { caps: [] },
  branch: { parent: "free", caps: [cap(45, "week"), cap(60, "total")] },
};

/** A token and its ancestors; empty for another caller. */
export function pathOf(by: string): readonly string[] {
  const token = TOKENS[by];
  if (token === undefined) return [];
  return [by, ...(token.parent === undefined ? [] : pathOf(token.parent))];
}

/** The caller with the key of an app. */
export const keyOf = (app: App): string => `key of ${app}`;
export const appOfKey = (by: string): App | null =>
  (Object.keys(APPS) as App[]).find((app) => by === keyOf(app)) ?? null;

interface Fields {
  readonly jobs: readonly Body[];
  readonly app: App;
  readonly approval: string;
  readonly job_id: string;
  readonly refund: boolean;
  readonly action: string;
  readonly reason: string;
  readonly run: string;
  readonly cost_estimate: number;
  readonly ttl_seconds: number;
  readonly actual_cost: number;
  readonly cost: number;
  readonly step: number;
  readonly reserve: number;
  readonly spent: number;
  readonly amount: number;
}

/** The body of any request. */
export type Body = { readonly [Name in keyof Fields]?: Fields[Name] | undefined };

export interface Request {
  readonly by: string;
  readonly path: string;
  readonly body: Body;
  /** The idempotency key; null: none. */
  readonly key: string | null;
}

/** The first response to a request that can be repeated. */
interface First {
  readonly body: string;
  readonly by: string;
  readonly text: string;
  readonly at_ms: number;
}

interface Approval {
  readonly by: string;
  readonly job: Body;
  readonly expires_at_ms: number;
  state: "open" | "approved" | "denied" | "used";
}

export interface Job {
  /** Empty until the response says it. */
  id: string;
  readonly app: App;
  readonly by: string;
  readonly estimate: number;
  /** What the holder approved beyond the caps; 0: nothing. */
  readonly approved: number;
  status: "started" | "completed" | "failed";
  failure: "reported" | "expired" | "cancelled" | null;
  reserved: number;
  spent: number | null;
  cost: number;
  refunded: number;
  step: number;
  /** The last step of each run, and the run that took the last of all. */
  readonly steps: Record<string, number>;
  run: string | null;
  last: First | null;
  expires_at_ms: number;
  /** Until when the caps still count its reserve after it expired. */
  claimed_until_ms: number;
  /** Every change of what the caps count. */
  readonly moves: { readonly credits: number; readonly at_ms: number; readonly line: number }[];
}

/** What a job takes from the balance. */
const taken = (job: Job): number =>
  job.status === "started" ? job.reserved : job.cost - job.refunded;
const counted = (job: Job): number => (job.claimed_until_ms > 0 ? job.reserved : taken(job));
const sum = (numbers: readonly number[]): number => numbers.reduce((one, two) => one + two, 0);

/** What a job took and did not give back: each return is of what was taken last. */
function outstanding({ moves }: Job): { credits: number; at_ms: number; line: number }[] {
  const takings: { credits: number; at_ms: number; line: number }[] = [];
  for (const move of moves) {
    if (move.credits > 0) takings.push({ ...move });
    for (let back = 0 - move.credits; back > 0;) {
      const last = takings.at(-1);
      if (last === undefined) break;
      const given = Math.min(back, last.credits);
      last.credits -= given;
      back -= given;
      if (last.credits === 0) takings.pop();
    }
  }
  return takings;
}

/** The name of a period at a time, by the calendar's own functions. */
function periodName(period: CapPeriod, at_ms: number): string {
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
    case "total":
      return "always";
  }
}

interface Cap extends SpendingCap {
  /** The number of moves before the cap was set. */
  readonly since_line: number;
}

/** The refusal code of a request, or the job that it created or changed. */
export type Outcome = string | Job;

export class Model {
  readonly jobs: Job[] = [];
  readonly granted = new Set<App>();
  readonly approvals = new Map<string, Approval>();
  is_suspended = false;
  /** The apps whose keys may act here. */
  readonly #opened = new Set<App>();
  readonly #caps = new Map<string, readonly Cap[]>();
  readonly #ends = new Map<string, number>();
  readonly #firsts = new Map<string, First>();
  #moves = 0;

  constructor() {
    for (const [token, { caps }] of Object.entries(TOKENS)) this.change(token, caps);
  }

  get credits(): number {
    const grants = [...this.granted].map((app) => APPS[app].starter_credits);
    return sum(grants) - sum(this.jobs.map(taken));
  }

  get held(): number {
    return sum(this.jobs.map(({ status, reserved }) => (status === "started" ? reserved : 0)));
  }

  /** The caps of each living token, with what is spent of them. */
  get spending(): Record<string, readonly object[]> {
    const living = Object.keys(TOKENS).filter((token) => !this.hasEnded(token));
    return Object.fromEntries(
      living.map((token) => [
        token,
        this.#capsOf(token).map((one) => ({
          credits: one.credits,
          period: one.period,
          spent: this.#spent(token, one),
        })),
      ]),
    );
  }

  /** The room of a token under its caps and those of its ancestors; undefined: there is no cap. */
  room(by: string): number | undefined {
    const rooms = pathOf(by).flatMap((token) =>
      this.#capsOf(token).map((one) => Math.max(0, one.credits - this.#spent(token, one))),
    );
    return rooms.length === 0 ? undefined : Math.min(...rooms);
  }

  hasEnded(token: string): boolean {
    return this.#endOf(token) <= Date.now();
  }

  /** Opens the account for an app, and makes its grant. */
  grant(app: App): boolean {
    this.#opened.add(app);
    const is_due = !this.granted.has(app) && APPS[app].starter_credits > 0;
    if (is_due) this.granted.add(app);
    return is_due;
  }

  /** Replaces a token's caps: one of the same period keeps its spending. */
  change(token: string, caps: readonly SpendingCap[]): void {
    const before = this.#capsOf(token);
    const now = { since_line: this.#moves };
    const kept = (one: SpendingCap) => before.find(({ period }) => period === one.period) ?? now;
    this.#caps.set(
      token,
      caps.map((one) => ({ ...kept(one), ...one })),
    );
  }

  revoke(token: string): void {
    this.#ends.set(token, Math.min(Date.now(), this.#ends.get(token) ?? Infinity));
    for (const job of this.jobs) if (pathOf(job.by).includes(token)) this.#expire(job);
  }

  /** Expires overdue jobs, and ends claims whose time is over. */
  passTime(): void {
    for (const job of this.jobs) {
      if (job.expires_at_ms <= Date.now()) this.#expire(job);
      if (job.claimed_until_ms <= Date.now()) this.#save(job, { claimed_until_ms: 0 });
    }
  }

  /** Why the caller may not make a request at all; null if it may. */
  whyBarred(by: string, path: string): string | null {
    if (by === "operator") return null;
    if (pathOf(by).length > 0 && this.hasEnded(by)) return "unauthorized";
    const app = appOfKey(by);
    if (app !== null && /complete|fail|progress/.test(path)) return null;
    if (app !== null && !this.#opened.has(app)) return "account_unknown";
    return this.is_suspended ? "suspended" : null;
  }

  /** Whether the caller may see the balance. */
  seesCredits(by: string): boolean {
    const app = appOfKey(by);
    return app === null || this.#opened.has(app);
  }

  /** The first response to this request or to another one under its key, while it is kept. */
  first(request: Request): First | null {
    const { by, path, body } = request;
    if (path === "/api/jobs/progress") {
      const job = this.#find(body);
      const is_last = job?.step === body.step && job?.run === body.run;
      return is_last && this.#whyNotEnd(by, job) === null ? (job?.last ?? null) : null;
    }
    const first = request.key === null ? undefined : this.#firsts.get(nameOf(request));
    return first !== undefined && first.at_ms > Date.now() - DAY_MS ? first : null;
  }

  /** Keeps the first response to a request that changed something. */
  keep(request: Request, text: string): void {
    const first = { body: bodyText(request), by: request.by, text, at_ms: Date.now() };
    const job = request.path === "/api/jobs/progress" ? this.#find(request.body) : undefined;
    if (job !== undefined) job.last = first;
    else if (request.key !== null) this.#firsts.set(nameOf(request), first);
  }

  /** The outcome of a request; of a batch, of each item. */
  apply({ by, path, body }: Request): readonly Outcome[] {
    switch (path) {
      case "/api/jobs":
        return [this.#create(by, body)];
      case "/api/jobs/batch":
        return (body.jobs ?? []).map((job) => this.#create(by, job));
      case "/api/jobs/complete/batch":
        return (body.jobs ?? []).map((job) => this.#end(by, "complete", job));
      case "/api/jobs/complete":
        return [this.#end(by, "complete", body)];
      case "/api/jobs/fail":
        return [this.#end(by, "fail", body)];
      case "/api/jobs/progress":
        return [this.#progress(by, body)];
      case "/api/jobs/cancel":
        return [this.#cancel(by, body)];
      default:
        return [this.#refund(body)];
    }
  }

  decide(approval: string, state: "approved" | "denied"): void {
    for (const it of this.approvals.values()) if (it.expires_at_ms <= Date.now()) it.state = "open";
    Object.assign(this.approvals.get(approval) ?? {}, { state });
  }

  #create(by: string, body: Body): Outcome {
    const { app = "demo", cost_estimate: cost = 0, ttl_seconds = 0 } = body;
    const approval = body.approval === undefined ? undefined : this.approvals.get(body.approval);
    if (approval !== undefined) {
      const { job } = approval;
      const is_for = approval.by === by && job.app === app && job.action === body.action;
      if (!is_for || cost > (job.cost_estimate ?? 0)) return "approval_invalid";
      if (approval.state === "denied") return "approval_denied";
      const has_ended = approval.state === "used" || approval.expires_at_ms <= Date.now();
      if (has_ended) return "approval_ended";
    }
    if (!actsFor(by, app) || (appOfKey(by) ?? app) !== app) return "scope";
    const is_approved = approval?.state === "approved";
    if (!is_approved && !this.#fits(by, cost)) return "token_budget_exceeded";
    if (this.credits < cost) return "insufficient_credits";
    if (is_approved) approval.state = "used";
    if (by === "holder" || this.room(by) === undefined) this.#opened.add(app);
    const approved = is_approved ? (approval.job.cost_estimate ?? 0) : 0;
    const none = { failure: null, spent: null, cost: 0, refunded: 0, step: 0, run: null };
    const expires_at_ms = Date.now() + ttl_seconds * 1000;
    const fresh = { ...none, last: null, steps: {}, moves: [], expires_at_ms, claimed_until_ms: 0 };
    const of = { app, by, estimate: cost, approved, reserved: cost };
    const job: Job = { id: "", ...of, status: "started", ...fresh };
    this.jobs.push(job);
    return this.#save(job, {});
  }

  #end(by: string, how: "complete" | "fail", body: Body): Outcome {
    const job = this.#find(body);
    const not_allowed = this.#whyNotEnd(by, job);
    if (job === undefined || not_allowed !== null) return not_allowed ?? "";
    if ((body.step ?? job.step) < job.step) return "step_too_old";
    const is_late = how === "complete" && endedEarly(job) && job.refunded === 0;
    if (job.status !== "started" && !is_late) return "job_ended";
    if (how === "complete") {
      const { actual_cost: cost = 0 } = body;
      const not_cost = exceedsLimit(job, cost) ? "overage_limit" : this.#whyOverCap(by, job, cost);
      if (not_cost !== null) return not_cost;
      return this.#save(job, { status: "completed", failure: null, cost, claimed_until_ms: 0 });
    }
    const cost = body.cost ?? (body.refund === false ? job.reserved : 0);
    if (cost > job.reserved) return "spent_limit";
    return this.#save(job, { status: "failed", failure: "reported", cost });
  }

  #progress(by: string, body: Body): Outcome {
    const job = this.#find(body);
    const not_allowed = this.#whyNotEnd(by, job);
    if (job === undefined || not_allowed !== null) return not_allowed ?? "";
    const { step = 0, run = "", reserve = job.reserved, spent = job.spent, ttl_seconds } = body;
    if (step <= job.step) return "step_too_old";
    const added = reserve - job.reserved;
    const not_writing = this.seesCredits(by) ? this.is_suspended && "suspended" : "account_unknown";
    const is_raised = job.status === "started" && added > 0;
    if (is_raised && appOfKey(by) !== null && not_writing !== false) return not_writing;
    if (job.status !== "started") return "job_ended";
    if ((spent ?? 0) > reserve) return "spent_limit";
    if (is_raised && exceedsLimit(job, reserve)) return "overage_limit";
    if (is_raised && added > this.credits) return "insufficient_credits";
    const over_cap = is_raised ? this.#whyOverCap(by, job, reserve) : null;
    if (over_cap !== null) return over_cap;
    job.steps[run] = step;
    const ttl_ms = ttl_seconds === undefined ? null : ttl_seconds * 1000;
    const expires_at_ms = ttl_ms === null ? job.expires_at_ms : Date.now() + ttl_ms;
    return this.#save(job, { reserved: reserve, spent, step, run, expires_at_ms });
  }

  #cancel(by: string, body: Body): Outcome {
    const job = this.#find(body);
    if (by !== "holder") return "scope";
    if (job === undefined) return "job_unknown";
    if (job.status !== "started" && !endedEarly(job)) return "job_ended";
    this.#expire(job, "cancelled");
    return job;
  }

  #refund(body: Body): Outcome {
    const job = this.#find(body);
    if (job === undefined) return "job_not_found";
    const left = job.cost - job.refunded;
    const { amount = left } = body;
    if (job.status === "started" || amount === 0 || amount > left) return "refund_limit";
    return this.#save(job, { refunded: job.refunded + amount, claimed_until_ms: 0 });
  }

  /** Changes a job, and notes what this means for the caps. */
  #save(job: Job, change: Partial<Job>): Job {
    Object.assign(job, change);
    const credits = counted(job) - sum(job.moves.map((move) => move.credits));
    if (credits !== 0) job.moves.push({ credits, at_ms: Date.now(), line: this.#moves });
    if (credits !== 0) this.#moves += 1;
    return job;
  }

  /** Expires a started job: it costs what it spent, or what its policy says. If only the app ends it, it claims the rest. */
  #expire(job: Job, failure: "expired" | "cancelled" = "expired"): void {
    if (job.status !== "started") return;
    const { settle, on_expiry } = APPS[job.app];
    const cost = job.spent ?? (on_expiry === "charge" ? job.reserved : 0);
    const claims = settle === "app" && pathOf(job.by).length > 0 && job.reserved > cost;
    const claimed_until_ms = claims ? Math.min(Date.now(), job.expires_at_ms) + 7 * DAY_MS : 0;
    this.#save(job, { status: "failed", failure, cost, claimed_until_ms });
  }

  #find({ job_id }: Body): Job | undefined {
    return this.jobs.find(({ id }) => id === job_id);
  }

  #whyNotEnd(by: string, job: Job | undefined): string | null {
    const app = appOfKey(by);
    if (job === undefined || (app !== null && app !== job.app)) {
      return this.seesCredits(by) ? "job_unknown" : "account_unknown";
    }
    if (app !== null) return null;
    if (APPS[job.app].settle === "app") return "app_settles";
    const is_own = pathOf(job.by).includes(by);
    return (this.room(by) !== undefined && !is_own) || !actsFor(by, job.app) ? "scope" : null;
  }

  /** Why a capped caller, or an app's key, may not let a job take so many credits. */
  #whyOverCap(by: string, job: Job, credits: number): string | null {
    if (appOfKey(by) === null && this.room(by) === undefined) return null;
    const has_ended = this.room(job.by) !== undefined && this.hasEnded(job.by);
    if (has_ended && credits > job.reserved) return "scope";
    const more = Math.min(credits - counted(job), credits - job.approved);
    return this.#fits(job.by, more) ? null : "token_budget_exceeded";
  }

  #fits(by: string, more: number): boolean {
    return more <= 0 || more <= (this.room(by) ?? more);
  }

  #capsOf(token: string): readonly Cap[] {
    return this.#caps.get(token) ?? [];
  }

  /** When a token ended, itself or with an ancestor. */
  #endOf(token: string): number {
    return Math.min(...pathOf(token).map((one) => this.#ends.get(one) ?? Infinity));
  }

  /** What a token and its descendants spent in the current period of a cap. A token that ended begins no new period. */
  #spent(token: string, { period, since_line }: Cap): number {
    const nameAt = (at_ms: number) => periodName(period, Math.min(at_ms, this.#endOf(token)));
    return sum(
      this.jobs
        .filter(({ by }) => pathOf(by).includes(token))
        .flatMap(outstanding)
        .filter(({ at_ms, line }) => line >= since_line && nameAt(at_ms) === nameAt(Date.now()))
        .map(({ credits }) => credits),
    );
  }
}

/** Whether a job expired or was cancelled: then it may be completed late. */
const endedEarly = ({ failure }: Job): boolean => failure === "expired" || failure === "cancelled";

const actsFor = (by: string, app: App): boolean =>
  pathOf(by).every((token) => TOKENS[token]?.apps?.includes(app) ?? true);

function exceedsLimit({ app, estimate }: Job, cost: number): boolean {
  const { max_overage_percent: percent } = APPS[app];
  return percent !== null && (cost - estimate) * 100 > estimate * percent;
}

/** A key belongs to a caller and an endpoint; that of an end also to its job. */
const nameOf = ({ by, path, body, key }: Request): string => [by, path, body.job_id, key].join(" ");

/** A request and its repetition with an approval are one under their key. */
export const bodyText = ({ body }: Request): string =>
  JSON.stringify({ ...body, approval: undefined });

/** A job as the API shows it. */
export function shownJob(job: Job): Readonly<Record<string, unknown>> {
  const { id, app: app_slug, status, reserved, cost: actual_cost, refunded, step, spent } = job;
  return {
    id,
    app_slug,
    status,
    reserved,
    actual_cost,
    refunded,
    step,
    spent,
    failure: job.failure,
  };
}
