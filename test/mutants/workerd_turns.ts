/**
 * What the process of vitest does for mutants in workerd: puts them into the files, and responds to `in_workerd.ts`, which
 * requests the next mutant for a test. Everything that happens is a line of a log, because a mutant can end the process.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { mutantsOf, withMutants, type Mutant } from "./mutations.ts";

/** What the process does, as a JSON file that the variable MUTANTS names. */
export interface Work {
  readonly files: readonly string[];
  /** The numbers of mutants to try, over all files. */
  readonly wanted: readonly number[];
  /** Each test runs once with the code as it is, and what it reaches is noted. */
  readonly measures: boolean;
  /** The tests that a mutant is tried with: those that noticed the most near it, then those that reach the fewest mutants. */
  readonly tests_max: number;
  readonly log: string;
}

/** What a test did with one mutant; mutant 0: with the code as it is. */
export interface Turn {
  readonly test: string;
  readonly mutant: number;
}

export interface Ended extends Turn {
  readonly noticed_by: string | null;
  readonly reached: readonly number[];
  readonly ms: number;
}

/** The next turn of a test, or null: nothing is left for it. */
export type Next = { readonly mutant: number; readonly longest_ms: number } | null;

export type Line = { readonly began: Turn } | { readonly ended: Ended };

/** Longer tests are for other things. */
const LONGEST_TEST_MS = 8_000;
/** Mutants of the same function, more or less. */
const NEAR_MUTANTS = 40;
const TIMES_AS_LONG = 5;
const SHORTEST_MS = 10_000;
/** After its time, a test that computes without a pause responds to nothing. */
const HANGS_AFTER_MS = 30_000;
/** The exit code of a process of vitest that hung. */
export const HUNG = 3;
/** Vitest itself may hang, which is no mutant's fault. */
const SILENT_MS = 5 * 60_000;

/** The mutants of all files, numbered on from file to file. */
export function numbered(files: readonly string[]): ReadonlyMap<string, readonly Mutant[]> {
  let last = 0;
  return new Map(
    files.map((file) => {
      const first = last;
      const mutants = mutantsOf(file, readFileSync(file, "utf8"));
      last += mutants.length;
      return [file, mutants.map((it) => ({ ...it, number: first + it.number }))];
    }),
  );
}

export function linesOf(log: string): readonly Line[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Line);
}

/** What is known so far: what each test reaches, and what noticed each mutant. */
export class Known {
  readonly tests = new Map<string, Ended>();
  readonly noticed = new Map<number, string>();
  readonly #tried = new Set<string>();
  /** The test that noticed each mutant. */
  readonly #noticing = new Map<number, string>();
  /** A turn that did not end. */
  open: Turn | null = null;

  constructor(lines: readonly Line[]) {
    for (const line of lines) this.add(line);
  }

  add(line: Line): void {
    if ("began" in line) {
      const { test, mutant } = line.began;
      this.open = line.began;
      this.#tried.add(`${mutant} ${test}`);
      return;
    }
    this.open = null;
    const { ended } = line;
    if (ended.mutant === 0) this.tests.set(ended.test, ended);
    else if (ended.noticed_by !== null) {
      this.noticed.set(ended.mutant, ended.noticed_by);
      this.#noticing.set(ended.mutant, ended.test);
    }
  }

  /** How many mutants near this one each test has noticed. */
  #nearBy(mutant: number): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (let other = mutant - NEAR_MUTANTS; other <= mutant + NEAR_MUTANTS; other += 1) {
      const test = this.#noticing.get(other);
      if (test !== undefined) counts.set(test, (counts.get(test) ?? 0) + 1);
    }
    return counts;
  }

  /** The mutants that each test is to try. */
  plan({ wanted, tests_max }: Work): ReadonlyMap<string, readonly number[]> {
    const usable = [...this.tests.values()]
      .filter(({ noticed_by, ms }) => noticed_by === null && ms <= LONGEST_TEST_MS)
      .toSorted((one, other) => one.reached.length - other.reached.length || one.ms - other.ms);
    const reaching = new Map<number, string[]>(wanted.map((mutant) => [mutant, []]));
    for (const { test, reached } of usable)
      for (const mutant of reached) reaching.get(mutant)?.push(test);
    const plan = new Map<string, number[]>();
    for (const [mutant, tests] of reaching) {
      if (this.noticed.has(mutant)) continue;
      const near = this.#nearBy(mutant);
      const best = tests.toSorted((one, other) => (near.get(other) ?? 0) - (near.get(one) ?? 0));
      for (const test of best.slice(0, tests_max)) {
        if (this.#tried.has(`${mutant} ${test}`)) continue;
        const its = plan.get(test) ?? [];
        its.push(mutant);
        plan.set(test, its);
      }
    }
    return plan;
  }
}

/** The plugin and the responses of one process of vitest. */
export function turns(path: string): {
  readonly plugin: {
    name: string;
    enforce: "pre";
    transform(text: string, id: string): string | null;
  };
  respond(request: { readonly url: string; json(): Promise<unknown> }): Promise<unknown>;
} {
  const work = JSON.parse(readFileSync(path, "utf8")) as Work;
  const { files, measures, log } = work;
  const known = new Known(linesOf(log));
  const plan = known.plan(work);
  const mutants = new Map([...numbered(files)].map(([file, its]) => [resolve(file), its]));
  let began_ms = performance.now();
  let longest_ms = Infinity;
  const note = (line: Line): void => {
    known.add(line);
    appendFileSync(log, `${JSON.stringify(line)}\n`);
  };
  setInterval(() => {
    const most_ms = known.open === null ? SILENT_MS : longest_ms + HANGS_AFTER_MS;
    if (performance.now() - began_ms > most_ms) process.exit(HUNG);
  }, 1_000).unref();

  const next = (test: string): Next => {
    began_ms = performance.now();
    if (measures) {
      if (known.tests.has(test)) return null;
      return { mutant: 0, longest_ms: 10 * 60_000 };
    }
    const left = (plan.get(test) ?? []) as number[];
    let mutant = left.shift();
    while (mutant !== undefined && known.noticed.has(mutant)) mutant = left.shift();
    if (mutant === undefined) return null;
    const { ms = 0 } = known.tests.get(test) ?? {};
    longest_ms = Math.max(SHORTEST_MS, ms * TIMES_AS_LONG);
    note({ began: { test, mutant } });
    return { mutant, longest_ms };
  };

  return {
    plugin: {
      name: "mutants",
      enforce: "pre",
      transform(text, id) {
        const its = mutants.get(id.split("?")[0] ?? "");
        return its === undefined ? null : withMutants(text, its);
      },
    },
    async respond(request) {
      if (request.url.endsWith("/tests")) {
        const tests = (await request.json()) as readonly string[];
        const isLeft = (test: string): boolean =>
          measures ? !known.tests.has(test) : (plan.get(test)?.length ?? 0) > 0;
        return tests.filter(isLeft);
      }
      if (request.url.endsWith("/ended")) {
        const ended = (await request.json()) as Omit<Ended, "ms">;
        note({ ended: { ...ended, ms: Math.round(performance.now() - began_ms) } });
        return next(ended.test);
      }
      const { test } = (await request.json()) as Turn;
      return next(test);
    },
  };
}
