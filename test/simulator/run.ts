/** One run: everything that happens follows from its seed. */
import { createHash } from "node:crypto";
import { DEFAULT_POLICY } from "../../src/domain/app_policy.ts";
import { monthOf } from "../../src/domain/calendar.ts";
import type { Books } from "./books.ts";
import { ACTIONS, ACTIONS_ON_TERMS, Clients, type ActionName } from "./clients.ts";
import { expectReadModel, expectTables, expectTotals, expectWebhooks } from "./convergence.ts";
import { Judge } from "./judge.ts";
import { replaceGlobals, useGlobals } from "./platform/globals.ts";
import type { Ended } from "./platform/objects.ts";
import { randomOf, type Random } from "./platform/random.ts";
import type { Stored } from "./platform/storage.ts";
import { Violation, must } from "./violation.ts";
import { DAILY_BUDGET, drawFaults, endFaults, WEBHOOKS, World, type Faults } from "./world.ts";

export interface RunOptions {
  readonly seed: number;
  /** Events of the kernel: calls that arrive, responses, alarms, queries, timers, actions. */
  readonly steps: number;
  readonly accounts: number;
  /** The only actions that happen, by their number; undefined: all. */
  readonly only?: ReadonlySet<number> | undefined;
  /** Only what concerns credits with terms, with pauses up to months between most actions; left out: everything. */
  readonly on_terms?: boolean | undefined;
}

