/**
 * An object of webhooks with the storage of a real one and with parts of the test. Its clock stands still in a distant year,
 * so that no alarm fires by itself.
 */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { Deliveries, type DeliveriesParts } from "../../../src/webhooks/deliveries.ts";
import { Sender } from "../../../src/webhooks/object.ts";
import type { SenderParts } from "../../../src/webhooks/sender.ts";
import type { Webhook } from "../../../src/webhooks/sender_contract.ts";
import { deliveriesOf, senderOf } from "./receiver.ts";

export const NOW_MS = 2_000_000_000_000;
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const WEBHOOK: Webhook = {
  uid: "uid-1",
  app_slug: "demo",
  id: "main",
  created_at_ms: NOW_MS - DAY_MS,
  url: "https://receiver.test/hook",
  events: ["job.completed"],
  thresholds: [],
  paused_at_ms: null,
};

/** One object, while a test uses it. */
export interface Opened<Tested> {
  readonly object: Tested;
  readonly storage: DurableObjectStorage;
  /** What the object logged. */
  readonly output: readonly unknown[];
  /** Fires the alarm, as the platform does: it is not set while it runs. */
  readonly fire: () => Promise<void>;
  readonly alarmAt: () => Promise<number | null>;
}

function open<Tested extends { alarm(): Promise<void> }>(
  object: Tested,
  storage: DurableObjectStorage,
): Opened<Tested> {
  const output: unknown[] = [];
  for (const level of ["warn", "error"] as const)
    vi.spyOn(console, level).mockImplementation((line) => void output.push(line));
  return {
    object,
    storage,
    output,
    fire: async () => {
      await storage.deleteAlarm();
      await object.alarm();
    },
    alarmAt: () => storage.getAlarm(),
  };
}

/** The sender of Ada's events. */
export async function withSender(
  parts: SenderParts,
  test: (opened: Opened<Sender>) => Promise<void>,
): Promise<void> {
  class Tested extends Sender {
    protected override openParts = () => parts;
  }
  setClock(NOW_MS);
  await runInDurableObject(senderOf(WEBHOOK, "ada"), (_, context) =>
    test(open(new Tested(context, env), context.storage)),
  );
}

export async function withDeliveries(
  parts: DeliveriesParts,
  test: (opened: Opened<Deliveries>) => Promise<void>,
): Promise<void> {
  class Tested extends Deliveries {
    protected override openParts = () => parts;
  }
  setClock(NOW_MS);
  await runInDurableObject(deliveriesOf(WEBHOOK), (_, context) =>
    test(open(new Tested(context, env), context.storage)),
  );
}

export function setClock(now_ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: now_ms });
}
