/**
 * The adapter that sends through a queue, and the queue's consumer. The rows of many accounts become one batch
 * of D1, which has only one writer. It is later by the queue's delay and otherwise equal: D1's rows decide.
 */
import { errorName } from "../domain/result.ts";
import { PROJECTION_MESSAGE_LINES } from "../domain/limits.ts";
import { sumByDay } from "./line_totals.ts";
import {
  isSameState,
  type ProjectionMessage,
  type ProjectedRows,
  type Projector,
} from "./projector.ts";
import type { DirectProjector } from "./direct_projector.ts";

/** The largest message of the queue, in bytes; the queue accepts 128 KB. */
export const PROJECTION_MESSAGE_MAX_BYTES = 125_000;

/**
 * The most that the consumer sends to D1 in one batch: a parameter is limited to 2 MB. Each job takes up to 200 bytes more there
 * than in its message, and at least 400 in it.
 */
const PROJECTION_MERGE_MAX_BYTES = 1_200_000;

/** A message that failed more often than this is sent in a batch of its own, since it may be what fails the others. */
const PROJECTION_ATTEMPTS_TOGETHER = 3;

/** The pause before a message is retried: doubled each time, up to a quarter of an hour. */
const PROJECTION_MESSAGE_RETRY_MIN_SECONDS = 5;
const PROJECTION_MESSAGE_RETRY_MAX_SECONDS = 900;

/** The names of dead letter queues end like this. */
const DEAD_LETTERS = /-dead$/;

/**
 * Sends entries through the queue. Reads and the ranges of a rebuild go directly to D1, because they are few
 * and large.
 */
export function createQueueProjector(
  queue: Pick<Queue<ProjectionMessage>, "send">,
  direct: Projector,
): Projector {
  return {
    ...direct,
    lines_at_once: PROJECTION_MESSAGE_LINES,
    async apply(rows, after) {
      const delivery = { rows, after };
      if (sizeOf(delivery) > PROJECTION_MESSAGE_MAX_BYTES) return direct.apply(rows, after);
      await queue.send(delivery, { contentType: "json" });
      return true;
    },
  };
}

export interface ConsumerOptions {
  readonly projector: Pick<DirectProjector, "applyAll">;
  /** Makes an account compare its entries with D1 and send the missing ones. */
  readonly catchUp: (identity_id: string) => Promise<unknown>;
  /** Counts a failed delivery for the operators, with the time since which D1 lacks entries. Never throws. */
  readonly countFailure: (failure: {
    readonly reason: string;
    readonly count: number;
    readonly oldest_at_ms: number;
  }) => Promise<void>;
}

type Messages = readonly Message<ProjectionMessage>[];

/** The messages that were merged into one delivery. */
interface Merged {
  readonly delivery: ProjectionMessage;
  readonly messages: Messages;
  /** The sum of the messages' sizes. */
  readonly bytes: number;
}

/**
 * Consumes a batch of the queue. A message is acknowledged when D1 has its entries, or its account knows that
 * D1 does not. Otherwise it is retried with growing pauses until the platform moves it to the dead letters,
 * whose consumer notifies the account. Never throws.
 */
export async function consumeProjections(
  {
    queue,
    messages,
  }: Pick<MessageBatch<ProjectionMessage>, "queue"> & { readonly messages: Messages },
  options: ConsumerOptions,
): Promise<void> {
  if (DEAD_LETTERS.test(queue)) {
    for (const { identity_id, its } of byAccount(messages))
      await notifyAccount(identity_id, its, options);
    return;
  }
  const together = messages.filter(({ attempts }) => attempts <= PROJECTION_ATTEMPTS_TOGETHER);
  const repeated = messages.filter(({ attempts }) => attempts > PROJECTION_ATTEMPTS_TOGETHER);
  const merged = byAccount(together).flatMap(({ its }) => merge(its));
  // One after another, because a later part may continue from an earlier one.
  for (const part of [...partsOf(merged), ...repeated.map((message) => [alone(message)])]) {
    await apply(part, options);
  }
}

const alone = (message: Message<ProjectionMessage>): Merged => ({
  delivery: message.body,
  messages: [message],
  bytes: sizeOf(message.body),
});

