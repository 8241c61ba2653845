/** Converts counts to dollars. */
import type { Counts } from "./lives.ts";
import type { WorkerConfig } from "./platform.ts";

/** The contents of `prices.json`. */
export interface PriceList {
  readonly read: string;
  readonly prices: Readonly<
    Record<string, { dollars_per_million: number; what: string; source: string }>
  >;
}

/** One kind of life, with the counts of one of them. */
export interface Life {
  readonly name: string;
  /** Whether its requests had idempotency keys. */
  readonly keyed?: boolean;
  readonly counts: Counts;
  readonly config: Pick<WorkerConfig, "observability" | "triggers">;
}

/** The memory that is billed for an active object, whatever it uses. */
const OBJECT_GB = 0.128;
/** Assumed times in milliseconds. Measured times would depend on the load of this machine. */
const CPU_PER_INVOCATION_MS = 2;
const OBJECT_CALL_MS = 5;
const OBJECT_ALARM_MS = 50;
const OBJECT_DELIVERY_MS = 50;

const ASSUMED = `Counted: rows, calls, alarms, messages, log lines. Assumed, since times are not counted:
${CPU_PER_INVOCATION_MS} ms of CPU per invocation (npm run bench measures it); an object is active ${OBJECT_CALL_MS} ms per call, ${OBJECT_ALARM_MS} ms per alarm,
and ${OBJECT_DELIVERY_MS} ms per batch that it sends to D1 itself. An alarm that was set and has not run yet counts as if
it had run. With invocation logs, each invocation (request, call of an object, alarm, queue batch) is one log event,
sampled as wrangler.toml says. Added for later work: one written row per job if a schedule clears the read model, and the
deletion of the row of a creation's Idempotency-Key. Not added: three rows in D1 for an account's first entry of a day and
app. Cold: asleep before creation and before completion, with a delivery after each. Hot: 500 lives in a row on one
account, 20 at a time. Left out: storage, and the included amounts of the plan.`;

function logEvents({ counts, config }: Life): number {
  const { enabled = false, head_sampling_rate = 1, logs } = config.observability ?? {};
  const on = logs?.enabled ?? enabled;
  if (!on) return 0;
  const { requests, object_calls, queue_batches, logged_lines } = counts;
  const invocations = requests + object_calls + alarmsOf(counts) + queue_batches;
  const events = ((logs?.invocation_logs ?? true) ? invocations : 0) + logged_lines;
  return events * (logs?.head_sampling_rate ?? head_sampling_rate);
}

/** Alarms that ran, or that were set and have not run yet. */
function alarmsOf({ alarms, alarms_set }: Counts): number {
  return Math.max(alarms, alarms_set);
}

/** The billed amounts of a life. */
function quantities(life: Life): Readonly<Record<string, number>> {
  const { counts } = life;
  const alarms = alarmsOf(counts);
  const invocations = counts.requests + counts.object_calls + alarms + counts.queue_batches;
  const by_themselves = counts.object_calls === 0 ? 0 : Math.max(0, counts.d1_batches - alarms);
  const active_ms =
    counts.object_calls * OBJECT_CALL_MS +
    alarms * OBJECT_ALARM_MS +
    by_themselves * OBJECT_DELIVERY_MS;
  const deleted_keys = life.keyed === true ? 1 : 0;
  const cleared = (life.config.triggers?.crons ?? []).length > 0 ? 1 : 0;
  return {
    requests: counts.requests,
    cpu_ms: invocations * CPU_PER_INVOCATION_MS,
    object_requests: counts.object_calls + alarms,
    object_gb_seconds: (active_ms / 1000) * OBJECT_GB,
    object_rows_read: counts.object_rows_read,
    object_rows_written: counts.object_rows_written + counts.alarms_set + deleted_keys,
    d1_rows_read: counts.d1_rows_read,
    d1_rows_written: counts.d1_rows_written + cleared,
    kv_reads: counts.kv_reads,
    kv_writes: counts.kv_writes,
    queue_operations: counts.queue_operations,
    r2_writes: counts.r2_writes,
    r2_reads: counts.r2_reads,
    log_events: logEvents(life),
  };
}

/** Dollars for a million lives. */
export function costOf(life: Life, { prices }: PriceList): number {
  return Object.entries(quantities(life)).reduce(
    (sum, [name, quantity]) => sum + quantity * (prices[name]?.dollars_per_million ?? Number.NaN),
    0,
  );
}

/** The table: for each life and price the amount, and the cost of a million lives. */
export function priceTable(lives: readonly Life[], list: PriceList): string {
  const names = Object.keys(list.prices);
  const header = ["one life takes", "$/million", ...lives.map(({ name }) => name)];
  const body = names.map((name) => {
    const price = list.prices[name]?.dollars_per_million ?? Number.NaN;
    const cells = lives.map((life) => {
      const quantity = quantities(life)[name] ?? 0;
      return quantity === 0 ? "" : `${quantity.toFixed(2)} = $${(quantity * price).toFixed(2)}`;
    });
    return [name, String(price), ...cells];
  });
  const totals = lives.map((life) => `$${costOf(life, list).toFixed(2)}`);
  const lines = [header, ...body, ["a million lives", "", ...totals]];
  const widths = header.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const drawn = lines.map(
    (line) => `| ${line.map((text, column) => text.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  const sources = [...new Set(Object.values(list.prices).map(({ source }) => source))];
  return [
    drawn[0],
    rule,
    ...drawn.slice(1),
    "",
    ASSUMED,
    "",
    `Prices as read on ${list.read}:`,
    ...sources.map((source) => `  ${source}`),
    "",
  ].join("\n");
}

/** Entries after which an account writes a segment, and the days after which it does so with fewer; see docs/keep.md. */
const SEGMENT_ENTRIES = 1_000;
const SEGMENT_DAYS = 7;
const ENTRIES_OF_LIFE = 2;

/**
 * The table of the archive: what a million lives cost with it and without, for accounts with so many jobs a day. `segment`: what
 * one segment takes, without the alarm, which a used account has anyway. `life`: of a job without the archive.
 */
export function archiveTable(life: Life, segment: Life, list: PriceList): string {
  const quantity = quantities({ ...segment, config: {} });
  const of_segment = Object.entries(quantity).filter(([name]) => SEGMENT_PARTS.includes(name));
  const dollars = of_segment.reduce(
    (sum, [name, amount]) => sum + amount * (list.prices[name]?.dollars_per_million ?? Number.NaN),
    0,
  );
  const without = costOf(life, list);
  const rows = [100, 10, 1].map((a_day) => {
    const jobs = Math.min(SEGMENT_ENTRIES / ENTRIES_OF_LIFE, a_day * SEGMENT_DAYS);
    const cells = [without, dollars / jobs, without + dollars / jobs];
    return `| ${a_day} | ${jobs} | ${cells.map((it) => `$${it.toFixed(2)}`).join(" | ")} |`;
  });
  const counted = of_segment
    .filter(([, amount]) => amount >= 0.005)
    .map(([name, amount]) => `${name} ${amount.toFixed(2)}`);
  return [
    `One segment of the archive takes: ${counted.join(", ")}. A million segments: $${dollars.toFixed(2)}.`,
    "",
    "| jobs of an account a day | jobs in a segment | a million lives without the archive | the archive | with it |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

/** What is billed of a segment: it is written in an alarm that an account has anyway. */
const SEGMENT_PARTS = [
  "object_rows_read",
  "object_rows_written",
  "d1_rows_read",
  "d1_rows_written",
  "r2_writes",
  "r2_reads",
];
