/**
 * `npm run mutate`: changes the code in small ways, one at a time, and shows which changes no test notices. Ends with code 1
 * if a mutant survives that `accepted.ts` does not explain, or if an explanation is no longer needed.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ACCEPTED } from "./accepted.ts";
import type { Outcome, Task } from "./child.ts";
import { mutantsOf, type Mutant } from "./mutations.ts";
import { tryInWorkerd } from "./workerd.ts";

const USAGE = `npm run mutate -- [options]
  --file PATH    a file of src, or a pattern such as "src/domain/*.ts"; can be repeated (the files of docs/proof.md)
  --line N       only the mutants of this line
  --tests        only the tests of pure rules, without the simulator
  --workerd      afterwards, the tests in workerd too, for what is left
  --worker PATH  only test files in workerd whose path has this; can be repeated (all)
  --tries N      tests in workerd that a mutant is tried with, those that reach the fewest mutants first (8)
  --verbose      prints what noticed each mutant
  --list         prints the explained survivors and their reasons, and runs nothing`;

/** The files whose survivors are all explained. */
const TREATED = [
  "src/domain/*.ts",
  "src/tokens/*.ts",
  "src/webhooks/{attempt,attempts,delivery_records,engine,sender,sender_contract,signature,state}.ts",
  "src/http/caller/*.ts",
];
/** Tests that run in this process's runtime too: those of pure rules, of tokens, of callers, and of what sends webhooks. */
const TESTS = globSync(
  "test/worker/{domain,tokens,webhooks/rules,http/caller/rules}/*.test.ts",
).filter((it) => !/page_parts|oauth_tokens/.test(it));
/** The longest time of the code as it is. A mutant may take some times as long, and then it does not end. */
const LONGEST_MS = 10 * 60_000;
const TIMES_AS_LONG = 5;
const SHORTEST_MS = 10_000;
/** Files whose mutants are tried at the same time. */
const AT_ONCE = 2;
/** What the simulator runs. */
const SIMULATED = ["test/simulator/world.ts", "test/simulator/judge.ts"];
/** The time after which a line shows how far it is. */
const PROGRESS_EVERY_MS = 20_000;