async function apply(part: readonly Merged[], options: ConsumerOptions): Promise<void> {
  const messages = part.flatMap((one) => one.messages);
  try {
    const applied = await options.projector.applyAll(part.map(({ delivery }) => delivery));
    for (const [index, one] of part.entries()) {
      // Later entries: the message was repeated, or the account has sent directly what was missing. If it was restored to an
      // earlier time, it notices when its alarm reads D1's row.
      if (applied[index] !== "lacking") one.messages.forEach((message) => message.ack());
      // One of them may be a repeated message, which D1 already has.
      else if (one.messages.length > 1)
        for (const message of one.messages) await apply([alone(message)], options);
      else await notifyAccount(one.delivery.rows.account.identity_id, one.messages, options);
    }
  } catch (error) {
    // Only the kind of the error, never the data.
    const reason = errorName(error);
    console.warn({ event: "projection_batch_failed", messages: messages.length, reason });
    messages.forEach(retry);
    await options.countFailure({
      reason,
      count: messages.length,
      oldest_at_ms: oldestOf(messages),
    });
  }
}

async function notifyAccount(
  identity_id: string,
  messages: Messages,
  { catchUp, countFailure }: ConsumerOptions,
): Promise<void> {
  try {
    await catchUp(identity_id);
    messages.forEach((message) => message.ack());
  } catch (error) {
    const reason = errorName(error);
    console.warn({ event: "account_notification_failed", reason });
    messages.forEach(retry);
    await countFailure({ reason, count: messages.length, oldest_at_ms: oldestOf(messages) });
  }
}

function retry(message: Message<ProjectionMessage>): void {
  const pause_seconds = PROJECTION_MESSAGE_RETRY_MIN_SECONDS * 2 ** (message.attempts - 1);
  message.retry({ delaySeconds: Math.min(pause_seconds, PROJECTION_MESSAGE_RETRY_MAX_SECONDS) });
}

/** The messages of each account, in the order of the entries that they continue from. */
function byAccount(messages: Messages): { identity_id: string; its: Messages }[] {
  const accounts = Map.groupBy(messages, ({ body }) => body.rows.account.id);
  return [...accounts.values()].map((its) => ({
    identity_id: its[0]?.body.rows.account.identity_id ?? "",
    its: its.toSorted((one, other) => beginOf(one) - beginOf(other)),
  }));
}

const oldestOf = (messages: Messages): number =>
  Math.min(...messages.map(({ timestamp }) => timestamp.getTime()));

const beginOf = ({ body }: Message<ProjectionMessage>): number => body.after?.line ?? 0;

/** Merges messages that follow one another into deliveries that D1 accepts. Any other message starts another delivery. */
function merge(messages: Messages): Merged[] {
  const merged: Merged[] = [];
  for (const message of messages) {
    const at = merged.findIndex(({ delivery }) => follows(message.body, delivery));
    const before = merged[at];
    const one = alone(message);
    const bytes = (before?.bytes ?? 0) + one.bytes;
    if (before === undefined || bytes > PROJECTION_MERGE_MAX_BYTES) merged.push(one);
    else {
      const delivery = append(before.delivery, message.body.rows);
      merged[at] = { delivery, messages: [...before.messages, message], bytes };
    }
  }
  return merged;
}

function follows({ after }: ProjectionMessage, { rows }: ProjectionMessage): boolean {
  return after !== null && isSameState(after, rows.account);
}

/** Merges a delivery with the rows that follow it. */
function append(
  { rows: before, after }: ProjectionMessage,
  next: ProjectedRows,
): ProjectionMessage {
  const jobs = new Map([...before.jobs, ...next.jobs].map((job) => [job.id, job]));
  const rows: ProjectedRows = {
    account: next.account,
    grants: [...before.grants, ...next.grants],
    jobs: [...jobs.values()],
    days: sumByDay([...before.days, ...next.days]),
    money: [...before.money, ...next.money],
    owed: [...before.owed, ...next.owed],
  };
  return { rows, after };
}

/** Splits deliveries into batches that D1 accepts, with each account once per batch. */
function partsOf(merged: readonly Merged[]): Merged[][] {
  const parts: Merged[][] = [];
  let room = 0;
  let ids = new Set<string>();
  for (const one of merged) {
    const { id } = one.delivery.rows.account;
    if (parts.length === 0 || one.bytes > room || ids.has(id)) {
      parts.push([]);
      room = PROJECTION_MERGE_MAX_BYTES;
      ids = new Set();
    }
    parts.at(-1)?.push(one);
    room -= one.bytes;
    ids.add(id);
  }
  return parts;
}

function sizeOf(delivery: ProjectionMessage): number {
  return new TextEncoder().encode(JSON.stringify(delivery)).byteLength;
}
