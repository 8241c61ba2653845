/** The servers of apps that receive webhooks. They check what arrives, and remember what they accepted. */
import { createHmac } from "node:crypto";
import type { Kernel } from "./platform/kernel.ts";
import { must } from "./violation.ts";

export const WEBHOOK_SECRET = "whsec_c2ltdWxhdGlvbg==";

interface ReceiverFaults {
  is_down: boolean;
  /** It answers 500: half of the time although it accepted the event. */
  failing: number;
  /** It never answers. */
  hanging: number;
}

export interface Received {
  readonly id: string;
  readonly type: string;
  /** The number of its entry; null: it has none. */
  readonly line: number | null;
  readonly credits: number | null;
  readonly held: number | null;
}

export class Receivers {
  readonly #kernel: Kernel;
  readonly #faults: ReceiverFaults;
  /** What each receiver accepted, by the webhook's uid and the identity, in this order and each once. */
  readonly accepted = new Map<string, Map<string, Received>>();

  constructor(kernel: Kernel, faults: ReceiverFaults) {
    this.#kernel = kernel;
    this.#faults = faults;
  }

  addressOf(uid: string): string {
    return `https://receiver.example.com/${uid}`;
  }

  /** The global `fetch` of the simulated code. */
  readonly fetch = (url: string, init: RequestInit): Promise<Response> => {
    const { random } = this.#kernel;
    const response = this.#kernel.wait<Response>((answer) => {
      const { is_down, failing, hanging } = this.#faults;
      const delay_ms = random.between(5, 400);
      if (is_down) return answer({ ok: false, error: new TypeError("connection refused") }, 5);
      const hangs = random.chance(hanging);
      const fails = random.chance(failing);
      const accepts = !(hangs || fails) || random.chance(0.5);
      if (accepts) this.#kernel.schedule(1, null, () => this.#accept(url, init));
      if (!hangs) answer({ ok: true, value: responseOf(fails ? 500 : 204) }, delay_ms);
    });
    return new Promise((resolve, reject) => {
      const { signal } = init;
      signal?.addEventListener("abort", () => reject(signal.reason as Error));
      response.then(resolve, reject);
    });
  };

  #accept(url: string, { headers, body }: RequestInit): void {
    const sent = headers as Record<string, string>;
    const [id = "", at = ""] = [sent["webhook-id"], sent["webhook-timestamp"]];
    const text = body as string;
    must(sent["webhook-signature"] === signatureOf(id, at, text), "an event is signed", { id });
    const event = JSON.parse(text) as {
      readonly type: string;
      readonly data: { identity_id: string; line?: number; credits?: number; held?: number };
    };
    const { identity_id, line = null, credits = null, held = null } = event.data;
    const key = `${url.slice(url.lastIndexOf("/") + 1)} ${identity_id}`;
    const known = this.accepted.get(key) ?? new Map<string, Received>();
    this.accepted.set(key, known);
    if (known.has(id)) return;
    const numbered = id.includes(".") ? line : null;
    known.set(id, { id, type: event.type, line: numbered, credits, held });
  }
}

function responseOf(status: number): Response {
  const body = { cancel: () => Promise.resolve() };
  return { status, ok: status < 300, body } as unknown as Response;
}

/** The signature that a receiver expects. */
function signatureOf(id: string, at_seconds: string, body: string): string {
  const key = Buffer.from(WEBHOOK_SECRET.slice("whsec_".length), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${at_seconds}.${body}`).digest("base64")}`;
}
