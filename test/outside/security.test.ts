/** SECURITY.md and the workflows say what is true. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

it("each promise of SECURITY.md names a test that exists", () => {
  const rows = readFileSync("SECURITY.md", "utf8").match(/^\| .* \|$/gm) ?? [];
  const promises = rows.filter((row) => !/^\| (promise|---)/.test(row));
  expect(promises.length).toBeGreaterThan(0);
  for (const row of promises) {
    const named = [...row.matchAll(/`([^`]+)`/g)].map(([, it = ""]) => it);
    const tests = named.filter((it) => /^(test\/|npm run )/.test(it));
    expect(tests, row).not.toEqual([]);
    for (const it of tests) {
      const script = /^npm run (\S+)/.exec(it)?.[1];
      const exists = script === undefined ? existsSync(it) : script in scripts;
      expect(exists, it).toBe(true);
    }
  }
});

it("the workflows run the commands of .ci/run, and give no more rights than they need", () => {
  const own = readFileSync(".ci/run", "utf8").match(/^npm .*$/gm) ?? [];
  const workflows = globSync(".github/workflows/*.yml").map((path) => readFileSync(path, "utf8"));
  const commands = workflows.flatMap((text) => text.match(/(?<=run: ).*$/gm) ?? []);
  for (const command of own) expect(commands).toContain(command);
  for (const text of workflows) {
    expect(text).toMatch(/^permissions:\n {2}contents: read$/m);
    for (const [, script = ""] of text.matchAll(/npm run (\S+)/g))
      expect(scripts).toHaveProperty(script);
    expect(text).not.toMatch(/npm (run deploy|publish)/);
  }
});
