/** The texts of the pages for people, in their source. */
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { GERMAN } from "../../src/web/language/german.ts";

const SOURCES = globSync("src/**/*.{ts,tsx}")
  .filter((path) => path !== "src/web/language/german.ts")
  .map((path) => readFileSync(path, "utf8"))
  .join("\n");

it("every text that has a German is a text of a page", () => {
  const unused = Object.keys(GERMAN).filter(
    (text) => ![`"${text.replaceAll('"', '\\"')}"`, `'${text}'`].some((it) => SOURCES.includes(it)),
  );
  // Names of records are written without quotes.
  const names = unused.filter((text) => !new RegExp(`\\b${text}:`).test(SOURCES));
  expect(names).toEqual([]);
});
