import { existsSync, globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

interface Row {
  readonly row: string;
  readonly files: readonly string[];
  /** Titles of tests or groups, with their file. */
  readonly names: readonly { readonly file: string | null; readonly name: string }[];
}

/** The rows of the tables: a requirement and its tests. */
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

/** The tables omit `worker/`, `outside/` and file extensions. */
function pathOf(file: string): string | undefined {
  return ["test/worker", "test/outside", "test"]
    .flatMap((folder) => [".test.ts", ".ts", ""].map((ending) => `${folder}/${file}${ending}`))
    .find((path) => existsSync(path));
}

const rows = readRows();

it("test/README.md names existing files", () => {
  const unknown = rows.flatMap(({ row, files }) =>
    files.filter((file) => pathOf(file) === undefined).map((file) => `${file} in ${row}`),
  );
  expect(unknown).toEqual([]);
});

it("test/README.md quotes titles of existing tests", () => {
  const missing = rows.flatMap(({ row, names }) =>
    names
      .filter(({ file, name }) => {
        const path = file === null ? undefined : pathOf(file);
        if (path === undefined) return true;
        // A title is in quotes on the first line of a test, or on the next line.
        const lines = readFileSync(path, "utf8").split("\n");
        return !lines.some(
          (line) => /^\s*(it|describe|\]\)|\[?["`])/.test(line) && line.includes(name),
        );
      })
      .map(({ name }) => `${name} in ${row}`),
  );
  expect(missing).toEqual([]);
  expect(rows.flatMap(({ names }) => names).length).toBeGreaterThan(40);
});

it("docs/operate.md lists exactly the events that the code logs", () => {
  const source = globSync("src/**/*.{ts,tsx}").map((path) => readFileSync(path, "utf8"));
  // Every log call must begin with the event, so that this test can find it.
  const unnamed = source.flatMap((text) => text.match(/console\.\w+\(\{(?!\s*event: ").*/g) ?? []);
  expect(unnamed).toEqual([]);
  const logged = source.flatMap((text) =>
    [...text.matchAll(/\bevent: "([a-z_]+)"/g)].map(([, name = ""]) => name),
  );
  const [, table = ""] = readFileSync("docs/operate.md", "utf8").split("| `event` |");
  const rows = (table.split("\n\n")[0] ?? "").split("\n").slice(2);
  const documented = rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`([a-z_]+)`/g)].map(([, name = ""]) => name),
  );
  expect(documented.toSorted()).toEqual([...new Set(logged)].toSorted());
});

it("no page, message or example shows an `npx` call that could download an unrelated package", () => {
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
