/** The simulated service: its objects and databases, with the code of `src`, and the receivers of its webhooks. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Account } from "../../src/account/object.ts";
import { StarterBudget } from "../../src/budget/object.ts";
import { DeviceLogin } from "../../src/device/object.ts";
import { webhookListOf } from "../../src/directory/webhook_list.ts";
import { WebhookDeliveries } from "../../src/directory/webhook_deliveries.ts";
import { createWebhookEngine, type WebhookEngine } from "../../src/webhooks/engine.ts";
import { Sender } from "../../src/webhooks/object.ts";
import type { SenderParts } from "../../src/webhooks/sender.ts";
import { SUBSCRIBABLE_EVENTS } from "../../src/domain/webhook.ts";
import { D1, type D1Faults } from "./platform/d1.ts";
import { Kernel, PlatformError, type Turn } from "./platform/kernel.ts";
import { Objects, type ObjectClass, type ObjectFaults, type Observer } from "./platform/objects.ts";
import type { Random } from "./platform/random.ts";
import { Sqlite } from "./platform/sqlite.ts";
import { Receivers, WEBHOOK_SECRET } from "./receivers.ts";

export interface Faults extends ObjectFaults {
  readonly read_model: D1Faults;
  readonly directory: D1Faults;
  readonly receivers: { is_down: boolean; failing: number; hanging: number };
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
  };
}

/** From now on nothing goes wrong any more. */
export function endFaults(faults: Faults): void {
  const { read_model, directory, receivers } = faults;
  for (const part of [faults, read_model, directory, receivers]) {
    for (const [name, value] of Object.entries(part)) {
      if (typeof value === "number") Reflect.set(part, name, 0);
    }
  }
  for (const part of [read_model, directory, receivers]) part.is_down = false;
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

const ISOLATES = 2;

export class World {
  readonly kernel = new Kernel();
  readonly faults: Faults;
  readonly objects: Objects;
  readonly read_model = databaseOf("readmodel");
  readonly directory = databaseOf("directory");
  readonly receivers: Receivers;
  /** The clients, which nothing ends. */
  readonly clients: Turn = {
    alive: true,
    skew_ms: 0,
    send: (message) => message(),
    end: () => undefined,
  };
  readonly engine: WebhookEngine;

  constructor(faults: Faults, observer: Observer) {
    this.faults = faults;
    this.receivers = new Receivers(this.kernel, faults.receivers);
    for (const webhook of WEBHOOKS) this.#register(webhook);
    const envs = Array.from({ length: ISOLATES }, () => this.#env());
    const kindOf = (create: unknown) => ({ create: create as ObjectClass, envs });
    const kinds = {
      account: kindOf(Account),
      sender: kindOf(SimulatedSender),
      budget: kindOf(StarterBudget),
      login: kindOf(DeviceLogin),
    };
    this.objects = new Objects(this.kernel, kinds, faults, observer);
    const env = this.#env();
    this.engine = createWebhookEngine({
      ...senderPartsOf(env),
      senders: env.WEBHOOK_SENDER,
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

  #env(): Env {
    const { kernel, faults } = this;
    const binding = (kind: string) => ({
      getByName: (name: string) => this.objects.namespace(kind).getByName(name),
    });
    return {
      ACCOUNT: binding("account"),
      WEBHOOK_SENDER: binding("sender"),
      STARTER_BUDGET: binding("budget"),
      DEVICE_LOGIN: binding("login"),
      DB: new D1(kernel, this.read_model, faults.read_model),
      DIRECTORY: new D1(kernel, this.directory, faults.directory),
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

class SimulatedSender extends Sender {
  protected override openParts(): SenderParts {
    return senderPartsOf(this.env);
  }
}

/** As in `services.ts`, with a secret that is not sealed. */
function senderPartsOf({ DIRECTORY, ACCOUNT }: Env): SenderParts & {
  readonly deliveries: WebhookDeliveries;
} {
  const list = webhookListOf(DIRECTORY);
  const change = async (statement: string, ...values: unknown[]): Promise<void> => {
    await DIRECTORY.prepare(statement)
      .bind(...values)
      .run();
  };
  return {
    is_development: false,
    findWebhook: (uid) => list.find(uid),
    secretsOf: () => Promise.resolve([WEBHOOK_SECRET]),
    async pause(uid, reason) {
      const statement = "update webhooks set paused_at_ms = ?, paused_reason = ? where uid = ?";
      await change(statement, Date.now(), reason, uid);
      list.forget();
    },
    recordSuccess: (uid) =>
      change("update webhooks set last_success_at_ms = ? where uid = ?", Date.now(), uid),
    recordError: (uid, reason) =>
      change("update webhooks set last_error = ? where uid = ?", reason, uid),
    readEvents: async (identity_id, request) =>
      ACCOUNT.getByName(identity_id).readWebhookEvents(request),
    deliveries: new WebhookDeliveries(DIRECTORY),
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
