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

it("docs/proof.md has each fault of the list, in the table with the seed that finds it or among those not found", () => {
  const page = readFileSync("docs/proof.md", "utf8");
  const [, rest = ""] = page.split("## Faults that it finds");
  const [table = "", not_found = ""] = (rest.split("\n## ")[0] ?? "").split("were not found");
  const rows = [...table.matchAll(/^\| `(\w+)` \| (.*) \| seed \d+, step \d+ \| .+ \|$/gm)];
  const found = rows.map(([, name, why]) => ({ name, why }));
  const wanted = FAULTS.filter(({ name }) => !not_found.includes(`\`${name}\``));
  expect(found).toEqual(wanted.map(({ name, why }) => ({ name, why })));
});

it("short histories of credits with terms break no rule, and a failing one prints its seed", async () => {
  const { code, output } = await simulate("--histories", "40");
  expect(code, output).toBe(0);
  expect(output).toContain("seeds 1 to 40: no rule was broken");
  const broken = await simulate("--histories", "40", "--fault", "hold_back_to_base", "--raw");
  expect(broken.code, broken.output).toBe(1);
  expect(broken.output).toMatch(/repeat with: npm run simulate -- --seed \d+ --histories 1/);
});

it(
  "the simulator finds no broken rule with fresh seeds",
  { tags: ["slow"], timeout: (SECONDS + 120) * 1_000 },
  async () => {
    const { code, output } = await simulate("--seed", "fresh", "--seconds", String(SECONDS));
    expect(code, output).toBe(0);
  },
);

it(
  "ten thousand histories of credits with terms break no rule",
  { tags: ["slow"], timeout: 1_800_000 },
  async () => {
    const halves = ["1", "5001"].map((seed) => simulate("--seed", seed, "--histories", "5000"));
    for (const { code, output } of await Promise.all(halves)) expect(code, output).toBe(0);
  },
);
