/** The simulated service: its objects and databases, with the code of `src`, and the receivers of its webhooks. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Account } from "../../src/account/object.ts";
import { StarterBudget } from "../../src/budget/object.ts";
import { DeviceLogin } from "../../src/device/object.ts";
import { webhookListOf } from "../../src/directory/webhook_list.ts";
import { Deliveries, type DeliveriesParts } from "../../src/webhooks/deliveries.ts";
import { createDeliveryRecords } from "../../src/webhooks/delivery_records.ts";
import { callSender, createWebhookEngine, type WebhookEngine } from "../../src/webhooks/engine.ts";
import { Sender } from "../../src/webhooks/object.ts";
import type { SenderParts } from "../../src/webhooks/sender.ts";
import type { CardCharges } from "../../src/domain/top_up.ts";
import { PERIODS, type PlanRule, type PlanRules } from "../../src/domain/plans.ts";
import { SUBSCRIBABLE_EVENTS } from "../../src/domain/webhook.ts";
import { D1, type D1Faults } from "./platform/d1.ts";
import { Kernel, PlatformError, type Turn } from "./platform/kernel.ts";
import { Objects, type ObjectClass, type ObjectFaults, type Observer } from "./platform/objects.ts";
import type { Random } from "./platform/random.ts";
import { Sqlite } from "./platform/sqlite.ts";
import { Receivers, WEBHOOK_SECRET } from "./receivers.ts";
import { Stripe, type Payment, type StripeFaults } from "./stripe.ts";

export interface Faults extends ObjectFaults {
  readonly read_model: D1Faults;
  readonly directory: D1Faults;
  readonly receivers: { is_down: boolean; failing: number; hanging: number };
  readonly stripe: StripeFaults;
}

/** Every run has a part of the faults: those that happen all the time would hide what the others do. */
export function drawFaults(random: Random): Faults {
  const at_times = (rate: number): number => (random.chance(0.5) ? rate * random.next() : 0);
  return {
    killed_before_commit: at_times(0.02),
    killed_after_commit: at_times(0.02),
    transaction_failed: at_times(0.02),
    late: at_times(0.1),
    lost: at_times(0.05),
    doubled: at_times(0.1),
    alarm_late: at_times(0.3),
    alarm_early: at_times(0.3),
    alarm_twice: at_times(0.2),
    alarm_dropped: at_times(0.05),
    skewed: at_times(0.5),
    read_model: { is_down: false, failing: at_times(0.2), slow: at_times(0.1) },
    directory: { is_down: false, failing: at_times(0.2), slow: at_times(0.05) },
    receivers: { is_down: false, failing: at_times(0.4), hanging: at_times(0.1) },
    stripe: {
      is_down: false,
      declining: at_times(0.6),
      asking: at_times(0.2),
      lost: at_times(0.4),
      silent: at_times(0.7),
    },
  };
}

/** From now on nothing goes wrong any more. */
export function endFaults(faults: Faults): void {
  const { read_model, directory, receivers, stripe } = faults;
  for (const part of [faults, read_model, directory, receivers, stripe]) {
    for (const [name, value] of Object.entries(part)) {
      if (typeof value === "number") Reflect.set(part, name, 0);
    }
  }
  for (const part of [read_model, directory, receivers, stripe]) part.is_down = false;
}

/** The apps with a webhook, and the events that it receives. */
export const WEBHOOKS = [
  { uid: "10000000-0000-4000-8000-000000000001", app_slug: "alpha", events: SUBSCRIBABLE_EVENTS },
  {
    uid: "10000000-0000-4000-8000-000000000002",
    app_slug: "beta",
    events: ["job.created", "job.completed", "job.failed", "job.expired"],
  },
] as const;
/** Credits that the starter grants of `gamma` may have on a day, in all accounts. */
export const DAILY_BUDGET = 150;

/** The rules that a plan begins with. A save changes their figures, and never how many there are. */
const FIRST_PLANS: Readonly<Record<string, readonly PlanRule[]>> = {
  plus: [{ credits: 20, every: "day", rollover_max: 5, app_slugs: null }],
  pro: [
    { credits: 60, every: "month", rollover_max: 0, app_slugs: null },
    { credits: 15, every: "week", rollover_max: 15, app_slugs: ["alpha", "beta"] },
    { credits: 9, every: "day", rollover_max: 2, app_slugs: ["delta"] },
  ],
};

const ISOLATES = 2;
const BOOKING_ATTEMPTS = 5;

