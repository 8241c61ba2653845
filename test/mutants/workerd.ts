/** Tries mutants with the tests that run in workerd. One start of workerd tries hundreds: all of them are in one build. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import type { Mutant } from "./mutations.ts";
import { HUNG, Known, linesOf, numbered, type Line, type Work } from "./workerd_turns.ts";

interface Wanted {
  readonly file: string;
  readonly mutants: readonly Mutant[];
}

const FOLDER = ".scratch/mutants";
/** How many tests a mutant is tried with in the first rounds. */
const FIRST_ROUNDS = [3, 10];

/** @returns its exit code */
async function runVitest(work: Work, files: readonly string[]): Promise<number | null> {
  const path = `${FOLDER}/work.${process.pid}.json`;
  writeFileSync(path, JSON.stringify(work));
  const options = ["run", "--project", "worker", "--no-file-parallelism", "--tags-filter", "!slow"];
  const child = spawn("npx", ["vitest", ...options, ...files], {
    env: { ...process.env, MUTANTS: path },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number | null];
  rmSync(path);
  return code;
}

/** How many turns are left. */
const turnsLeft = (known: Known, work: Work): number =>
  [...known.plan(work).values()].flat().length;

/** Tries each mutant with the tests that are left for it. */
async function tryAll(work: Work): Promise<void> {
  const { log } = work;
  for (;;) {
    const known = new Known(linesOf(log));
    const tests = [...known.plan(work).keys()].map((test) => test.split(" > ")[0] ?? "");
    if (tests.length === 0) break;
    await runVitest(work, [...new Set(tests)]);
    const now = new Known(linesOf(log));
    const { open } = now;
    if (open === null) {
      const left_turns = turnsLeft(now, work);
      if (left_turns < turnsLeft(known, work)) continue;
      // On a busy machine, test files may fail to start.
      console.log(`workerd: tests did not start, so ${left_turns} tries are missing`);
      break;
    }
    const line: Line = {
      ended: { ...open, noticed_by: "does not end", reached: [], ms: 0 },
    };
    appendFileSync(log, `${JSON.stringify(line)}\n`);
  }
}

/**
 * @param patterns of test files; those that reach none of the mutants run once
 * @param tests_max tests that a mutant is tried with
 * @returns what noticed each mutant, by file and number
 */
export async function tryInWorkerd(
  wanted: readonly Wanted[],
  patterns: readonly string[],
  tests_max: number,
): Promise<ReadonlyMap<string, ReadonlyMap<number, string>>> {
  mkdirSync(FOLDER, { recursive: true });
  const log = `${FOLDER}/log.${process.pid}.jsonl`;
  const files = wanted.filter(({ mutants }) => mutants.length > 0).map(({ file }) => file);
  const all = numbered(files);
  const left = new Set(
    wanted.flatMap(({ file, mutants }) => {
      const numbers = all.get(file) ?? [];
      return mutants.map(({ number }) => numbers[number - 1]?.number ?? 0);
    }),
  );
  const work: Work = { files, wanted: [...left], measures: true, tests_max, log };
  let code: number | null = HUNG;
  // Goes on with the tests that are left.
  while (code === HUNG) code = await runVitest(work, patterns);
  if (code !== 0) console.log(`workerd: vitest ended with code ${code}, so tests may be missing`);
  const { size } = new Known(linesOf(log)).tests;
  console.log(`workerd: ${size} tests ran with ${left.size} mutants left`);
  // Each round knows which tests notice the most where.
  const rounds = [...FIRST_ROUNDS.filter((tests) => tests < tests_max), tests_max];
  for (const tests of rounds) {
    await tryAll({ ...work, measures: false, tests_max: tests });
    const { noticed } = new Known(linesOf(log));
    console.log(`workerd: ${noticed.size} noticed with ${tests} tests for each`);
  }
  const { noticed } = new Known(linesOf(log));
  const result = new Map<string, Map<number, string>>();
  for (const [file, numbers] of all) {
    const [first] = numbers;
    if (first === undefined) continue;
    const its = numbers.flatMap(({ number }) => {
      const by = noticed.get(number);
      return by === undefined ? [] : [[number - first.number + 1, by] as const];
    });
    result.set(file, new Map(its));
  }
  return result;
}
