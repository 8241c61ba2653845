/**
 * `npm run faults`: puts each fault into the code, and runs seeds of the simulator until one finds it. Prints the table of
 * docs/proof.md. Names of faults as arguments: only those. Ends with code 1 if a fault is not found.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { FAULTS, faultNamed, type Fault } from "./faults.ts";

const SEEDS_MAX = 10;
const STEPS = 20_000;
const AT_ONCE = 2;

interface Found {
  readonly seed: string;
  readonly steps: string;
  readonly rule: string;
}

async function find({ name }: Fault): Promise<Found | null> {
  const seeds = ["--seed", "1", "--seeds", String(SEEDS_MAX), "--steps", String(STEPS)];
  const program = [...process.execArgv, "test/simulator/simulate.ts", "--fault", name, "--raw"];
  try {
    await promisify(execFile)(process.execPath, [...program, ...seeds], { maxBuffer: 2 ** 26 });
    return null;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const [, seed = "", steps = "", rule = ""] =
      /^seed (\d+) failed at step (\d+): (.*)$/m.exec(stdout) ?? [];
    if (seed === "")
      throw new Error(`the simulator did not run with ${name}: ${stderr}`, { cause: error });
    return { seed, steps, rule };
  }
}

const names = process.argv.slice(2);
const wanted = names.length === 0 ? FAULTS : names.map(faultNamed);
const began_ms = performance.now();
const lost: string[] = [];
const queue = [...wanted];
console.log("| fault | the code then | found by | rule |\n| --- | --- | --- | --- |");
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { name, why } = next;
      const found = await find(next);
      if (found === null) lost.push(name);
      const by = found === null ? "**not found**" : `seed ${found.seed}, step ${found.steps}`;
      console.log(`| \`${name}\` | ${why} | ${by} | ${found?.rule ?? ""} |`);
    }
  }),
);
const seconds = Math.round((performance.now() - began_ms) / 1_000);
console.log(`\n${wanted.length - lost.length} of ${wanted.length} faults found in ${seconds} s`);
process.exit(lost.length === 0 ? 0 : 1);