export class World {
  readonly kernel = new Kernel();
  readonly faults: Faults;
  readonly objects: Objects;
  readonly read_model = databaseOf("readmodel");
  readonly directory = databaseOf("directory");
  readonly receivers: Receivers;
  readonly stripe: Stripe;
  /** The clients, which nothing ends. */
  readonly clients: Turn = {
    alive: true,
    skew_ms: 0,
    send: (message) => message(),
    end: () => undefined,
  };
  readonly engine: WebhookEngine;
  readonly plans = new Map<string, PlanRules>();

  /** `has_webhooks`: whether apps have webhooks, whose deliveries take most of the steps. */
  constructor(faults: Faults, observer: Observer, has_webhooks: boolean) {
    this.faults = faults;
    this.receivers = new Receivers(this.kernel, faults.receivers);
    this.stripe = new Stripe(this.kernel, faults.stripe, {
      report: (payment) => this.begin(() => this.bookPayment(payment)),
      hasBooked: ({ id, charge }) =>
        this.objects
          .find("account", charge.identity_id)
          .sqlite.all("select 1 from purchases where checkout_session_id = ?", id).length > 0,
    });
    for (const webhook of has_webhooks ? WEBHOOKS : []) this.#register(webhook);
    for (const [id, recurring] of Object.entries(FIRST_PLANS)) this.#storePlan(id, recurring);
    const envs = Array.from({ length: ISOLATES }, () => this.#env());
    const kindOf = (create: unknown) => ({ create: create as ObjectClass, envs });
    const kinds = {
      account: kindOf(SimulatedAccount),
      sender: kindOf(SimulatedSender),
      deliveries: kindOf(SimulatedDeliveries),
      budget: kindOf(StarterBudget),
      login: kindOf(DeviceLogin),
    };
    this.objects = new Objects(this.kernel, kinds, faults, observer);
    const env = this.#env();
    this.engine = createWebhookEngine({
      ...senderPartsOf(env),
      senders: env.WEBHOOK_SENDER,
      deliveries: env.WEBHOOK_DELIVERIES,
    });
  }

  /** Starts something that a client does, and goes on without waiting for it. */
  begin(work: () => Promise<void>): void {
    this.kernel.schedule(0, this.clients, () => void work());
  }

  /** For a client. */
  pause(duration_ms: number): Promise<void> {
    return this.kernel.wait((answer) => answer({ ok: true, value: undefined }, duration_ms));
  }

  /** A call of a client. Null: all attempts failed, and nobody knows whether one of them did something. */
  async call(
    kind: string,
    name: string,
    method: string,
    input: readonly unknown[],
    attempts_max = 1,
  ): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        // The Worker draws the id of a new token, so no second request has the same one.
        const may_double = method !== "issueAllowance";
        return await this.objects.call(kind, name, method, input, may_double);
      } catch (error) {
        const may_retry = error instanceof PlatformError || isNewerData(error);
        if (!may_retry || attempt >= attempts_max) return null;
        await this.pause(this.kernel.random.between(100, 500 * 2 ** attempt));
      }
    }
  }

  /** Books a payment of a top-up: from an event, or from the schedule that compares all payments. */
  async bookPayment({ id, charge, failure }: Payment): Promise<void> {
    const { identity_id, number, package_id, credits, amount_minor, currency } = charge;
    if (failure !== null) {
      const failed = { number, reason: failure, payment_intent_id: id };
      await this.call("account", identity_id, "failTopUp", [failed], BOOKING_ATTEMPTS);
      return;
    }
    const ids = { checkout_session_id: id, payment_intent_id: id, package_id };
    const paid = { credits, paid_minor: amount_minor, currency, top_up: number };
    const purchase = { ...ids, ...paid, package_name: package_id };
    await this.call("account", identity_id, "recordPurchase", [purchase], BOOKING_ATTEMPTS);
  }

  /** An operator saves a plan: accounts bring its newer rules with their next call, or the schedule does. */
  savePlan(id: string, random: Random): void {
    const recurring = (this.plans.get(id)?.recurring ?? []).map((rule) => ({
      ...rule,
      credits: random.between(1, 40),
      rollover_max: random.chance(0.5) ? random.between(0, 50) : 0,
      every: random.chance(0.2) ? random.pick(PERIODS) : rule.every,
    }));
    this.#storePlan(id, recurring);
  }

  #storePlan(id: string, recurring: readonly PlanRule[]): void {
    const version = (this.plans.get(id)?.version ?? 0) + 1;
    this.plans.set(id, { version, name: id, recurring });
    this.directory.run(
      `insert into plans (id, name, recurring_json, created_at_ms, version, last_audit_id)
         values (?, ?, ?, ?, ?, 'audit')
       on conflict (id) do update set recurring_json = excluded.recurring_json,
         version = excluded.version`,
      [id, id, JSON.stringify(recurring), this.kernel.now_ms, version],
    );
  }

  #env(): Env {
    const { kernel, faults } = this;
    const binding = (kind: string) => ({
      getByName: (name: string) => this.objects.namespace(kind).getByName(name),
    });
    return {
      ACCOUNT: binding("account"),
      WEBHOOK_SENDER: binding("sender"),
      WEBHOOK_DELIVERIES: binding("deliveries"),
      STARTER_BUDGET: binding("budget"),
      DEVICE_LOGIN: binding("login"),
      DB: new D1(kernel, this.read_model, faults.read_model),
      DIRECTORY: new D1(kernel, this.directory, faults.directory),
      CARD_CHARGES: this.stripe.charges,
    } as unknown as Env;
  }

  #register({ uid, app_slug, events }: (typeof WEBHOOKS)[number]): void {
    this.directory.run(
      `insert into webhooks (uid, app_slug, id, url, events_json, thresholds_json, created_at_ms,
         secret_key_id, secret_sealed, last_audit_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        uid,
        app_slug,
        "all",
        this.receivers.addressOf(uid),
        JSON.stringify(events),
        JSON.stringify([20]),
        // Before the first event, also of a machine whose clock is behind.
        this.kernel.now_ms - 60_000,
        "key",
        "sealed",
        "audit",
      ],
    );
  }
}

export function isNewerData(error: unknown): boolean {
  return error instanceof Error && error.message === "newer_data";
}

class SimulatedAccount extends Account {
  protected override openCardCharges(): CardCharges {
    return (this.env as unknown as { readonly CARD_CHARGES: CardCharges }).CARD_CHARGES;
  }
}

class SimulatedSender extends Sender {
  protected override openParts(): SenderParts {
    return senderPartsOf(this.env);
  }
}

class SimulatedDeliveries extends Deliveries {
  protected override openParts(): DeliveriesParts {
    const { DIRECTORY, WEBHOOK_SENDER } = this.env;
    const list = webhookListOf(DIRECTORY);
    return {
      findWebhook: (uid) => list.findRow(uid),
      saveOutcome: (uid, { last_success_at_ms, last_error }) =>
        changeDirectory(
          DIRECTORY,
          "update webhooks set last_success_at_ms = ?, last_error = ? where uid = ?",
          last_success_at_ms,
          last_error,
          uid,
        ),
      // Nothing in the simulator replays.
      listActive: () => Promise.resolve([]),
      replay: () => Promise.resolve(),
      callSender: (how, uid, identity_id) => callSender(WEBHOOK_SENDER, how, uid, identity_id),
    };
  }
}

async function changeDirectory(
  directory: D1Database,
  statement: string,
  ...values: unknown[]
): Promise<void> {
  await directory
    .prepare(statement)
    .bind(...values)
    .run();
}

/** As in `services.ts`, with a secret that is not sealed. */
function senderPartsOf({ DIRECTORY, ACCOUNT, WEBHOOK_DELIVERIES }: Env): SenderParts {
  const list = webhookListOf(DIRECTORY);
  return {
    is_development: false,
    findWebhook: (uid) => list.findRow(uid),
    secretsOf: () => Promise.resolve([WEBHOOK_SECRET]),
    async pause(uid, reason) {
      const statement = "update webhooks set paused_at_ms = ?, paused_reason = ? where uid = ?";
      await changeDirectory(DIRECTORY, statement, Date.now(), reason, uid);
      list.forget();
    },
    readEvents: async (identity_id, request) =>
      ACCOUNT.getByName(identity_id).readWebhookEvents(request),
    deliveries: createDeliveryRecords(WEBHOOK_DELIVERIES),
  };
}

function databaseOf(name: "readmodel" | "directory"): Sqlite {
  const sqlite = new Sqlite();
  const path = fileURLToPath(
    new URL(`../../drizzle/${name}/0000_initial.sql`, import.meta.url).href,
  );
  const text: string = readFileSync(path, { encoding: "utf8" });
  sqlite.script(text.replaceAll("--> statement-breakpoint", ""));
  return sqlite;
}