export interface RunResult {
  readonly seed: number;
  readonly steps: number;
  readonly actions: number;
  /** Of everything that was stored and answered, in order. */
  readonly hash: string;
  /** Null: nothing was broken. */
  readonly failure: { readonly rule: string; readonly at_step: number } | null;
  /** The last lines of the history, of the account that broke the rule if one did. */
  readonly history: readonly string[];
  readonly faults: Faults;
  readonly actions_taken: readonly number[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LONGEST_OUTAGE_MS = 10 * 24 * HOUR_MS;
const LAST_MOMENT_MS = 433_500;
const HISTORY_LINES = 60;
/** Characters of an input or a response in the history. */
const SHOWN_LENGTH = 200;

/** What happens around the accounts. */
const DISTURBANCES = {
  none: 1_000,
  kill: 8,
  evict: 40,
  read_model_down: 3,
  directory_down: 2,
  receivers_down: 2,
  stripe_down: 2,
  back: 15,
  deployment: 1,
  older_build: 2,
  resume_webhooks: 2,
} as const;

replaceGlobals();

class Run {
  readonly #options: RunOptions;
  readonly #world: World;
  readonly #judges = new Map<string, Judge>();
  readonly #clients: Clients[];
  readonly #hash = createHash("sha256");
  /** By account; "" has what happened around them. */
  readonly #history = new Map<string, string[]>();
  /** The account whose rules are checked. */
  #judged = "";
  readonly #ever_stopped = new Map<string, Set<string>>();
  readonly #collected = new Set<string>();
  readonly #budgets = new Map<string, Map<string, number>>();
  readonly #has_dropped: boolean;
  #logged: Violation | null = null;
  #actions = 0;
  readonly actions_taken: number[] = [];

  constructor(options: RunOptions) {
    this.#options = options;
    const faults = drawFaults(randomOf(options.seed, -1));
    this.#has_dropped = faults.alarm_dropped > 0;
    const committed = (object: Stored, ended: readonly Ended[]): void =>
      this.#committed(object, ended);
    this.#world = new World(faults, { committed }, options.on_terms !== true);
    const { kernel, receivers } = this.#world;
    useGlobals({
      kernel,
      fetch: receivers.fetch,
      logged: (level, line) => this.#log(level, line as { readonly event?: string }),
    });
    this.#clients = Array.from(
      { length: options.accounts },
      (_, at) => new Clients(this.#world, `user_${at}`),
    );
    for (const { identity_id } of this.#clients) {
      const switchedOn = (): void => this.#world.stripe.switchedOn(identity_id);
      this.#judges.set(identity_id, new Judge(identity_id, this.#has_dropped, switchedOn));
      this.#ever_stopped.set(identity_id, new Set());
    }
  }

  async run(): Promise<RunResult> {
    const { kernel } = this.#world;
    const faults = structuredClone(this.#world.faults);
    let failure: RunResult["failure"] = null;
    try {
      await this.#act();
      await this.#rest();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      failure = { rule: error.message, at_step: kernel.steps };
      this.#note(this.#judged, `broke a rule: ${error.message.split("\n", 1)[0]}`);
    }
    const hash = this.#hash.digest("hex").slice(0, 16);
    const { steps } = kernel;
    const { actions_taken } = this;
    const { seed } = this.#options;
    const history = this.#history.get(this.#judged) ?? [];
    return { seed, steps, actions: this.#actions, hash, failure, history, faults, actions_taken };
  }

  async #act(): Promise<void> {
    const { steps, seed, only, on_terms = false } = this.#options;
    const actions: Readonly<Record<ActionName, number>> = on_terms ? ACTIONS_ON_TERMS : ACTIONS;
    const pauses = on_terms ? PAUSES_ON_TERMS : PAUSES;
    const { kernel } = this.#world;
    const last = only === undefined ? Infinity : Math.max(...only);
    for (let number = 0; kernel.steps < steps && number <= last; number += 1) {
      const random = randomOf(seed, 2 * number);
      kernel.random = randomOf(seed, 2 * number + 1);
      const pause_ms = pauseBefore(random, pauses);
      // An outage of months would be all that happens in the run.
      if (pause_ms > LONGEST_OUTAGE_MS) this.#disturb("back", random);
      await this.#until(kernel.now_ms + pause_ms);
      this.#actions += 1;
      if (only !== undefined && !only.has(number)) continue;
      this.actions_taken.push(number);
      this.#disturb(random.weighted(DISTURBANCES), random);
      const clients = random.pick(this.#clients);
      const action: ActionName = random.weighted(actions);
      this.#note(clients.identity_id, `action ${number}: ${action}`);
      this.#world.begin(() => clients.act(action, random));
    }
  }

  async #until(at_ms: number): Promise<void> {
    const { kernel } = this.#world;
    for (let next = kernel.next_ms; next !== null && next <= at_ms; next = kernel.next_ms) {
      await kernel.step();
      if (this.#logged !== null) throw this.#logged;
    }
    kernel.now_ms = Math.max(kernel.now_ms, at_ms);
  }

  #disturb(name: keyof typeof DISTURBANCES, random: Random): void {
    const { objects, faults, kernel, engine } = this.#world;
    const stored = [...objects.stored.values()];
    if (name !== "none") this.#note("", `disturbance: ${name}`);
    switch (name) {
      case "none":
        return;
      case "kill":
      case "evict": {
        if (stored.length === 0) return;
        const object = random.pick(stored);
        return name === "kill" ? objects.end(object) : objects.evict(object);
      }
      case "read_model_down":
        faults.read_model.is_down = true;
        return;
      case "directory_down":
        faults.directory.is_down = true;
        return;
      case "receivers_down":
        faults.receivers.is_down = true;
        return;
      case "stripe_down":
        faults.stripe.is_down = true;
        return;
      case "back":
        for (const part of [faults.read_model, faults.directory, faults.receivers, faults.stripe])
          part.is_down = false;
        return;
      case "deployment":
        return objects.endAll();
      case "older_build": {
        const { identity_id } = random.pick(this.#clients);
        this.#takeOver(identity_id, true);
        return kernel.schedule(random.between(1, 30) * MINUTE_MS, null, () =>
          this.#takeOver(identity_id, false),
        );
      }
      case "resume_webhooks":
        this.#world.directory.script(
          "update webhooks set paused_at_ms = null, paused_reason = null",
        );
        return this.#world.begin(async () => {
          for (const { uid } of WEBHOOKS) {
            await engine.wake({ uid } as never).catch(() => undefined);
          }
        });
    }
  }

  /** A newer build runs on the account's data, and then an older one, until the newer one is back. */
  #takeOver(identity_id: string, is_newer: boolean): void {
    const { objects } = this.#world;
    const judge = this.#judges.get(identity_id);
    const object = objects.find("account", identity_id);
    if (judge === undefined || judge.books.line === 0) return;
    objects.end(object);
    judge.is_newer_data = is_newer;
    object.sqlite.run("update data_format set oldest_build = ?", [is_newer ? 1_000 : 1]);
  }

