/**
 * Set up before each test file in workerd: each test runs once for each mutant that `workerd_turns.ts` sends for it, with
 * empty stores each time. A test "fails" until none is left, because vitest then repeats it with its hooks.
 */
import { beforeAll } from "vitest";
import type { Ended, Next } from "./workerd_turns.ts";

interface Task {
  readonly type: "test" | "suite";
  readonly name: string;
  readonly tasks?: readonly Task[];
  mode: string;
  retry?: unknown;
  fails?: boolean;
}

const MORE_THAN_ENOUGH = 1_000_000;
// Tests replace these.
const { fetch, setTimeout } = globalThis;

// It warns that it is deprecated, before a warning can be sent. What is to be used instead has no `setFn`.
const { warn } = console;
console.warn = () => undefined;
const { getFn, setFn } = await import("vitest/suite");
console.warn = warn;

const state: { active: number; reached: Set<number> | null } = ((
  globalThis as unknown as { mutants?: { active: number; reached: Set<number> | null } }
).mutants ??= { active: 0, reached: null });

async function request<Value>(path: string, body: unknown): Promise<Value> {
  const response = await fetch(`http://mutants.test/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  return response.json();
}

function testsOf(task: Task, name: string): readonly (readonly [string, Task])[] {
  if (task.type === "test") return [[name, task]];
  return (task.tasks ?? []).flatMap((it, at) => testsOf(it, `${name} > ${at} ${it.name}`));
}

/** Runs a test with one mutant. @returns why it failed, or null. */
async function failureOf(run: () => unknown, longest_ms: number): Promise<string | null> {
  const late = new Promise<string>((resolve) => {
    setTimeout(() => resolve("takes too long"), longest_ms);
  });
  const ran = (async (): Promise<string | null> => {
    try {
      await run();
      return null;
    } catch (error) {
      return error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    }
  })();
  return Promise.race([ran, late]);
}

/** Puts a test into another that runs it once for each mutant. */
function repeat(name: string, test: Task): void {
  const original = getFn(test as never) as () => unknown;
  let next: Next | undefined;
  test.retry = MORE_THAN_ENOUGH;
  setFn(test as never, async () => {
    next ??= await request<Next>("first", { test: name, mutant: 0 });
    if (next === null) return;
    const { mutant, longest_ms } = next;
    const reached = new Set<number>();
    state.reached = mutant === 0 ? reached : null;
    state.active = mutant;
    const noticed_by = await failureOf(original, longest_ms);
    Object.assign(state, { active: 0, reached: null });
    const ended: Omit<Ended, "ms"> = { test: name, mutant, noticed_by, reached: [...reached] };
    next = await request<Next>("ended", ended);
    if (next !== null) throw new Error("there is another mutant");
  });
}

// Vitest reads the names of what is wanted of the first one: nothing.
// oxlint-disable-next-line no-empty-pattern
beforeAll(async ({}, suite) => {
  const file = (suite as unknown as { readonly file: Task }).file;
  const tests = testsOf(file, file.name).filter(
    ([, { mode }]) => mode === "run" || mode === "queued",
  );
  const has_work = await request<readonly string[]>(
    "tests",
    tests.map(([name]) => name),
  );
  for (const [name, test] of tests) {
    if (has_work.includes(name) && test.fails !== true) repeat(name, test);
    else test.mode = "skip";
  }
});
