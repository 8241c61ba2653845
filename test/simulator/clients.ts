/**
 * Everybody who uses an account: the holder in browsers, apps with their keys, tokens with caps and those exchanged from
 * them, runs of one job on two machines, operators, a payment service, and the schedule. They retry as our clients do.
 */
import type { Answer, Caller, CreateJobRequest, Once } from "../../src/account/contract.ts";
import type { JobPolicy } from "../../src/domain/app_policy.ts";
import type { Terms } from "../../src/domain/lots.ts";
import type { TopUpPlan } from "../../src/domain/top_up.ts";
import type { Random } from "./platform/random.ts";
import { MONTH_LIMIT_MINOR } from "./stripe.ts";
import { DAILY_BUDGET, WEBHOOKS, type World } from "./world.ts";

const ATTEMPTS_MAX = 5;
const POLICIES: Readonly<Record<string, JobPolicy>> = {
  alpha: { settle: "holder", on_expiry: "refund", max_overage_percent: null },
  beta: { settle: "app", on_expiry: "charge", max_overage_percent: 50 },
  gamma: { settle: "holder", on_expiry: "charge", max_overage_percent: null },
  delta: { settle: "app", on_expiry: "refund", max_overage_percent: 200 },
};
const APPS = Object.keys(POLICIES);
const STARTER_CREDITS = 50;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

interface Payment {
  readonly payment_intent_id: string;
  readonly paid_minor: number;
}

interface KnownJob {
  readonly id: string;
  readonly app_slug: string;
  readonly caller: Caller;
  readonly cost_estimate: number;
}

interface KnownToken {
  readonly id: string;
  readonly total: number | null;
  readonly expires_at_ms: number;
  readonly depth: number;
  /** The token that this one comes from, at any depth; its own id if a person issued it. */
  readonly root: string;
}

interface UsedKey {
  readonly method: string;
  readonly input: readonly unknown[];
  readonly key: string;
}

const HOLDER: Caller = { kind: "holder" };

/** How often each kind of action happens. */
export const ACTIONS = {
  wallet: 4,
  create: 24,
  create_batch: 2,
  use_up: 1,
  complete: 12,
  complete_batch: 2,
  fail: 5,
  cancel: 2,
  progress: 8,
  two_runs: 4,
  read: 2,
  issue: 3,
  exchange: 4,
  revoke: 1.5,
  change_caps: 1,
  end_sessions: 0.3,
  approve: 3,
  adjust: 4,
  refund_job: 3,
  many_lots: 0.1,
  set_top_up: 2,
  change_top_up: 1.5,
  end_top_up: 0.15,
  reconcile: 0.3,
  change_plan: 1,
  save_plan: 0.3,
  update_plan: 0.3,
  suspend: 0.4,
  restore: 0.8,
  stop_app: 0.7,
  allow_app: 1.5,
  purchase: 1.5,
  reversal: 1.5,
  // Days of one account: only in histories of credits with terms.
  late_return: 0,
  reuse_key: 3,
  starter: 1,
  device_login: 0.5,
  rebuild: 0.2,
  repair: 1,
  schedule: 0.5,
} as const;
export type ActionName = keyof typeof ACTIONS;

/** How often in a short history of credits with terms; other actions do not happen. */
export const ACTIONS_ON_TERMS: Readonly<Record<ActionName, number>> = {
  ...(Object.fromEntries(Object.keys(ACTIONS).map((name) => [name, 0])) as Record<
    ActionName,
    number
  >),
  wallet: 4,
  create: 24,
  complete: 14,
  fail: 6,
  cancel: 2,
  progress: 10,
  refund_job: 5,
  adjust: 10,
  purchase: 5,
  reversal: 4,
  late_return: 3,
  change_plan: 4,
  save_plan: 1,
  update_plan: 1,
  set_top_up: 1,
  reconcile: 0.5,
};

/** The clients of one account. */
export class Clients {
  readonly #world: World;
  readonly identity_id: string;
  readonly #jobs: KnownJob[] = [];
  readonly #tokens: KnownToken[] = [];
  readonly #approvals: { id: string; request: CreateJobRequest; caller: Caller }[] = [];
  readonly #payments: Payment[] = [];
  readonly #used_keys: UsedKey[] = [];

