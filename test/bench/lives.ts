/** Lives of jobs, and the counts of what each one took. */
import { forEach, type Person } from "./people.ts";

/** The counts of `workers/counted.js`. */
const COUNTED = [
  "requests",
  "object_calls",
  "alarms",
  "queue_batches",
  "object_rows_read",
  "object_rows_written",
  "alarms_set",
  "d1_batches",
  "d1_queries",
  "d1_rows_read",
  "d1_rows_written",
  "kv_reads",
  "kv_writes",
  "queue_messages",
  "queue_operations",
  "r2_writes",
  "r2_reads",
  "logged_lines",
] as const;

export type Counts = Readonly<Record<(typeof COUNTED)[number], number>>;

function mapCounts(valueOf: (name: (typeof COUNTED)[number]) => number): Counts {
  return Object.fromEntries(COUNTED.map((name) => [name, valueOf(name)])) as Counts;
}

/** The counts of several lives, divided by their number. */
export function shareOf(counts: Counts, count: number): Counts {
  return mapCounts((name) => counts[name] / count);
}

function add(one: Counts, other: Counts): Counts {
  return mapCounts((name) => one[name] + other[name]);
}

/** The kind of life: its caller, and whether each request has an idempotency key. */
export interface Manner {
  readonly name: string;
  readonly proof: readonly string[];
  readonly keyed: boolean;
}

/** A message with another outcome is an error of the measurement. */
async function ask(
  url: string,
  path: string,
  body: object | null,
  headers: readonly string[],
): Promise<string> {
  const lines = headers.map((line): [string, string] => {
    const colon = line.indexOf(": ");
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
  const response = await fetch(`${url}${path}`, {
    method: body === null ? "GET" : "POST",
    headers: { ...Object.fromEntries(lines), "Content-Type": "application/json" },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`${path} responded with ${response.status}: ${text.slice(0, 300)}`);
  return text;
}

function headersOf({ proof, keyed }: Manner): readonly string[] {
  return keyed ? [...proof, `Idempotency-Key: ${crypto.randomUUID()}`] : proof;
}

/** Creates a job of 3 credits with the metadata that the spec recommends. @returns its id */
export async function createJob(url: string, manner: Manner): Promise<string> {
  const metadata = { description: "A lighthouse at dusk" };
  const body = { app: "bench", action: "draw", cost_estimate: 3, metadata };
  const answer = await ask(url, "/api/jobs", body, headersOf(manner));
  return (JSON.parse(answer) as { job_id: string }).job_id;
}

export async function completeJob(url: string, manner: Manner, job_id: string): Promise<void> {
  const metadata = { previewUrl: "https://draw.example/lighthouse.png" };
  const body = { job_id, actual_cost: 2, metadata };
  await ask(url, "/api/jobs/complete", body, headersOf(manner));
}

/** The counts since the last call. */
export async function takeCounts(url: string): Promise<Counts> {
  return JSON.parse(await ask(url, "/__counts", null, [])) as Counts;
}

/** Once nothing was counted for this long, every delivery is done. */
const QUIET_MS = 2_500;
/** Longer than the queue waits for more messages (`wrangler.toml`). */
export const QUEUE_QUIET_MS = 7_500;
const PATIENCE_MS = 60_000;

function total(counts: Counts): number {
  return COUNTED.reduce((sum, name) => sum + counts[name], 0);
}

/** Waits until nothing is counted any more. @returns the counts of that time */
export async function untilQuiet(url: string, owes: boolean, quiet_ms = QUIET_MS): Promise<Counts> {
  let sum = await takeCounts(url);
  let quiet_since_ms = performance.now();
  const until_ms = quiet_since_ms + PATIENCE_MS;
  // A delivery may come some seconds later, so a quiet time before it does not count.
  let delivered = !owes || sum.d1_rows_written > 0;
  while (performance.now() < until_ms) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    const more = await takeCounts(url);
    if (total(more) > 0) quiet_since_ms = performance.now();
    sum = add(sum, more);
    delivered ||= sum.d1_rows_written > 0;
    if (delivered && performance.now() - quiet_since_ms > quiet_ms) return sum;
  }
  return sum;
}

async function evict(url: string, people: readonly Person[]): Promise<void> {
  const names = people.map(({ identity_id }) => identity_id);
  await ask(url, "/__evict", names, []);
}

/** Runs the alarms of these people's objects now instead of later. */
async function runAlarms(url: string, people: readonly Person[]): Promise<void> {
  const names = people.map(({ identity_id }) => identity_id);
  await ask(url, "/__ring", names, []);
}

/**
 * Cold lives: every object is asleep before the creation and again before the completion, and each half is delivered to the
 * read model separately. No alarm is set before, and the alarm that is set afterwards runs.
 */
export async function coldLives(
  url: string,
  people: readonly Person[],
  mannerOf: (person: Person) => Manner,
  has_objects: boolean,
  quiet_ms = QUIET_MS,
): Promise<Counts> {
  const sleep = async (): Promise<void> => {
    if (has_objects) await evict(url, people);
  };
  if (has_objects) await runAlarms(url, people);
  await sleep();
  await takeCounts(url);
  const created = await forEach(people, async (person): Promise<[Person, string]> => [
    person,
    await createJob(url, mannerOf(person)),
  ]);
  const first = await untilQuiet(url, has_objects, quiet_ms);
  await sleep();
  await forEach(created, ([person, job_id]) => completeJob(url, mannerOf(person), job_id));
  const second = await untilQuiet(url, has_objects, quiet_ms);
  await sleep();
  if (has_objects) await runAlarms(url, people);
  return add(add(first, second), await takeCounts(url));
}

/** Hot lives: many on one account, several at a time. */
export async function hotLives(
  url: string,
  manner: Manner,
  lives: number,
  has_objects: boolean,
  quiet_ms = QUIET_MS,
): Promise<Counts> {
  await takeCounts(url);
  await forEach(Array.from({ length: lives }), async () =>
    completeJob(url, manner, await createJob(url, manner)),
  );
  return untilQuiet(url, has_objects, quiet_ms);
}

/**
 * What these people's accounts take to write a segment to the archive, because their oldest entry waited long enough. Their alarms
 * run, but are not counted: an account that is used has one anyway. The Worker's clock stays ahead afterwards.
 */
export async function agedSegments(url: string, people: readonly Person[]): Promise<Counts> {
  await runAlarms(url, people);
  await untilQuiet(url, false);
  const names = people.map(({ identity_id }) => identity_id);
  await ask(url, "/__age", names, []);
  return untilQuiet(url, false);
}
