import { existsSync, globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

interface Row {
  readonly row: string;
  readonly files: readonly string[];
  /** Names of tests or groups, with the file that they are looked up in. */
  readonly names: readonly { readonly file: string | null; readonly name: string }[];
}

/** The rows of the tables: what is required, and where it is tested. */
function readRows(): Row[] {
  const lines = readFileSync("test/README.md", "utf8").split("\n");
  return lines
    .filter((line) => line.startsWith("| ") && !line.startsWith("| ---"))
    .map((row) => {
      const tested = row.slice(row.indexOf(" | "));
      const files: string[] = [];
      const names: { file: string | null; name: string }[] = [];
      for (const [, code, name] of tested.matchAll(/`([^`]+)`|"([^"]+)"/g)) {
        if (code !== undefined && /^[a-z_]+(\/[a-z_0-9.]+)+$/.test(code)) files.push(code);
        if (name !== undefined) names.push({ file: files.at(-1) ?? null, name });
      }
      return { row, files, names };
    });
}

/** The tables leave out `worker/` and `outside/`, and endings. */
function pathOf(file: string): string | undefined {
  return ["test/worker", "test/outside", "test"]
    .flatMap((folder) => [".test.ts", ".ts", ""].map((ending) => `${folder}/${file}${ending}`))
    .find((path) => existsSync(path));
}

const rows = readRows();

it("names files that there are", () => {
  const unknown = rows.flatMap(({ row, files }) =>
    files.filter((file) => pathOf(file) === undefined).map((file) => `${file} in ${row}`),
  );
  expect(unknown).toEqual([]);
});

it("names tests that are in them", () => {
  const missing = rows.flatMap(({ row, names }) =>
    names
      .filter(({ file, name }) => {
        const path = file === null ? undefined : pathOf(file);
        if (path === undefined) return true;
        // A name stands in quotes on the line that begins a test, or on its own under one.
        const lines = readFileSync(path, "utf8").split("\n");
        return !lines.some(
          (line) => /^\s*(it|describe|\]\)|\[?["`])/.test(line) && line.includes(name),
        );
      })
      .map(({ name }) => `${name} in ${row}`),
  );
  expect(missing).toEqual([]);
  expect(rows.flatMap(({ names }) => names).length).toBeGreaterThan(50);
});

it("docs/operate.md knows every event that is logged, and no other", () => {
  const source = globSync("src/**/*.{ts,tsx}").map((path) => readFileSync(path, "utf8"));
  // An event by another name would not be seen here.
  const unnamed = source.flatMap((text) => text.match(/console\.\w+\(\{(?!\s*event: ").*/g) ?? []);
  expect(unnamed).toEqual([]);
  const logged = source.flatMap((text) =>
    [...text.matchAll(/\bevent: "([a-z_]+)"/g)].map(([, name = ""]) => name),
  );
  const [, table = ""] = readFileSync("docs/operate.md", "utf8").split("| `event` |");
  const rows = (table.split("\n\n")[0] ?? "").split("\n").slice(2);
  const told = rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`([a-z_]+)`/g)].map(([, name = ""]) => name),
  );
  expect(told.toSorted()).toEqual([...new Set(logged)].toSorted());
});

it("no page, hint or example shows an `npx` call that could fetch a stranger's package", () => {
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    devDependencies: Record<string, string>;
  };
  const shown = globSync([
    "*.{md,toml}",
    "{docs,examples,src,test}/**/*.{md,ts,tsx,js,mjs,html}",
  ]).flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/\bnpx (-\S+ )?([a-z][\w./@-]*)/g)].map(
      ([, option = "", name = ""]) => ({ path, option: option.trim(), name }),
    ),
  );
  // With `--no`, `npx` runs what is installed, or nothing. A development dependency has a known author.
  const unsafe = shown.filter(
    ({ option, name }) => option !== "--no" && !(name in devDependencies),
  );
  expect(unsafe).toEqual([]);
  expect(shown.length).toBeGreaterThan(10);
});