  constructor(world: World, identity_id: string) {
    this.#world = world;
    this.identity_id = identity_id;
  }

  /** Does something. `random` belongs to this action only. */
  act(name: ActionName, random: Random): Promise<void> {
    return this.#actions[name](random);
  }

  readonly #actions: Readonly<Record<ActionName, (random: Random) => Promise<void>>> = {
    wallet: async (random) => {
      const slug = random.pick(APPS);
      const starter = {
        expires_after_days: random.chance(0.3) ? random.between(1, 30) : null,
        only_here: random.chance(0.3),
      };
      const is_registered = slug !== "gamma";
      const app = { slug, starter_credits: STARTER_CREDITS, is_registered, starter };
      const wanted = random.chance(0.7) && slug !== "gamma" ? app : null;
      await this.#call("wallet", this.#caller(random), { app: wanted });
    },
    create: (random) => this.#create(random),
    create_batch: async (random) => {
      const caller = this.#caller(random);
      const requests = [
        this.#job(random, caller),
        this.#job(random, caller),
        this.#job(random, caller),
      ];
      const answer = await this.#keyed(random, "createJobs", [caller, requests]);
      const { results } = (answer?.value ?? { results: [] }) as {
        results: Answer<{ job_id: string }>[];
      };
      for (const [at, result] of results.entries()) {
        const request = requests[at];
        if (result.ok && request !== undefined) this.#know(result.value.job_id, request, caller);
      }
    },
    use_up: async (random) => {
      const token = this.#token(random);
      if (token === null) return;
      // A token and those that were exchanged from it share what the first one may spend.
      const family = this.#tokens.filter(({ root }) => root === token.root);
      for (let jobs = random.between(4, 10); jobs > 0; jobs -= 1) {
        const caller = callerOf(random.pick(family).id);
        const request = { ...this.#job(random, caller), cost_estimate: random.between(15, 30) };
        const answer = await this.#keyed(random, "createJob", [caller, request]);
        await this.#created(request, caller, answer);
      }
    },
    complete: async (random) => {
      const job = this.#job_of(random);
      if (job === null) return;
      const caller = this.#settler(random, job);
      await this.#keyed(random, "completeJob", [caller, this.#completion(random, job)]);
    },
    complete_batch: async (random) => {
      const jobs = [this.#job_of(random), this.#job_of(random)].filter((job) => job !== null);
      const [first] = jobs;
      if (first === undefined) return;
      const requests = jobs.map((job) => this.#completion(random, job));
      await this.#keyed(random, "completeJobs", [this.#settler(random, first), requests]);
    },
    fail: async (random) => {
      const job = this.#job_of(random);
      if (job === null) return;
      const cost = random.chance(0.3) ? { cost: random.between(0, job.cost_estimate + 3) } : {};
      const request = {
        job_id: job.id,
        refund: random.chance(0.7),
        reason: null,
        metadata_json: null,
      };
      await this.#keyed(random, "failJob", [this.#settler(random, job), { ...request, ...cost }]);
    },
    cancel: async (random) => {
      const job = this.#job_of(random);
      if (job !== null) await this.#call("cancelJob", HOLDER, { job_id: job.id });
    },
    progress: async (random) => {
      const job = this.#job_of(random);
      if (job !== null)
        await this.#step(random, job, this.#settler(random, job), random.between(1, 6), "one");
    },
    two_runs: (random) => this.#twoRuns(random),
    read: async (random) => {
      const job = this.#job_of(random);
      const caller = this.#caller(random);
      if (job !== null) await this.#call("readJob", caller, job.id);
      await this.#call("listEntries", caller, { limit: 20 });
      await this.#call("listJobs", caller, { limit: 20, status: "started" });
    },
    issue: (random) => this.#issue(random, random.uuid()),
    exchange: async (random) => {
      const token = this.#token(random);
      if (token === null) return;
      const expires_at_ms = token.expires_at_ms - random.between(0, 1) * MINUTE_MS;
      const total = random.between(5, token.total ?? 200);
      const request = {
        credential: credentialOf(token.id),
        client_id: null,
        client_asserted: false,
        client_proven: false,
        subject: { kind: "access", expires_at_ms: this.#now() + DAY_MS },
        resource: undefined,
        owns_audience: false,
        charging_app: null,
        caps: random.chance(0.8) ? [{ credits: total, period: "total" }] : undefined,
        app_slugs: random.chance(0.2) ? [random.pick(APPS)] : undefined,
        expires_at_ms,
      };
      const answer = await this.#call("exchange", callerOf(token.id), request);
      const child = answer?.value as { kind: string; allowance_id: string } | undefined;
      if (child?.kind !== "child") return;
      const { allowance_id: id } = child;
      this.#tokens.push({
        id,
        total: Math.min(total, token.total ?? total),
        expires_at_ms,
        depth: token.depth + 1,
        root: token.root,
      });
    },
    revoke: async (random) => {
      const token = this.#token(random);
      if (token === null) return;
      const caller = random.chance(0.7) ? HOLDER : callerOf(token.id);
      await this.#call("revokeAllowance", caller, { id: token.id });
    },
    change_caps: async (random) => {
      const token = this.#token(random);
      if (token === null || token.total === null || token.depth > 1) return;
      const credits = random.between(1, 2 * token.total);
      const caps = [{ credits, period: "total" }];
      await this.#call("changeAllowance", HOLDER, { id: token.id, caps, may_widen: true });
    },
    end_sessions: async (random) => {
      await this.#service("endSessions", random.chance(0.2) ? "all" : [sessionOf(random)]);
    },
    approve: async (random) => {
      const known = this.#approvals.pop();
      if (known === undefined) return;
      const { id, request, caller } = known;
      await this.#call("decideApproval", HOLDER, id, random.chance(0.8));
      const again = { ...request, approval: id };
      await this.#created(again, caller, await this.#keyed(random, "createJob", [caller, again]));
    },
    adjust: async (random) => {
      const amount = random.chance(0.8) ? random.between(1, 200) : random.between(-100, -1);
      const allow_negative = random.chance(0.5);
      const terms = amount > 0 && random.chance(0.6) ? { terms: this.#terms(random) } : {};
      const request = { amount, note: "by the simulation", allow_negative, ...terms };
      await this.#keyedService(random, "adjustCredits", request);
    },
    refund_job: async (random) => {
      const job = this.#job_of(random);
      if (job === null) return;
      const request = { job_id: job.id, amount: random.between(1, 20), note: "sorry" };
      await this.#keyedService(random, "refundJob", request);
      // A client that never got its answer completes the job again, after the refund.
      const completion = this.#used_keys.findLast(
        ({ method, input }) => method === "completeJob" && jobIdOf(input[1]) === job.id,
      );
      if (completion !== undefined) await this.#repeat(completion, completion.input);
    },
    set_top_up: async (random) => {
      const nonce = random.uuid();
      const plan = topUpPlan(random);
      await this.#call("beginTopUpSetup", HOLDER, { nonce, plan });
      const card = { customer_id: `cus_${nonce}`, payment_method_id: "pm", card: "Visa" };
      // From the holder's page and from the event.
      for (let times = random.between(1, 2); times > 0; times -= 1) {
        await this.#service("finishTopUpSetup", { nonce, card });
      }
    },
    change_top_up: async (random) => {
      await this.#call("changeTopUp", HOLDER, topUpPlan(random));
    },
    end_top_up: async () => {
      await this.#call("endTopUp", HOLDER);
    },
    reconcile: () => this.reconcile(),
    many_lots: async (random) => {
      for (let lots = random.between(20, 60); lots > 0; lots -= 1) {
        const terms = { ...this.#terms(random), expires_at_ms: this.#now() + random.below(DAY_MS) };
        await this.#service("adjustCredits", { amount: 1, note: "one of many", terms }, null);
      }
    },
    change_plan: (random) => {
      const plan = random.pick(["free", "plus", "plus", "pro"]);
      const rules = this.#world.plans.get(plan);
      const back_ms = random.chance(0.3) ? random.below(60 * DAY_MS) : 0;
      const of_plan = rules === undefined ? {} : { rules, anchor_ms: this.#now() - back_ms };
      return this.#keyedService(random, "changePlan", { plan, note: "plan", ...of_plan });
    },
    save_plan: async (random) => this.#world.savePlan(random.pick(["plus", "pro"]), random),
    update_plan: async (random) => {
      const plan = random.pick(["plus", "pro"]);
      await this.#service("updatePlan", { plan, rules: this.#world.plans.get(plan) });
    },
    suspend: () => this.#service("suspend"),
    restore: () => this.#service("restore"),
    stop_app: async (random) => {
      const started_jobs = random.chance(0.5) ? "keep" : "expire";
      await this.#call("stopApp", HOLDER, { slug: random.pick(APPS), started_jobs });
    },
    allow_app: async (random) => {
      await this.#call("allowApp", HOLDER, random.pick(APPS));
    },
    purchase: (random) => this.#buy(random, packageTerms(random)),
    reversal: async (random) => {
      const payment = this.#payments.at(-1 - random.below(3));
      if (payment !== undefined) await this.#reverse(random, payment);
    },
    late_return: (random) => this.#lateReturn(random),
    reuse_key: async (random) => {
      const used = this.#used_keys.at(-1 - random.below(20));
      if (used === undefined) return;
      const [caller, ...request] = used.input;
      const is_of_another = request.length > 0 && random.chance(0.5);
      const input = [is_of_another ? this.#caller(random) : caller, ...request];
      await this.#repeat(used, input, random.chance(0.3) ? "another body" : undefined);
    },
    starter: (random) => this.#starter(random),
    device_login: (random) => this.#deviceLogin(random),
    rebuild: () => this.#service("rebuild"),
    repair: () => this.#service("repair"),
    schedule: async () => {
      await this.#world.engine.checkDeliveries(WEBHOOKS).catch(() => undefined);
    },
  };

  /** The schedule compares the payments with the accounts, and books what is missing. */
  async reconcile(): Promise<void> {
    for (const payment of this.#world.stripe.succeededOf(this.identity_id)) {
      await this.#world.bookPayment(payment);
    }
  }

  async #buy(random: Random, terms: object): Promise<void> {
    const payment_intent_id = `pi_${random.uuid()}`;
    const paid_minor = random.between(100, 5_000);
    this.#payments.push({ payment_intent_id, paid_minor });
    const purchase = {
      checkout_session_id: `cs_${payment_intent_id}`,
      payment_intent_id,
      package_id: "small",
      package_name: "Small",
      credits: random.between(1, 100),
      paid_minor,
      currency: "eur",
      ...terms,
    };
    // The payment service repeats its events.
    for (let times = random.between(1, 3); times > 0; times -= 1) {
      await this.#service("recordPurchase", purchase);
    }
  }

  async #reverse(random: Random, { payment_intent_id, paid_minor }: Payment): Promise<void> {
    const reversal = {
      payment_intent_id,
      source_id: `re_${random.below(3)}`,
      amount_minor: random.between(1, paid_minor),
      state: random.pick(["withheld", "withheld", "lost", "reinstated", "inquiry"]),
    };
    for (let times = random.between(1, 2); times > 0; times -= 1) {
      await this.#service("recordReversal", reversal);
    }
  }

  /** Jobs cost credits that expire, and operators give them back later. Meanwhile their purchase is refunded, in parts. */
  async #lateReturn(random: Random): Promise<void> {
    await this.#buy(random, { expires_after_days: 1, app_slugs: ["alpha"] });
    const payment = this.#payments.at(-1);
    const request = { ...this.#job(random, HOLDER), app_slug: "alpha", policy: POLICIES["alpha"] };
    for (let jobs = random.between(1, 3); jobs > 0; jobs -= 1) {
      const guard = { key: random.uuid(), fingerprint: fingerprintOf(request) };
      const answer = await this.#attempt("createJob", [HOLDER, request, guard]);
      const { job_id } = (answer?.value ?? {}) as { job_id?: string };
      if (job_id === undefined || payment === undefined) continue;
      const actual_cost = request.cost_estimate;
      const completion = [HOLDER, { job_id, actual_cost, metadata_json: null }];
      await this.#keyed(random, "completeJob", completion);
      await this.#world.pause(random.between(1, 2 * DAY_MS));
      const amount = random.between(1, Math.max(1, actual_cost));
      await this.#keyedService(random, "refundJob", { job_id, amount, note: "late" });
      await this.#world.pause(random.between(1, 3 * DAY_MS));
      await this.#reverse(random, payment);
    }
  }

  /** Two machines work on one job: the one that is behind loses it. */
  async #twoRuns(random: Random): Promise<void> {
    const caller = this.#caller(random);
    const request = { ...this.#job(random, caller), ttl_seconds: 600 };
    const guard = { key: random.uuid(), fingerprint: fingerprintOf(request) };
    const run = async (name: string, first_step: number): Promise<void> => {
      const answer = await this.#attempt("createJob", [caller, request, guard]);
      const { job_id: id } = (answer?.value ?? {}) as { job_id?: string };
      if (id === undefined) return;
      const job = { id, app_slug: request.app_slug, caller, cost_estimate: request.cost_estimate };
      if (name === "one") this.#jobs.push(job);
      const settler = this.#settler(random, job);
      let step = first_step;
      for (let steps = random.between(0, 3); steps > 0; steps -= 1) {
        await this.#step(random, job, settler, step, name);
        await this.#world.pause(random.between(10, 20_000));
        step += 1;
      }
      const actual_cost = random.between(0, job.cost_estimate);
      const completion = { job_id: id, step: step - 1, actual_cost, metadata_json: null };
      const input = [settler, completion];
      await this.#attempt("completeJob", [
        ...input,
        { key: `${name} ${id}`, fingerprint: fingerprintOf(input) },
      ]);
    };
    await Promise.all([run("one", 1), run("two", random.between(1, 3))]);
  }