  /** Faults end, and everything has time. */
  async #rest(): Promise<void> {
    const { kernel, faults, objects, engine } = this.#world;
    await this.#until(kernel.now_ms + HOUR_MS);
    endFaults(faults);
    for (const { identity_id } of this.#clients) this.#takeOver(identity_id, false);
    objects.endAll();
    this.#world.directory.script("update webhooks set paused_at_ms = null, paused_reason = null");
    this.#world.begin(async () => {
      for (const { uid } of WEBHOOKS) await engine.wake({ uid } as never);
    });
    if (this.#has_dropped) for (const { identity_id } of this.#clients) this.#poke(identity_id);
    for (const clients of this.#clients) this.#world.begin(() => clients.reconcile());
    for (let hours = this.#options.on_terms === true ? 16 : 0; hours < 30; hours += 1) {
      await this.#until(kernel.now_ms + HOUR_MS);
      this.#world.begin(async () => {
        await engine.checkDeliveries(WEBHOOKS);
      });
    }
    // Pauses are whole minutes, so this is no moment at which something is due, and just not delivered yet.
    await this.#until(kernel.now_ms + HOUR_MS + LAST_MOMENT_MS);
    this.#expectRest();
  }

  /** Only the next activity finds an alarm that the platform dropped: the next event of each webhook brings the others. */
  #poke(identity_id: string): void {
    const call = (method: string, ...input: unknown[]): Promise<unknown> =>
      this.#world.call("account", identity_id, method, input);
    this.#world.begin(async () => {
      await call("restore");
      await call("adjustCredits", { amount: 100_000, note: "poke" }, null);
      for (const { app_slug } of WEBHOOKS) {
        const job = { app_slug, policy: DEFAULT_POLICY, action: "poke", cost_estimate: 1 };
        const request = { ...job, is_registered: true, ttl_seconds: 60, metadata_json: null };
        await call("createJob", { kind: "holder" }, request, null);
      }
      await call("repair");
    });
  }

  #expectRest(): void {
    const all = [...this.#judges.values()].map(({ books }) => books);
    for (const books of all) {
      this.#judged = books.identity_id;
      const object = this.#world.objects.find("account", books.identity_id);
      if (books.line === 0) continue;
      expectTables(object, books);
      for (const { row } of books.started.values()) {
        must(
          row.expires_at_ms > this.#world.kernel.now_ms - HOUR_MS,
          "an alarm ends overdue jobs",
          row,
        );
      }
      this.#expectTerms(books, object);
      expectReadModel(this.#world, books);
      const stopped = this.#ever_stopped.get(books.identity_id) ?? new Set();
      if (this.#options.on_terms !== true) expectWebhooks(this.#world, object, books, stopped);
    }
    expectTotals(this.#world, all);
  }

  /** Nothing is overdue, except in an account that sleeps, which wakes before the month ends; and nothing is charged twice. */
  #expectTerms({ identity_id, credits, entries }: Books, { sqlite }: Stored): void {
    const { now_ms } = this.#world.kernel;
    const late_ms = now_ms - HOUR_MS;
    const used = entries.findLast(({ kind }) => !MADE_BY_TIME.includes(kind));
    for (const rule of credits.plan.rules) {
      const sleeps = (used?.at_ms ?? 0) < rule.from_ms;
      must(
        sleeps || rule.until_ms > late_ms,
        "an alarm makes the turns of an account in use",
        rule,
      );
    }
    for (const lot of credits.living) {
      const { expires_at_ms, left } = lot;
      if (left === 0 || expires_at_ms === null || expires_at_ms > late_ms) continue;
      const may_sleep = credits.isOfRule(lot) && monthOf(expires_at_ms).to_ms > late_ms;
      must(may_sleep, "an alarm expires what nobody uses", lot);
    }
    const judge = this.#judges.get(identity_id);
    judge?.top_ups.expectRest(sqlite, this.#world.stripe.succeededOf(identity_id), now_ms);
  }

  #committed(object: Stored, ended: readonly Ended[]): void {
    for (const { call, outcome } of ended) {
      const shown = outcome.ok ? JSON.stringify(outcome.value) : outcome.error.message;
      const line = `${this.#world.kernel.now_ms} ${object.kind} ${object.name} ${call.method} ${shown}`;
      this.#hash.update(line);
      if (object.kind === "account") {
        const input = JSON.stringify(call.input).slice(0, SHOWN_LENGTH);
        this.#note(object.name, `${call.method} ${input} -> ${shown?.slice(0, SHOWN_LENGTH)}`);
        if (call.method === "stopApp") {
          const { slug } = call.input[1] as { readonly slug: string };
          this.#ever_stopped.get(object.name)?.add(slug);
        }
      }
      if (object.kind === "login")
        this.#judgeLogin(object, call.method, outcome.ok ? outcome.value : null);
      if (object.kind === "budget")
        this.#judgeBudget(object, call.input[0], outcome.ok ? outcome.value : null);
    }
    if (object.kind !== "account") return;
    this.#judged = object.name;
    this.#judges.get(object.name)?.committed(object, ended);
  }

  #judgeLogin({ name }: Stored, method: string, answer: unknown): void {
    if (method === "start" && (answer as { kind?: string })?.kind === "started")
      this.#collected.delete(name);
    const { value } = (answer ?? {}) as { readonly value?: { readonly kind?: string } };
    if (value?.kind !== "collected") return;
    must(!this.#collected.has(name), "a device login is collected once", { name });
    this.#collected.add(name);
  }

  #judgeBudget({ name }: Stored, request: unknown, credits: unknown): void {
    if (typeof credits !== "number") return;
    const { claimant } = request as { readonly claimant: string };
    const claims = this.#budgets.get(name) ?? new Map<string, number>();
    this.#budgets.set(name, claims);
    must((claims.get(claimant) ?? credits) === credits, "a claim on a budget stays as it is", {
      name,
      claimant,
    });
    claims.set(claimant, credits);
    const total = [...claims.values()].reduce((sum, one) => sum + one, 0);
    must(total <= DAILY_BUDGET, "a daily budget is never exceeded", { name, total });
  }

  /** Defects that the service itself noticed. */
  #log(level: "warn" | "error", line: { readonly event?: string }): void {
    if (level !== "error" || EXPECTED_ERRORS.includes(line.event ?? "")) return;
    this.#logged ??= new Violation(`the log has no errors of our own\n  ${JSON.stringify(line)}`);
  }

  /** `account`: "" for all of them. */
  #note(account: string, line: string): void {
    const accounts = account === "" ? this.#clients.map((it) => it.identity_id) : [account];
    for (const one of accounts) {
      const history = this.#history.get(one) ?? [];
      this.#history.set(one, history);
      history.push(`${new Date(this.#world.kernel.now_ms).toISOString()} ${one} ${line}`);
      if (history.length > HISTORY_LINES) history.shift();
    }
  }
}

const MADE_BY_TIME: readonly string[] = ["expire", "recurring", "rollover"];
const EXPECTED_ERRORS = ["account_data_newer", "webhook_paused"];

const PAUSES = { moment: 900, minutes: 80, hours: 20, days: 4, months: 0.7 };
const PAUSES_ON_TERMS: typeof PAUSES = { moment: 60, minutes: 20, hours: 12, days: 6, months: 2 };

/** Mostly a moment, sometimes minutes, rarely hours or days, and months in which an account sleeps. */
function pauseBefore(random: Random, weights: typeof PAUSES): number {
  const kind = random.weighted(weights);
  switch (kind) {
    case "moment":
      return random.between(0, 2_000);
    case "minutes":
      return random.between(1, 15) * MINUTE_MS;
    case "hours":
      return random.between(1, 20) * HOUR_MS;
    case "days":
      return random.between(24, 24 * 9) * HOUR_MS;
    case "months":
      return random.between(24 * 20, 24 * 80) * HOUR_MS;
  }
}

export function simulate(options: RunOptions): Promise<RunResult> {
  return new Run(options).run();
}