const { values } = parseArgs({
  options: {
    file: { type: "string", multiple: true, default: TREATED },
    line: { type: "string" },
    tests: { type: "boolean", default: false },
    workerd: { type: "boolean", default: false },
    worker: { type: "string", multiple: true, default: ["test/worker/"] },
    tries: { type: "string", default: "8" },
    verbose: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}

if (values.list) {
  const code = (text: string): string => {
    const cell = text.replaceAll("|", "\\|");
    return cell.includes("`") ? `\`\` ${cell} \`\`` : `\`${cell}\``;
  };
  console.log("| file | the code | the changes | reason |\n| --- | --- | --- | --- |");
  const rows = Map.groupBy(ACCEPTED, ({ file, source, why }) =>
    [`\`${file.slice(4)}\``, code(source), why].join("\n"),
  );
  for (const [row, its] of rows) {
    const [file, source, why] = row.split("\n");
    const changes = its.map(({ change }) => code(change)).join(" · ");
    console.log(`| ${file} | ${source} | ${changes} | ${why} |`);
  }
  process.exit();
}

/** What a file imports itself, by path. */
function importsOf(file: string): readonly string[] {
  const names = readFileSync(file, "utf8").matchAll(/from "(\.[^"]+\.ts)"/g);
  return [...names].map(([, name = ""]) => relative(".", join(dirname(file), name)));
}

/** Whether a file imports another, itself or through others. */
function reaches(from: string, to: string, seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return importsOf(from).some((next) => reaches(next, to, seen));
}

function start(task: Task): ChildProcess {
  const program = fileURLToPath(new URL("child.ts", import.meta.url).href);
  return fork(program, [JSON.stringify(task)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
}

/** The next message of a process. A process that is busy too long or ends has noticed the mutant. */
async function outcomeOf(child: ChildProcess, longest_ms = LONGEST_MS): Promise<Outcome> {
  const ended = new AbortController();
  const timer = setTimeout(() => child.kill("SIGKILL"), longest_ms);
  const { signal } = ended;
  try {
    const [first] = (await Promise.race([
      once(child, "message", { signal }),
      once(child, "exit", { signal }).then(([, by]) => [
        { noticed_by: by === "SIGKILL" ? "does not end" : "the process ends", reached: [] },
      ]),
    ])) as [Outcome];
    return first;
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}

/** Measures how long the code as it is takes, and returns how long a mutant may take. */
function stopwatch(): () => number {
  const began_ms = performance.now();
  return () => Math.max(SHORTEST_MS, (performance.now() - began_ms) * TIMES_AS_LONG);
}

/** One mutant in a process of its own. */
async function alone(task: Task, longest_ms?: number): Promise<Outcome> {
  const child = start(task);
  try {
    return await outcomeOf(child, longest_ms);
  } finally {
    child.kill("SIGKILL");
  }
}

/** What noticed each mutant, by number. */
class Results {
  readonly by = new Map<number, string>();
  readonly file: string;
  readonly mutants: readonly Mutant[];
  #tried = 0;
  #shown_ms = performance.now();

  constructor(file: string, mutants: readonly Mutant[]) {
    this.file = file;
    this.mutants = mutants;
  }

  get left(): readonly Mutant[] {
    return this.mutants.filter(({ number }) => !this.by.has(number));
  }

  note({ number, line, change }: Mutant, { noticed_by }: Outcome): void {
    this.#tried += 1;
    if (performance.now() - this.#shown_ms > PROGRESS_EVERY_MS) {
      this.progress(`${this.#tried} tried`);
    }
    if (noticed_by === null) return;
    this.by.set(number, noticed_by);
    if (values.verbose) console.log(`  line ${line}: ${change}: ${noticed_by}`);
  }

  /** Prints what the step has found. */
  progress(step: string): void {
    const { by, mutants, file } = this;
    this.#shown_ms = performance.now();
    console.log(`${file}: ${step}: ${by.size} of ${mutants.length} noticed`);
  }
}

/** Tries what is left of the mutants of a file: with tests, or with the simulator if there are none. */
async function tryMutants(results: Results, tests: readonly string[]): Promise<void> {
  const { file } = results;
  const wanted = results.left.filter((it) => !isAccepted(file, it) || tests.length > 0);
  if (wanted.length === 0) return;
  const task: Task = { file, tests, active: 0 };
  const measured = stopwatch();
  let child = start(task);
  const first = await outcomeOf(child);
  const longest_ms = measured();
  if (first.noticed_by !== null) throw new Error(`${file}: tests fail: ${first.noticed_by}`);
  const reached = new Set(first.reached);
  for (const mutant of wanted.filter(({ number }) => reached.has(number))) {
    child.send(mutant.number);
    results.note(mutant, await outcomeOf(child, longest_ms));
    if (child.killed || child.signalCode !== null || child.exitCode !== null) {
      child = start(task);
      await outcomeOf(child);
    }
  }
  child.kill("SIGKILL");
  // Some code has run before its mutant was active.
  const at_load = new Set(first.at_load);
  for (const mutant of results.left.filter(({ number }) => at_load.has(number)))
    results.note(mutant, await alone({ ...task, active: mutant.number }, longest_ms));
  results.progress(tests.length === 0 ? "simulator" : "tests");
}

/** Tries the mutants of a file in processes of Node. */
async function tryInNode(results: Results): Promise<void> {
  const tests = TESTS.filter((test) => reaches(test, results.file));
  if (tests.length > 0) await tryMutants(results, tests);
  if (!values.tests && SIMULATED.some((test) => reaches(test, results.file)))
    await tryMutants(results, []);
}

/** Whether `accepted.ts` explains a mutant. */
const isAccepted = (file: string, { source, change }: Mutant): boolean =>
  ACCEPTED.some((it) => it.file === file && it.source === source && it.change === change);

/** Prints the result of a file, and returns the number of its problems. */
function report({ file, mutants, left, by }: Results): number {
  const survivors = left.filter((it) => !isAccepted(file, it));
  for (const { line, source, change } of survivors)
    console.log(`${file}:${line}: survives: ${change}\n    ${source}`);
  const stale = ACCEPTED.filter(
    (it) =>
      it.file === file &&
      !left.some(({ source, change }) => source === it.source && change === it.change),
  );
  if (values.line !== undefined || values.tests) return survivors.length;
  for (const { source, change } of stale)
    console.log(
      `${file}: accepted.ts explains a mutant that does not survive: ${change}\n    ${source}`,
    );
  const accepted = left.length - survivors.length;
  console.log(
    `| \`${file}\` | ${mutants.length} | ${by.size} | ${accepted} | ${survivors.length} |`,
  );
  return survivors.length + stale.length;
}

const began_ms = performance.now();
const all = globSync(values.file)
  .toSorted()
  .map((file) => {
    const mutants = mutantsOf(file, readFileSync(file, "utf8"));
    const { line } = values;
    return new Results(
      file,
      line === undefined ? mutants : mutants.filter((it) => it.line === Number(line)),
    );
  })
  .filter(({ mutants }) => mutants.length > 0);
const queue = [...all];
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await tryInNode(next);
  }),
);
if (values.workerd) {
  const wanted = all.map((results) => ({
    file: results.file,
    mutants: results.left.filter((it) => !isAccepted(results.file, it)),
  }));
  const noticed = await tryInWorkerd(wanted, values.worker, Number(values.tries));
  for (const results of all) {
    for (const mutant of results.left) {
      const noticed_by = noticed.get(results.file)?.get(mutant.number);
      if (noticed_by !== undefined) results.note(mutant, { noticed_by, reached: [] });
    }
  }
}
let [problems, total, noticed_in_all] = [0, 0, 0];
for (const results of all) {
  problems += report(results);
  total += results.mutants.length;
  noticed_in_all += results.by.size;
}
const minutes = ((performance.now() - began_ms) / 60_000).toFixed(1);
console.log(
  `${noticed_in_all} of ${total} mutants noticed in ${minutes} minutes; ${problems} problems`,
);
process.exit(problems === 0 ? 0 : 1);