  async #create(random: Random): Promise<void> {
    const caller = this.#caller(random);
    const request = this.#job(random, caller);
    await this.#created(request, caller, await this.#keyed(random, "createJob", [caller, request]));
  }

  async #created(
    request: CreateJobRequest,
    caller: Caller,
    answer: Accepted | Refused | null,
  ): Promise<void> {
    const refusal: { approval?: string } | undefined = answer?.refusal;
    if (refusal?.approval !== undefined) {
      this.#approvals.push({ id: refusal.approval, request, caller });
    }
    const { job_id } = (answer?.value ?? {}) as { job_id?: string };
    if (job_id !== undefined) this.#know(job_id, request, caller);
  }

  #know(id: string, { app_slug, cost_estimate }: CreateJobRequest, caller: Caller): void {
    this.#jobs.push({ id, app_slug, caller, cost_estimate });
  }

  async #step(
    random: Random,
    { id, cost_estimate }: KnownJob,
    caller: Caller,
    step: number,
    run: string,
  ) {
    const request = {
      job_id: id,
      step,
      run,
      reserve: random.chance(0.5) ? random.between(0, 2 * cost_estimate) : null,
      spent: random.chance(0.5) ? random.between(0, cost_estimate) : null,
      ttl_seconds: random.chance(0.3) ? random.between(60, 900) : null,
    };
    const input = { ...request, fingerprint: fingerprintOf(request) };
    await this.#attempt("reportProgress", [caller, input]);
    if (random.chance(0.3)) await this.#attempt("reportProgress", [caller, input]);
  }

  async #issue(random: Random, id: string): Promise<void> {
    const total = random.chance(0.7) ? random.between(20, 200) : null;
    const expires_at_ms = this.#now() + random.pick([10 * MINUTE_MS, DAY_MS, 30 * DAY_MS]);
    const caps = [
      ...(total === null ? [] : [{ credits: total, period: "total" }]),
      ...(random.chance(0.3) ? [{ credits: random.between(10, 60), period: "day" }] : []),
    ];
    const request = {
      id,
      label: "Agent",
      app_slug: null,
      limits: {
        access: random.chance(0.9) ? "write" : "read",
        upstream: false,
        admin: false,
        app_slugs: random.chance(0.2) ? [random.pick(APPS), random.pick(APPS)] : null,
        caps,
      },
      session_id: sessionOf(random),
      signin_method: "google:1",
      ends_with_session: random.chance(0.5),
      expires_at_ms,
    };
    const answer = await this.#attempt("issueAllowance", [HOLDER, request], 1);
    if (answer?.ok === true) this.#tokens.push({ id, total, expires_at_ms, depth: 1, root: id });
  }

  /** A grant within an app's daily budget: the app's object and the account agree on it. */
  async #starter(random: Random): Promise<void> {
    const day = Math.floor(this.#now() / DAY_MS);
    const slug = "gamma";
    const claim = {
      day,
      claimant: this.identity_id,
      credits: STARTER_CREDITS,
      budget: DAILY_BUDGET,
    };
    const reserved = await this.#world.call(
      "budget",
      `${slug} ${day}`,
      "reserve",
      [claim],
      ATTEMPTS_MAX,
    );
    if (random.chance(0.1)) await this.#world.pause(random.between(0, 2 * DAY_MS));
    const reservation = typeof reserved === "number" ? { day, credits: reserved } : null;
    const app = { slug, starter_credits: STARTER_CREDITS, is_registered: false, reservation };
    await this.#call("wallet", HOLDER, { app });
  }

  /** A device that gets a token: its code is approved once, and collected once. */
  async #deviceLogin(random: Random): Promise<void> {
    const code = `CODE${random.below(40)}`;
    const digest = random.uuid();
    const login = (method: string, ...input: unknown[]): Promise<unknown> =>
      this.#world.call("login", code, method, input, ATTEMPTS_MAX);
    const client = { client_name: null, app_slug: null, program: null, city: null, country: null };
    const asked = {
      device_client: client,
      device_code_digest: digest,
      ttl_seconds: 900,
      poll_interval_seconds: 5,
    };
    await login("start", asked);
    await login("open", this.identity_id, null);
    const limits = { access: "write", upstream: false, admin: false, app_slugs: null, caps: [] };
    const grant = {
      limits,
      session_id: sessionOf(random),
      signin_method: null,
      session_ends_at_ms: null,
    };
    await login("approve", { ...grant, identity_id: this.identity_id });
    const polls = [login("poll", digest), login("poll", digest)];
    for (const polled of await Promise.all(polls)) {
      const { value } = (polled ?? {}) as { value?: { kind: string } };
      if (value?.kind === "collected") await this.#issue(random, random.uuid());
    }
  }

  /** Of given credits: they soon expire, some apps may use them, or both. */
  #terms(random: Random): Terms {
    const lives_ms = random.pick([10 * MINUTE_MS, 3 * 60 * MINUTE_MS, 3 * DAY_MS, 30 * DAY_MS]);
    return {
      // Operators' requests are in the future, also for a machine whose clock is ahead.
      expires_at_ms: random.chance(0.8)
        ? this.#now() + 2 * MINUTE_MS + random.below(lives_ms)
        : null,
      app_slugs: random.chance(0.4) ? someApps(random) : null,
      bought: random.chance(0.4),
    };
  }

  #job(random: Random, caller: Caller): CreateJobRequest {
    const app_slug = caller.kind === "app" ? caller.app_slug : random.pick(APPS);
    const policy = POLICIES[app_slug];
    if (policy === undefined) throw new Error("an app has its policy");
    return {
      app_slug,
      is_registered: app_slug !== "gamma",
      policy,
      action: random.pick(["draw", "render"]),
      cost_estimate: random.chance(0.1) ? 0 : random.between(1, 30),
      ttl_seconds: random.chance(0.8) ? random.between(60, 600) : random.between(3_600, 90_000),
      metadata_json: random.chance(0.2) ? '{"size":1}' : null,
    };
  }

  #completion(random: Random, { id, cost_estimate }: KnownJob) {
    const actual_cost = random.between(0, random.chance(0.8) ? cost_estimate : 3 * cost_estimate);
    return { job_id: id, actual_cost, metadata_json: random.chance(0.2) ? '{"done":true}' : null };
  }

  #caller(random: Random): Caller {
    const kind = random.weighted({ holder: 3, page: 1, app: 4, allowance: 5 });
    const token = kind === "allowance" ? this.#token(random) : null;
    if (token !== null) return callerOf(token.id);
    const app_slug = random.pick(APPS);
    if (kind === "app") return { kind: "app", app_slug };
    return kind === "page" ? { kind: "page", app_slugs: [app_slug] } : HOLDER;
  }

  /** Usually whoever may. */
  #settler(random: Random, { app_slug, caller }: KnownJob): Caller {
    if (random.chance(0.1)) return this.#caller(random);
    const is_apps = POLICIES[app_slug]?.settle === "app";
    return is_apps || random.chance(0.2) ? { kind: "app", app_slug } : caller;
  }

  /** A recent job, or sometimes an old one. */
  #job_of(random: Random): KnownJob | null {
    const reach = random.chance(0.8) ? 6 : 60;
    return this.#jobs.at(-1 - random.below(Math.min(reach, this.#jobs.length || 1))) ?? null;
  }

  #token(random: Random): KnownToken | null {
    const reach = random.chance(0.9) ? 8 : 40;
    return this.#tokens.at(-1 - random.below(Math.min(reach, this.#tokens.length || 1))) ?? null;
  }

  #now(): number {
    return this.#world.kernel.now_ms;
  }

  #call(method: string, caller: Caller, ...request: unknown[]) {
    return this.#attempt(method, [caller, ...request]);
  }

  async #service(method: string, ...request: unknown[]): Promise<void> {
    await this.#attempt(method, request);
  }

  /** Sends a request again under its key, also as somebody else or with another body. */
  async #repeat({ input, method, key }: UsedKey, sent: readonly unknown[], other_body?: string) {
    await this.#attempt(method, [
      ...sent,
      { key, fingerprint: other_body ?? fingerprintOf(input) },
    ]);
  }

  /** With a key, usually: as our clients do, so that it may be repeated. */
  async #keyed(random: Random, method: string, input: readonly unknown[]) {
    if (random.chance(0.3)) return this.#attempt(method, [...input, null], 1);
    const key = random.uuid();
    this.#used_keys.push({ method, input, key });
    return this.#attempt(method, [...input, { key, fingerprint: fingerprintOf(input) }]);
  }

  async #keyedService(random: Random, method: string, request: object): Promise<void> {
    await this.#keyed(random, method, [request]);
  }

  async #attempt(
    method: string,
    input: readonly unknown[],
    attempts = ATTEMPTS_MAX,
  ): Promise<Accepted | Refused | null> {
    const { identity_id } = this;
    const answer = (await this.#world.call(
      "account",
      identity_id,
      method,
      input,
      attempts,
    )) as Answer<unknown> | null;
    if (answer === null || answer === undefined || typeof answer !== "object") return null;
    if (!answer.ok) return { ok: false, value: undefined, refusal: answer.refusal };
    const once = answer.value as Partial<Once<unknown>> | null;
    const value = once !== null && Object(once).replayed !== undefined ? once.value : answer.value;
    return { ok: true, value, refusal: undefined };
  }
}

