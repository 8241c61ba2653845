/**
 * The module `vitest`, as far as tests of pure rules import it: it keeps the tests, so that `child.ts` can run them once for
 * each mutant in one process.
 */
import { mock } from "node:test";
import { chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from "@vitest/expect";

export interface Test {
  readonly name: string;
  readonly run: () => unknown;
}

// The command's output does not contain the log of the code.
for (const level of ["log", "warn", "error"] as const) console[level] = () => undefined;

type Run = (...input: never[]) => unknown;

/** All tests of the files that were imported, in their order. */
export const tests: Test[] = [];

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);
export const { expect } = chai;

/** A test, with its options before its function or after it. */
export function it(name: string, ...rest: readonly unknown[]): void {
  const run = rest.find((part): part is () => unknown => typeof part === "function");
  if (run === undefined) throw new Error(`the test has no function: ${name}`);
  tests.push({
    name,
    run: async () => {
      try {
        await run();
      } finally {
        mock.timers.reset();
      }
    },
  });
}

it.each =
  (rows: readonly unknown[]) =>
  (name: string, run: Run): void => {
    for (const row of rows) {
      const input = (Array.isArray(row) ? row : [row]) as never[];
      it(name, () => run(...input));
    }
  };

/** A group of tests, whose names are sentences without it. */
export function describe(_name: string, define: () => void): void {
  define();
}

/** The clock of a test, which is the real one again after it. */
export const vi = {
  useFakeTimers({ now }: { readonly toFake: readonly ["Date"]; readonly now: number }): void {
    mock.timers.reset();
    mock.timers.enable({ apis: ["Date"], now });
  },
  setSystemTime: (now_ms: number): void => mock.timers.setTime(now_ms),
  advanceTimersByTime: (passed_ms: number): void => mock.timers.tick(passed_ms),
};
