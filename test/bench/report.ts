/** Prints the table, and writes it to `test/bench/results/`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { BASE } from "./cells.ts";
import type { ContenderName } from "./contenders.ts";
import type { Cell } from "./measurement.ts";
import { median, ratios, type Spread } from "./statistics.ts";

const RESULTS = "test/bench/results";

export interface ReportHead {
  /** The part of the file names that identifies this run. */
  readonly title: string;
  readonly conditions: string;
}

const WORK_NAMES = {
  wallet: "wallet",
  create: "create",
  complete: "complete",
  create_batch: "create, by 100",
  complete_batch: "complete, by 100",
  list: "list of 50",
  life: "job life",
} as const;

/** The single requests that a batch is compared with. */
const SINGLE: Readonly<Partial<Record<Cell["work"], Cell["work"]>>> = {
  create_batch: "create",
  complete_batch: "complete",
};

function rate(values: readonly number[]): string {
  return Math.round(median(values)).toLocaleString("en");
}

function fixed(values: readonly number[], digits: number): string {
  return median(values).toFixed(digits);
}

/** A ratio with the smallest and largest ratio of the rounds. */
function ratio(spread: Spread | null): string {
  if (spread === null) return "";
  const { median, least, greatest } = spread;
  return `${median.toFixed(2)} (${least.toFixed(2)}–${greatest.toFixed(2)})`;
}

class Table {
  readonly #cells: readonly Cell[];

  constructor(cells: readonly Cell[]) {
    this.#cells = cells;
  }

  /**
   * The ratio of Passbook's value to another contender's, for the same work and variant. A contender with one kind of
   * credentials is compared in that variant.
   */
  over(cell: Cell, contender: ContenderName, figureOf: (cell: Cell) => number[]): Spread | null {
    if (cell.contender !== "passbook") return null;
    const { work: own_work, variant } = cell;
    const work = SINGLE[own_work] ?? own_work;
    const other =
      this.#find(contender, work, variant.name) ?? this.#find(contender, work, BASE.name);
    return other === undefined ? null : ratios(figureOf(cell), figureOf(other));
  }

  #find(contender: ContenderName, work: Cell["work"], name: string): Cell | undefined {
    return this.#cells.find(
      (cell) => cell.contender === contender && cell.work === work && cell.variant.name === name,
    );
  }

  /** The ratio of a contender's time in a variant to its time on an account without history. */
  time(cell: Cell): Spread | null {
    if (cell.variant.jobs_behind === 0) return null;
    const base = this.#find(cell.contender, cell.work, BASE.name);
    return base === undefined ? null : ratios(base.requests_per_second, cell.requests_per_second);
  }
}

const COLUMNS = [
  "work",
  "on",
  "who",
  "per second",
  "p50 ms",
  "p99 ms",
  "CPU ms",
  "MiB",
  "× floor",
  "× peer",
  "CPU × floor",
  "CPU × peer",
  "time × empty",
];

const throughput = (cell: Cell): number[] => cell.requests_per_second;
const processorTime = (cell: Cell): number[] => cell.cpu_ms_per_request;

function rows(cells: readonly Cell[]): string[][] {
  const table = new Table(cells);
  return cells.map((cell) => [
    WORK_NAMES[cell.work],
    cell.variant.name,
    cell.contender,
    rate(cell.requests_per_second),
    fixed(cell.p50_ms, 1),
    fixed(cell.p99_ms, 1),
    fixed(cell.cpu_ms_per_request, 2),
    fixed(cell.memory_mib, 0),
    ratio(table.over(cell, "floor", throughput)),
    ratio(table.over(cell, "peer", throughput)),
    ratio(table.over(cell, "floor", processorTime)),
    ratio(table.over(cell, "peer", processorTime)),
    ratio(table.time(cell)),
  ]);
}

function markdown(body: readonly string[][]): string {
  const lines = [COLUMNS, ...body];
  const widths = COLUMNS.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const drawn = lines.map(
    (line) => `| ${line.map((text, column) => text.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [drawn[0], rule, ...drawn.slice(1)].join("\n");
}

const NOTES = `A job life is two requests, counted as one. Ratios compare throughput: the median of the rounds,
with the smallest and the largest; above 1, Passbook is faster. CPU is the time of all processes of a contender,
including work after the response. A CPU ratio below 1 is better, and it also holds on a busy machine, unlike ratios of
throughput. Only Passbook has cookies and personal access tokens, which are compared with the others' session tokens, and
batches, which are compared with the others' single requests: jobs per second, CPU per job, and times of whole batches.
Passbook caches a verified token while the token is valid; the others check the signature each time. "time × empty"
compares an account with a history with one without. Many accounts are used in turn: asleep means that each had no
request for ten seconds, so that its object must wake; awake means that each was used just before.`;

/** Prints the table, and keeps it under `test/bench/results/`. */
export function report(cells: readonly Cell[], { title, conditions }: ReportHead): void {
  // Sorted by work and variant, independent of the order of measurement.
  const order = new Map<string, number>();
  const keyOf = ({ work, variant }: Cell): string => `${work} ${variant.name}`;
  for (const cell of cells) if (!order.has(keyOf(cell))) order.set(keyOf(cell), order.size);
  const rank = (cell: Cell): number => order.get(keyOf(cell)) ?? 0;
  const who: readonly ContenderName[] = ["passbook", "floor", "peer"];
  const sorted = cells.toSorted(
    (one, other) =>
      rank(one) - rank(other) || who.indexOf(one.contender) - who.indexOf(other.contender),
  );
  const table = markdown(rows(sorted));
  console.log(`${table}\n\n${conditions}`);
  mkdirSync(RESULTS, { recursive: true });
  const name = title.replaceAll(/[^a-z]+/g, "-");
  writeFileSync(
    `${RESULTS}/${name}.md`,
    `# npm run bench (${title})\n\n${conditions}.\n\n${table}\n\n${NOTES}\n`,
  );
  console.log(`\nKept as ${RESULTS}/${name}.md`);
}
