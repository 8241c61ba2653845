/**
 * Repairs of the read model. Each arms the alarm before it sends anything, so that the alarm finishes what an
 * interruption leaves.
 */
import type { Repair } from "../contract.ts";
import type { Alarm } from "./alarm.ts";
import type { Outbox } from "./outbox.ts";

/**
 * The shortest time between two deliveries of one account to the read model. The entries of an account that is
 * used rarely are sent at once; a busy account sends one batch a second.
 */
export const DELIVERY_DELAY_MS = 1_000;

interface RepairParts {
  readonly alarm: Alarm;
  readonly outbox: Outbox;
}

/** Sends the whole account again. */
export async function rebuild({ alarm, outbox }: RepairParts): Promise<void> {
  outbox.startRebuild();
  alarm.by(Date.now() + DELIVERY_DELAY_MS);
  await outbox.flush();
}

/** Has the alarm compare the account with D1, and send what D1 lacks. */
export function catchUp({ alarm, outbox }: RepairParts): void {
  outbox.forgetKnown();
  outbox.retrySoon();
  alarm.by(Date.now() + DELIVERY_DELAY_MS);
}

/** Compares the account with D1, and sends what D1 lacks. */
export async function repair({ alarm, outbox }: RepairParts): Promise<Repair> {
  const is_delivered = await outbox.isDelivered().catch(() => null);
  if (is_delivered === null) return "unreachable";
  if (is_delivered) return "nothing_missing";
  catchUp({ alarm, outbox });
  await outbox.flush();
  return "sent";
}
