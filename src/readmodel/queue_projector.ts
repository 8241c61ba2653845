/**
 * The projector through a queue, and its consumer: many accounts' rows become one batch of D1, which has
 * one writer. Late by the queue's wait and otherwise the same: what D1's rows say decides.
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

/** Queues of messages that were given up end so, whatever an operator calls them. */
const DEAD_LETTERS = /-dead$/;

/**
 * The projector that leaves lines to the queue. What is asked goes direct, and so do the rebuild's
 * portions: there are few, and they are large.
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

/** What the consumer needs. */
export interface ConsumerOptions {
  readonly projector: Pick<DirectProjector, "applyAll">;
  /** Tells an account that D1 lacks some of its lines: it asks which, and sends them. */
  readonly catchUp: (identity_id: string) => Promise<unknown>;
}

type Messages = readonly Message<ProjectionMessage>[];

/** Messages that become one delivery. */
interface Merged {
  readonly delivery: ProjectionMessage;
  readonly messages: Messages;
}

/**
 * Takes a batch of the queue. Each message is acknowledged once D1 has it or its account knows that D1
 * has not; else it is sent again, ever later, until the platform puts it among the dead letters, from
 * where its account is told. Never throws.
 */
export async function consumeProjections(
  {
    queue,
    messages,
  }: Pick<MessageBatch<ProjectionMessage>, "queue"> & { readonly messages: Messages },
  options: ConsumerOptions,
): Promise<void> {
  if (DEAD_LETTERS.test(queue)) {
    for (const { identity_id, its } of byAccount(messages)) await tell(identity_id, its, options);
    return;
  }
  const together = messages.filter(({ attempts }) => attempts <= PROJECTION_ATTEMPTS_TOGETHER);
  const alone = messages.filter(({ attempts }) => attempts > PROJECTION_ATTEMPTS_TOGETHER);
  const merged = byAccount(together).flatMap(({ its }) => merge(its));
  const single = alone.map((message) => ({ delivery: message.body, messages: [message] }));
  // In turn: a later part may follow from an earlier one.
  for (const part of [...partsOf(merged), ...single.map((one) => [one])]) {
    await apply(part, options);
  }
}

async function apply(part: readonly Merged[], options: ConsumerOptions): Promise<void> {
  const messages = part.flatMap((one) => one.messages);
  try {
    const known = await options.projector.applyAll(part.map(({ delivery }) => delivery));
    for (const [place, one] of part.entries()) {
      // A repeated message finds that D1 has its entries, or later ones.
      if ((known[place] ?? 0) >= one.delivery.rows.account.line)
        one.messages.forEach((message) => message.ack());
      else await tell(one.delivery.rows.account.identity_id, one.messages, options);
    }
  } catch (error) {
    // What failed, never what was being written.
    const reason = errorName(error);
    console.warn({ event: "projection_batch_failed", messages: messages.length, reason });
    messages.forEach(again);
  }
}

async function tell(
  identity_id: string,
  messages: Messages,
  { catchUp }: ConsumerOptions,
): Promise<void> {
  try {
    await catchUp(identity_id);
    messages.forEach((message) => message.ack());
  } catch (error) {
    const reason = errorName(error);
    console.warn({ event: "account_notification_failed", reason });
    messages.forEach(again);
  }
}

function again(message: Message<ProjectionMessage>): void {
  const pause_seconds = PROJECTION_MESSAGE_RETRY_MIN_SECONDS * 2 ** (message.attempts - 1);
  message.retry({ delaySeconds: Math.min(pause_seconds, PROJECTION_MESSAGE_RETRY_MAX_SECONDS) });
}

/** The messages of each account, in the order of their lines. */
function byAccount(messages: Messages): { identity_id: string; its: Messages }[] {
  const accounts = Map.groupBy(messages, ({ body }) => body.rows.account.id);
  return [...accounts.values()].map((its) => ({
    identity_id: its[0]?.body.rows.account.identity_id ?? "",
    its: its.toSorted((one, other) => lineOf(one) - lineOf(other)),
  }));
}

const lineOf = ({ body }: Message<ProjectionMessage>): number => body.rows.account.line;

/** Makes one delivery of messages that follow one another; what does not follow begins another. */
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

/** Rows and those that follow them, which may begin with some of the same lines, or before all of them. */
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

/** Splits what was merged into batches that D1 takes, each account once in a batch. */
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
