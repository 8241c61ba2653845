/** Prints the figures of a run. */
import { cpus, loadavg } from "node:os";
import { quantile } from "../bench/statistics.ts";
import { FLOODING_ACCOUNT, type Arrival, type Kind, type State } from "./arrivals.ts";
import type { Measured } from "./phases.ts";
import { countsOf, timesOf, trendsOf, whyNoTrends } from "./rules.ts";
import type { Phase } from "./service.ts";

/** Above this the client itself was too slow, and the times say more about it than about the service. */
const LATE_MAX_MS = 50;
const REQUESTS: readonly (readonly [Kind, State])[] = [
  ["wallet", "awake"],
  ["wallet", "asleep"],
  ["wallet", "new"],
  ["create", "awake"],
  ["create", "asleep"],
  ["list", "awake"],
  ["list", "asleep"],
];

const PHASE_COLUMNS = [
  "phase",
  "planned/s",
  "200/s",
  "200",
  "429 or 503",
  "given up",
  "failed",
  "p50 ms",
  "p90 ms",
  "p99 ms",
  "p99.9 ms",
  "CPU ms/request",
  "MiB",
];
const KIND_COLUMNS = ["request", "account", "number", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms"];
const PEER_COLUMNS = ["peer p50 ms", "peer p99 ms", "p50 × peer", "p99 × peer"];

type Cell = string | number;

function row(cells: readonly Cell[]): void {
  console.log(`| ${cells.join(" | ")} |`);
}

const ms = (ascending: readonly number[], share: number): string =>
  quantile(ascending, share).toFixed(1);

/** The figures of a phase, or of some of its accounts. Processor time and memory are those of all. */
function phaseRow(name: string, phase: Phase, isWanted?: (arrival: Arrival) => boolean): void {
  const { succeeded, refused, given_up, failed } = countsOf(phase, isWanted);
  const all = countsOf(phase);
  const times_ms = timesOf(phase, isWanted);
  const planned_s = (phase.arrivals.at(-1)?.at_ms ?? 0) / 1000;
  row([
    name,
    Math.round((succeeded + refused + given_up + failed) / planned_s),
    Math.round((succeeded * 1000) / phase.elapsed_ms),
    succeeded,
    refused,
    given_up,
    failed,
    ...[0.5, 0.9, 0.99, 0.999].map((share) => ms(times_ms, share)),
    (phase.service_cpu_ms / (all.succeeded + all.refused)).toFixed(2),
    `${phase.memory_before_mib.toFixed(0)} to ${phase.memory_after_mib.toFixed(0)}`,
  ]);
}

function phases({ rate, before, overload, flood, after }: Measured, peer: Phase | null): void {
  row(PHASE_COLUMNS);
  row(PHASE_COLUMNS.map(() => "---"));
  phaseRow(`${rate}/s`, before);
  phaseRow("overload", overload);
  phaseRow("flood of one account", flood, ({ account }) => account === FLOODING_ACCOUNT);
  phaseRow("the others meanwhile", flood, ({ account }) => account !== FLOODING_ACCOUNT);
  phaseRow(`${rate}/s again`, after);
  if (peer !== null) phaseRow(`PostgreSQL, ${rate}/s`, peer);
}

/** The times of each kind of request, and their ratios to the peer's. */
function kinds(before: Phase, peer: Phase | null): void {
  const columns = peer === null ? KIND_COLUMNS : [...KIND_COLUMNS, ...PEER_COLUMNS];
  row(columns);
  row(columns.map(() => "---"));
  for (const [kind, state] of REQUESTS) {
    const ofPhase = (phase: Phase): readonly number[] =>
      timesOf(phase, (arrival) => arrival.kind === kind && arrival.state === state);
    const own = ofPhase(before);
    const other = peer === null ? null : ofPhase(peer);
    const times = (share: number): string[] =>
      other === null ? [] : [(quantile(own, share) / quantile(other, share)).toFixed(2)];
    row([
      kind,
      state,
      own.length,
      ...[0.5, 0.9, 0.99, 0.999].map((share) => ms(own, share)),
      ...(other === null ? [] : [ms(other, 0.5), ms(other, 0.99)]),
      ...times(0.5),
      ...times(0.99),
    ]);
  }
}

/** Says how well the client itself kept to the plan. */
function client(name: string, { late_ms, cpu_ms, elapsed_ms, is_full, other_cores }: Phase): void {
  const late = quantile(
    late_ms.toSorted((one, other) => one - other),
    0.99,
  );
  const is_slow = late > LATE_MAX_MS;
  const reason = is_full
    ? "every connection was busy"
    : "the client itself got no processor in time";
  const warning = is_slow ? `: ${reason}, and the times include this wait` : "";
  const share = `${((100 * cpu_ms) / elapsed_ms).toFixed(0)}% of a core`;
  console.log(
    `client, ${name}: ${share}; other programs ${other_cores.toFixed(1)} cores; sent ${late.toFixed(1)} ms after the plan (p99)${warning}`,
  );
}

export function report(measured: Measured, peer: Phase | null): void {
  const { accounts, rate, storage, sustained, objects, memory, books } = measured;
  const { before, overload, flood, after, busy_ms } = measured;
  const load = loadavg().map((average) => average.toFixed(1));
  console.log(
    `${cpus().length} × ${cpus()[0]?.model ?? "processor"}, Node ${process.version}; stores ${storage === "disk" ? "on disk" : "in memory"}; ` +
      `${accounts} accounts, of which ${objects} were used; load ${load.join(", ")}\n`,
  );
  phases(measured, peer);
  console.log("");
  kinds(before, peer);
  console.log(`\nsustained: ${sustained.toFixed(0)} requests a second`);
  const kib = (memory.grown_mib * 1024) / memory.objects;
  console.log(
    `memory: ${memory.before_mib.toFixed(0)} MiB without an object, and ${kib.toFixed(0)} KiB for each of ${memory.objects} more objects that are awake`,
  );
  const busy = busy_ms === null ? "and does not end" : `${(busy_ms / 1000).toFixed(0)} s`;
  console.log(`work left after the overload: ${busy}`);
  client(`${rate}/s`, before);
  client("overload", overload);
  client("flood", flood);
  client(`${rate}/s again`, after);
  if (peer !== null) client("PostgreSQL", peer);
  const { repeated } = books;
  console.log(
    `checked: ${books.accounts} accounts and ${books.jobs} jobs; ${repeated.accepted} accepted creations and ${repeated.others} others were repeated with their keys`,
  );
  const reason = whyNoTrends(measured);
  if (reason !== null) console.log(`a larger ratio breaks no rule in this run: ${reason}`);
  for (const { name, ratio, bound } of trendsOf(measured)) {
    console.log(`${name} after the overload / before: ${ratio.toFixed(2)} (at most ${bound})`);
  }
}
