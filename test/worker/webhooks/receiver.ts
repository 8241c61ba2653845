/** A webhook with its receiver, and an account whose events it gets, for tests that decide when alarms fire. */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Webhook as Verifier } from "standardwebhooks";
import { expect, vi } from "vitest";
import { webhookListOf } from "../../../src/directory/webhook_list.ts";
import type { WebhookSettings } from "../../../src/directory/webhook_records.ts";
import { DEFAULT_POLICY } from "../../../src/domain/app_policy.ts";
import { SUBSCRIBABLE_EVENTS } from "../../../src/domain/webhook.ts";
import type { Services } from "../../../src/http/services.ts";
import { servicesFor } from "../../../src/services.ts";
import { senderName, type Webhook } from "../../../src/webhooks/sender_contract.ts";
import { evict as evictObject } from "../support/evict.ts";
import { registerApp } from "../support/directory_outage.ts";
import { passTime } from "../support/clock.ts";

export const APP = "demo";
export const ADA = "ada";
export const HOLDER = { kind: "holder" } as const;
export const URL_OF_RECEIVER = "https://receiver.test/hook?key=secret-part";

export interface Received {
  readonly id: string;
  readonly signatures: readonly string[];
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- tests look into it freely
  };
}

type Respond = (request: Request) => Response | Promise<Response>;

/** A receiver that accepts everything until a test decides otherwise. It refuses what was not signed with `secret`. */
export class Receiver {
  readonly received: Received[] = [];
  /** All requests, also those that it does not accept. */
  readonly requests: Request[] = [];
  respond: Respond = () => new Response("ok");
  secret = "";

  constructor() {
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const request = new Request(input, init);
      this.requests.push(request.clone());
      const response = await this.respond(request.clone());
      if (!response.ok) return response;
      const headers = Object.fromEntries(request.headers);
      const text = await request.text();
      new Verifier(this.secret).verify(text, headers);
      const id = headers["webhook-id"] ?? "";
      const signatures = (headers["webhook-signature"] ?? "").split(" ");
      this.received.push({ id, signatures, body: JSON.parse(text) });
      return response;
    });
  }

  get types(): readonly string[] {
    return this.received.map(({ body }) => body.type);
  }

  /** Accepts nothing. */
  fail(status = 500): void {
    this.respond = () => new Response("failure", { status });
  }

  recover(): void {
    this.respond = () => new Response("ok");
  }
}

export function services(): Services {
  const built = servicesFor(env);
  return built.ok ? built.value : expect.fail("misconfigured");
}

/** `following.test.ts` tests the others: they come for nearly every change. */
const RARE_EVENTS = SUBSCRIBABLE_EVENTS.filter(
  (type) => type !== "credits.changed" && type !== "job.progressed",
);

let audits = 0;

/** Creates or changes a webhook, of an app that is registered. */
export async function saveWebhook(
  settings: Partial<WebhookSettings> = {},
  id = "main",
  app_slug = APP,
): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
  audits += 1;
  const all = { url: URL_OF_RECEIVER, events: RARE_EVENTS, thresholds: [10] };
  const { webhook_records } = services();
  const found = await webhook_records.find(app_slug, id);
  const saved = await webhook_records.save(
    { app_slug, id },
    { ...all, ...settings },
    { before: found.ok ? found.value : null, audit_id: `audit ${audits}` },
  );
  if (!saved.ok) return expect.fail(saved.refusal.code);
  if (saved.value === null) return expect.fail("saved by somebody else");
  return { webhook: saved.value.record, secret: saved.value.secret ?? "" };
}

/**
 * An app with a webhook whose receiver accepts everything. The Worker's clock is ahead of real time, so that no alarm
 * fires by itself.
 */
export async function openReceiver(settings: Partial<WebhookSettings> = {}) {
  const output: unknown[] = [];
  for (const level of ["log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation((line) => void output.push(line));
  }
  passTime(60 * 60 * 1000);
  webhookListOf(env.DIRECTORY).forget();
  await registerApp(APP, {});
  const receiver = new Receiver();
  const { webhook, secret } = await saveWebhook(settings);
  receiver.secret = secret;
  return { receiver, webhook, output };
}

export const accountOf = (identity_id = ADA) => env.ACCOUNT.getByName(identity_id);

export const senderOf = ({ uid }: Pick<Webhook, "uid">, identity_id = ADA) =>
  env.WEBHOOK_SENDER.getByName(senderName(uid, identity_id));

export const deliveriesOf = ({ uid }: Pick<Webhook, "uid">) =>
  env.WEBHOOK_DELIVERIES.getByName(uid);

/** Fires the alarm of the object that has a webhook's deliveries; false: none is set. */
export const fireDeliveries = (webhook: Pick<Webhook, "uid">): Promise<boolean> =>
  runDurableObjectAlarm(deliveriesOf(webhook));

/** Opens the account for the app, with starter credits. */
export async function openAccount(credits = 100, identity_id = ADA): Promise<void> {
  await accountOf(identity_id).wallet(HOLDER, { app: { slug: APP, starter_credits: credits } });
}

const JOB = { policy: DEFAULT_POLICY, action: "draw", ttl_seconds: 3_600, metadata_json: null };

/** Creates a job; null if it was refused. */
export async function createJob(
  cost_estimate = 1,
  { app_slug = APP, identity_id = ADA, ttl_seconds = 3_600 } = {},
): Promise<string | null> {
  const job = { ...JOB, app_slug, cost_estimate, ttl_seconds };
  const answer = await accountOf(identity_id).createJob(HOLDER, job, null);
  return answer.ok ? answer.value.value.job_id : null;
}

export async function completeJob(job_id: string | null, actual_cost = 1, identity_id = ADA) {
  const request = { job_id: job_id ?? "", actual_cost, metadata_json: null };
  return accountOf(identity_id).completeJob(HOLDER, request, null);
}

/** Waits until the account has told the senders, which it does after its response. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 30));
}

/** Fires the alarm of a webhook's sender; false: none is set. */
export async function fireSender(
  webhook: Pick<Webhook, "uid">,
  identity_id = ADA,
): Promise<boolean> {
  return runDurableObjectAlarm(senderOf(webhook, identity_id));
}

/** Lets the account tell the sender, and the sender send until it has nothing to do now. */
export async function deliver(webhook: Pick<Webhook, "uid">, identity_id = ADA): Promise<void> {
  await settle();
  // A busy account tells the senders by its alarm.
  await runDurableObjectAlarm(accountOf(identity_id));
  for (let rounds = 0; rounds < 50; rounds += 1) {
    const at_ms = await readSenderAlarm(webhook, identity_id);
    if (at_ms === null || at_ms > Date.now()) return;
    await fireSender(webhook, identity_id);
  }
}

export function readSenderAlarm(webhook: Pick<Webhook, "uid">, identity_id = ADA) {
  return runInDurableObject(senderOf(webhook, identity_id), (_, { storage }) => storage.getAlarm());
}

export async function evictSender(webhook: Pick<Webhook, "uid">, identity_id = ADA): Promise<void> {
  await evictObject(senderOf(webhook, identity_id));
}
