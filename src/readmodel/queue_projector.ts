/**
 * The adapter that sends through a queue, and the queue's consumer. The rows of many accounts become one batch
 * of D1, which has only one writer. It is later by the queue's delay and otherwise equal: D1's rows decide.
 */
import { errorName } from "../domain/result.ts";
import { PROJECTION_MESSAGE_LINES } from "../domain/limits.ts";
import type { ProjectionMessage, ProjectedRows, Projector } from "./projector.ts";
import type { DirectProjector } from "./direct_projector.ts";

/** The largest message of the queue, in bytes; the queue accepts 128 KB. */
export const PROJECTION_MESSAGE_MAX_BYTES = 125_000;

/** The most that the consumer sends to D1 in one batch: a parameter is limited to 2 MB, and so is their sum here. */
const PROJECTION_MERGE_MAX_BYTES = 1_500_000;

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
    async apply(rows, after_line) {
      const delivery = { rows, after_line };
      if (sizeOf(delivery) > PROJECTION_MESSAGE_MAX_BYTES) return direct.apply(rows, after_line);
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
  const single = repeated.map((message) => ({ delivery: message.body, messages: [message] }));
  // One after another, because a later part may continue from an earlier one.
  for (const part of [...partsOf(merged), ...single.map((one) => [one])]) {
    await apply(part, options);
  }
}

async function apply(part: readonly Merged[], options: ConsumerOptions): Promise<void> {
  const messages = part.flatMap((one) => one.messages);
  try {
    const known = await options.projector.applyAll(part.map(({ delivery }) => delivery));
    for (const [index, one] of part.entries()) {
      // D1 may already have the entries of a repeated message, or later ones.
      if ((known[index] ?? 0) >= one.delivery.rows.account.line)
        one.messages.forEach((message) => message.ack());
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

/** The messages of each account, in the order of their entries. */
function byAccount(messages: Messages): { identity_id: string; its: Messages }[] {
  const accounts = Map.groupBy(messages, ({ body }) => body.rows.account.id);
  return [...accounts.values()].map((its) => ({
    identity_id: its[0]?.body.rows.account.identity_id ?? "",
    its: its.toSorted((one, other) => lineOf(one) - lineOf(other)),
  }));
}

const oldestOf = (messages: Messages): number =>
  Math.min(...messages.map(({ timestamp }) => timestamp.getTime()));

const lineOf = ({ body }: Message<ProjectionMessage>): number => body.rows.account.line;

/** Merges messages that follow one another into one delivery. A gap starts another delivery. */
function merge(messages: Messages): Merged[] {
  const merged: Merged[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last !== undefined && message.body.after_line <= last.delivery.rows.account.line) {
      const delivery = append(last.delivery, message.body);
      merged[merged.length - 1] = { delivery, messages: [...last.messages, message] };
    } else {
      merged.push({ delivery: message.body, messages: [message] });
    }
  }
  return merged;
}

/** Merges rows with following ones, which may contain some of the same entries, or start before them. */
function append(one: ProjectionMessage, next: ProjectionMessage): ProjectionMessage {
  const { account, grants, jobs, lines } = next.rows;
  const newer = (line: number): boolean => line > one.rows.account.line;
  const jobs_by_id = new Map(one.rows.jobs.map((job) => [job.id, job]));
  for (const job of jobs) {
    if ((jobs_by_id.get(job.id)?.line ?? 0) < job.line) jobs_by_id.set(job.id, job);
  }
  const first = next.after_line < one.after_line ? next : one;
  const rows: ProjectedRows = {
    account,
    grants: [...one.rows.grants, ...grants],
    jobs: [...jobs_by_id.values()],
    lines: first === next ? lines : [...one.rows.lines, ...lines.filter(({ line }) => newer(line))],
  };
  return { ...first, rows };
}

/** Splits deliveries into batches that D1 accepts, with each account once per batch. */
function partsOf(merged: readonly Merged[]): Merged[][] {
  const parts: Merged[][] = [];
  let room = 0;
  let ids = new Set<string>();
  for (const one of merged) {
    const { id } = one.delivery.rows.account;
    const size = sizeOf(one.delivery);
    if (parts.length === 0 || size > room || ids.has(id)) {
      parts.push([]);
      room = PROJECTION_MERGE_MAX_BYTES;
      ids = new Set();
    }
    parts.at(-1)?.push(one);
    room -= size;
    ids.add(id);
  }
  return parts;
}

function sizeOf(delivery: ProjectionMessage): number {
  return new TextEncoder().encode(JSON.stringify(delivery)).byteLength;
}
