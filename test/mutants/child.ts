/**
 * A process in which a file has its mutants. It runs the tests of pure rules or the simulator, once for each mutant that the
 * parent sends, and reports what noticed it.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { loadSource } from "../simulator/platform/modules.ts";
import { mutantsOf, withMutants } from "./mutations.ts";
import type { Test } from "./vitest.ts";

/** What the process does; its only argument, as JSON. */
export interface Task {
  readonly file: string;
  /** Test files; none: the simulator. */
  readonly tests: readonly string[];
  /** The mutant that is active while the modules are loaded; 0: none. */
  readonly active: number;
}

/** The result of one mutant: what noticed it, or null. */
export interface Outcome {
  readonly noticed_by: string | null;
  /** Only for 0, the code as it is: the numbers of mutants whose place was reached. */
  readonly reached: readonly number[];
  /** Those of them that were reached while the modules were loaded. */
  readonly at_load?: readonly number[];
}

interface Ran extends Test {
  readonly reached: ReadonlySet<number>;
  readonly ms: number;
}

const SEEDS = [1, 2, 3];
const STEPS = 6_000;
const HISTORIES = 100;
const STEPS_OF_HISTORY = 100;

const { file, tests, active } = JSON.parse(process.argv[2] ?? "") as Task;
const state: { active: number; reached: Set<number> | null } = { active, reached: null };
Object.assign(globalThis, { mutants: state });

const text = readFileSync(file, "utf8");
loadSource([{ file, from: text, to: withMutants(text, mutantsOf(file, text)) }]);

const here = (name: string): string => new URL(name, import.meta.url).href;

/** The first line of what was thrown. */
const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";

const send = (outcome: Outcome): void => {
  process.send?.(outcome);
};

/** The runs of the simulator, as tests: each throws if a rule is broken. */
async function simulations(): Promise<readonly Test[]> {
  const { simulate } = await import("../simulator/run.ts");
  const histories = Array.from({ length: HISTORIES }, (_, at) => at + 1);
  const runs = [
    ...histories.map((seed) => ({ seed, steps: STEPS_OF_HISTORY, accounts: 1, on_terms: true })),
    ...SEEDS.map((seed) => ({ seed, steps: STEPS, accounts: 4 })),
  ];
  return runs.map((options) => ({
    name: `simulator: seed ${options.seed}`,
    run: async () => {
      const { failure } = await simulate(options);
      if (failure !== null) throw new Error(failure.rule);
    },
  }));
}

/** The tests of the files, from a module that stands in for `vitest`. @throws if a file cannot be loaded. */
async function collected(): Promise<readonly Test[]> {
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === "vitest") return next(here("vitest.ts"), context);
      if (specifier.endsWith("/support/histories.ts")) return next(here("histories.ts"), context);
      return next(specifier, context);
    },
  });
  const fc = await import("fast-check");
  // The same histories each time. A shorter history of a failure is not needed.
  fc.configureGlobal({ seed: 1, endOnFailure: true });
  const { tests: all } = await import("./vitest.ts");
  for (const test of tests) await import(pathToFileURL(resolve(test)).href);
  return all;
}

/** The code as it is: each test once. The fastest come first. */
async function measured(all: readonly Test[]): Promise<readonly Ran[]> {
  const ran: Ran[] = [];
  for (const { name, run } of all) {
    const reached = new Set<number>();
    state.reached = reached;
    const began_ms = performance.now();
    await run();
    ran.push({ name, run, reached, ms: performance.now() - began_ms });
  }
  state.reached = null;
  return ran.toSorted((one, other) => one.ms - other.ms);
}

async function firstFailing(chosen: readonly Test[]): Promise<string | null> {
  for (const { name, run } of chosen) {
    try {
      await run();
    } catch {
      return name;
    }
  }
  return null;
}

async function main(): Promise<void> {
  const at_load = new Set<number>();
  if (active === 0) state.reached = at_load;
  let all: readonly Test[];
  try {
    all = await (tests.length === 0 ? simulations() : collected());
  } catch (error) {
    return send({ noticed_by: `does not load: ${firstLine(error)}`, reached: [] });
  }
  if (active !== 0) {
    send({ noticed_by: await firstFailing(all), reached: [] });
    return process.disconnect();
  }
  const ran = await measured(all);
  process.on("message", (number: number) => {
    state.active = number;
    const reaching = ran.filter(({ reached }) => reached.has(number));
    void firstFailing(reaching).then((noticed_by) => send({ noticed_by, reached: [] }));
  });
  const reached = new Set([...at_load, ...ran.flatMap((it) => [...it.reached])]);
  send({ noticed_by: null, reached: [...reached], at_load: [...at_load] });
}

await main();
