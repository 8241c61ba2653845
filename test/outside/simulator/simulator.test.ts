/** The simulator itself, and its runs: fixed seeds in `npm test`, fresh ones in `npm run check:slow`. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { FAULTS } from "../../faults/faults.ts";

/** How long fresh seeds run; the limit of a test is longer. */
const SECONDS = Number(process.env["SIMULATE_SECONDS"] ?? 120);

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Runs `npm run simulate` in a process of its own, because it replaces the clock. */
async function simulate(...options: string[]): Promise<Ended> {
  const command = ["run", "-s", "simulate", "--", ...options];
  try {
    const { stdout } = await promisify(execFile)("npm", command, { maxBuffer: 2 ** 26 });
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

const hashesOf = ({ output }: Ended): readonly string[] =>
  [...output.matchAll(/history ([0-9a-f]+)/g)].map(([, hash]) => hash ?? "");

it("the simulator finds no broken rule with the fixed seeds", async () => {
  const { code, output } = await simulate("--seed", "1", "--seeds", "5", "--steps", "8000");
  expect(output).toMatch(/\d+ steps, \d+ a minute/);
  expect(code, output).toBe(0);
});

it("the same seed gives the same history, whatever ran before it", async () => {
  const one = await simulate("--seed", "7", "--steps", "3000");
  const after_another = await simulate("--seed", "6", "--seeds", "2", "--steps", "3000");
  expect(hashesOf(one)).toHaveLength(1);
  expect(hashesOf(after_another)[1]).toBe(hashesOf(one)[0]);
  expect(hashesOf(after_another)[0]).not.toBe(hashesOf(one)[0]);
});

it("the simulator finds a fault that was put into the code, and prints its seed and a short history", async () => {
  const { code, output } = await simulate("--fault", "double_settle", "--steps", "20000");
  expect(code, output).toBe(1);
  expect(output).toContain("seed 1 failed at step");
  expect(output).toMatch(/\d+ of \d+ actions suffice/);
  expect(output).toContain("repeat with: npm run simulate -- --seed 1");
});

it("each fault of the list still fits the code that it breaks", () => {
  const times = FAULTS.flatMap(({ name, changes }) =>
    changes.map(({ file, from }) => ({
      name,
      times: readFileSync(file, "utf8").split(from).length - 1,
    })),
  );
  expect(times.filter((change) => change.times !== 1)).toEqual([]);
});

it(
  "the simulator finds no broken rule with fresh seeds",
  { tags: ["slow"], timeout: (SECONDS + 120) * 1_000 },
  async () => {
    const { code, output } = await simulate("--seed", "fresh", "--seconds", String(SECONDS));
    expect(code, output).toBe(0);
  },
);
