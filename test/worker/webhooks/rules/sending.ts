/** A sender without its object: its state in memory, an account with a list of events, and a receiver. */
import { expect, vi } from "vitest";
import type { SubscribableEvent } from "../../../../src/domain/webhook.ts";
import type {
  WebhookEvents,
  WebhookEventsRequest,
} from "../../../../src/domain/webhook_delivery.ts";
import type { RecordedAttempt } from "../../../../src/webhooks/attempts.ts";
import type { ListedDelivery } from "../../../../src/webhooks/deliveries_contract.ts";
import { sendRound } from "../../../../src/webhooks/sender.ts";
import type { Webhook } from "../../../../src/webhooks/sender_contract.ts";
import { readState, saveState, type SenderState } from "../../../../src/webhooks/state.ts";

export const NOW_MS = 2_000_000_000_000;
export const SECOND_MS = 1_000;
export const HOUR_MS = 3_600_000;
export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PAGE_EVENTS = 2;

/** Requests of a receiver, which accepts each until a test decides otherwise. */
export class Receiver {
  readonly requests: Request[] = [];
  respond: (request: Request) => Response | Promise<Response> = () => new Response("ok");

  get ids(): readonly (string | null)[] {
    return this.requests.map(({ headers }) => headers.get("webhook-id"));
  }

  /** Receives what is sent meanwhile. */
  async during<Value>(work: () => Promise<Value>): Promise<Value> {
    const { fetch } = globalThis;
    globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      this.requests.push(request);
      return this.respond(request);
    };
    try {
      return await work();
    } finally {
      globalThis.fetch = fetch;
    }
  }
}

interface Event {
  readonly id: string;
  readonly type: SubscribableEvent;
}

export class Sending {
  readonly receiver = new Receiver();
  /** What the operators' list and the directory were told, in order. */
  readonly told: unknown[] = [];
  readonly requests: WebhookEventsRequest[] = [];
  webhook: Webhook | null = {
    uid: "uid 1",
    app_slug: "demo",
    id: "main",
    created_at_ms: NOW_MS - HOUR_MS,
    url: "https://hooks.example.com/passbook",
    events: ["job.completed"],
    thresholds: [10],
    paused_at_ms: null,
  };
  /** Null: the account's rows are erased. */
  events: readonly Event[] | null;
  /** Entries after the last event, which the webhook does not want. */
  other_entries = 0;
  /** Happens while something else is under way. */
  meanwhile: { reading?: () => void; receiving?: () => void; recording?: () => void } = {};
  readonly #stored = new Map<string, unknown>();

  constructor(...events: readonly Event[]) {
    vi.useFakeTimers({ toFake: ["Date"], now: NOW_MS });
    this.events = events;
    this.receiver.respond = () => {
      this.meanwhile.receiving?.();
      return new Response("ok");
    };
  }

  /** Accepts nothing until {@link recover}. */
  fail(): void {
    this.receiver.respond = () => new Response("", { status: 500 });
  }

  recover(): void {
    this.receiver.respond = () => new Response("ok");
  }

  get state(): SenderState {
    return readState(this.#kv);
  }

  set(columns: Partial<SenderState>): void {
    saveState(this.#kv, columns);
  }

  round(): ReturnType<typeof sendRound> {
    return this.receiver.during(() =>
      sendRound({
        uid: "uid 1",
        identity_id: "ada",
        parts: this.#parts,
        read: () => this.state,
        save: (columns) => saveState(this.#kv, columns),
      }),
    );
  }

  get #kv() {
    const stored = this.#stored;
    return {
      get: (key: string) => stored.get(key),
      put: (key: string, value: unknown) => void stored.set(key, value),
    } as unknown as Parameters<typeof readState>[0];
  }

  get #parts() {
    return {
      is_development: false,
      findWebhook: async () => this.webhook,
      secretsOf: async () => [SECRET],
      readEvents: async (_: string, request: WebhookEventsRequest) => this.#read(request),
      pause: async (uid: string, reason: string) => void this.told.push(["pause", uid, reason]),
      deliveries: {
        save: async (_: string, delivery: ListedDelivery) =>
          void this.told.push(["save", delivery]),
        drop: async (uid: string, identity_id: string) =>
          void this.told.push(["drop", uid, identity_id]),
        forget: () => expect.fail("the object forgets the account"),
        record: async (_: string, { event_id, attempts, reason }: RecordedAttempt) => {
          this.meanwhile.recording?.();
          this.told.push(["record", event_id, attempts, reason]);
        },
      },
    };
  }

  #read(request: WebhookEventsRequest): WebhookEvents | null {
    this.requests.push(request);
    this.meanwhile.reading?.();
    if (this.events === null) return null;
    const positionOf = (line: number) => ({
      line,
      low_left: false,
      unnumbered: 0,
      balance_line: line,
    });
    const from = request.after?.line ?? 0;
    const all = this.events.map(({ id, type }, at) => {
      const body = JSON.stringify({ type });
      return { id, type, line: at + 1, body, position: positionOf(at + 1) };
    });
    const left = all.slice(from);
    const events = left.slice(0, PAGE_EVENTS);
    const is_all = left.length <= PAGE_EVENTS;
    const end = is_all ? all.length + this.other_entries : from + PAGE_EVENTS;
    const position = positionOf(end);
    const news = is_all ? (`${end}.0` as const) : null;
    return { events, begin: positionOf(0), position, news, has_app: true };
  }
}

/** A finished job, for most rules. */
export const job = (id: string): Event => ({ id, type: "job.completed" });
export const balance = (id: string): Event => ({ id, type: "credits.changed" });