/** A person's choice. The limit of a month never changes, so that it can be checked exactly. */
function topUpPlan(random: Random): TopUpPlan {
  return {
    threshold: random.between(20, 400),
    month_limit_minor: MONTH_LIMIT_MINOR,
    package_id: random.chance(0.05) ? "ended" : "small",
    package_name: "Small",
    credits: random.pick([10, 40, 75]),
    price: "price_small",
    unit_minor: random.pick([99, 250]),
    currency: "eur",
    ...packageTerms(random),
  };
}

/** The terms of a package. */
function packageTerms(random: Random) {
  return {
    ...(random.chance(0.4) ? { expires_after_days: random.between(1, 20) } : {}),
    ...(random.chance(0.3) ? { app_slugs: someApps(random) } : {}),
  };
}

function someApps(random: Random): readonly string[] {
  const one = random.pick(APPS);
  const other = random.pick(APPS);
  return one === other ? [one] : [one, other];
}

interface Accepted {
  readonly ok: true;
  readonly value: unknown;
  readonly refusal: undefined;
}

interface Refused {
  readonly ok: false;
  readonly value: undefined;
  readonly refusal: object;
}

function credentialOf(allowance_id: string) {
  return { kind: "allowance" as const, allowance_id };
}

function callerOf(allowance_id: string): Caller {
  return { kind: "allowance", credential: credentialOf(allowance_id) };
}

function jobIdOf(request: unknown): string | undefined {
  return (request as { readonly job_id?: string }).job_id;
}

function sessionOf(random: Random): string {
  return `session ${random.below(4)}`;
}

function fingerprintOf(input: unknown): string {
  return JSON.stringify(input);
}

/** The webhooks of an app. */
export function webhookOf(app_slug: string) {
  return WEBHOOKS.find((webhook) => webhook.app_slug === app_slug) ?? null;
}
