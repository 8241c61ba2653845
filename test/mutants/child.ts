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

interface Ran {
  readonly name: string;
  readonly run: () => unknown;
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

async function simulated(): Promise<string | null> {
  const { simulate } = await import("../simulator/run.ts");
  for (const seed of SEEDS) {
    const { failure } = await simulate({ seed, steps: STEPS, accounts: 4 });
    if (failure !== null) return `simulator: ${failure.rule.split("\n")[0]}`;
  }
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const history = { seed, steps: STEPS_OF_HISTORY, accounts: 1, on_terms: true };
    const { failure } = await simulate(history);
    if (failure !== null) return `simulator: ${failure.rule.split("\n")[0]}`;
  }
  return null;
}

async function withSimulator(): Promise<void> {
  const reached = new Set<number>();
  if (active === 0) state.reached = reached;
  const noticed_by = await simulated().catch((error: unknown) => `throws: ${firstLine(error)}`);
  send({ noticed_by, reached: [...reached] });
  process.disconnect();
}

async function withTests(): Promise<void> {
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
  const at_load = new Set<number>();
  if (active === 0) state.reached = at_load;
  const { tests: all } = await import("./vitest.ts");
  try {
    for (const test of tests) await import(pathToFileURL(resolve(test)).href);
  } catch (error) {
    return send({ noticed_by: `does not load: ${firstLine(error)}`, reached: [] });
  }
  const ran: Ran[] = [];
  if (active === 0) {
    for (const { name, run } of all) {
      const reached = new Set<number>();
      state.reached = reached;
      const began_ms = performance.now();
      await run();
      ran.push({ name, run, reached, ms: performance.now() - began_ms });
    }
    ran.sort((one, other) => one.ms - other.ms);
  }
  state.reached = null;
  const firstFailing = async (
    chosen: readonly Pick<Ran, "name" | "run">[],
  ): Promise<string | null> => {
    for (const { name, run } of chosen) {
      try {
        await run();
      } catch {
        return name;
      }
    }
    return null;
  };
  if (active !== 0) {
    send({ noticed_by: await firstFailing(all), reached: [] });
    return process.disconnect();
  }
  process.on("message", (number: number) => {
    state.active = number;
    const reaching = ran.filter(({ reached }) => reached.has(number));
    void firstFailing(reaching).then((noticed_by) => send({ noticed_by, reached: [] }));
  });
  const reached = new Set([...at_load, ...ran.flatMap((it) => [...it.reached])]);
  send({ noticed_by: null, reached: [...reached], at_load: [...at_load] });
}

await (tests.length === 0 ? withSimulator() : withTests());
