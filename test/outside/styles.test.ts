/** The styles use one scale of type and two radii of corners. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const FOLDER = "src/web/style";
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".css"));
const sheets = files.map((name) => ({ name, css: readFileSync(join(FOLDER, name), "utf8") }));

/** The values of a property in all sheets, each with its file. */
const valuesOf = (property: string): (readonly [string, string])[] =>
  sheets.flatMap(({ name, css }) =>
    [...css.matchAll(new RegExp(`(?<![-\\w])${property}:\\s*([^;}]+)[;}]`, "g"))].map(
      ([, value = ""]) => [name, value.replace(/\s+/g, " ").trim()] as const,
    ),
  );

/** The custom properties of the scale that the sheets define. */
const definedAs = (prefix: string): string[] =>
  sheets.flatMap(({ css }) =>
    [...css.matchAll(new RegExp(`(--${prefix}[\\w-]*):`, "g"))].map(([, name = ""]) => name),
  );

describe("the styles", () => {
  it("the styles have at most six sizes of type, and use no other", () => {
    const scale = definedAs("size-");
    expect(scale.length).toBeLessThanOrEqual(6);
    const allowed = new Set(["inherit", ...scale.map((name) => `var(${name})`)]);
    expect(valuesOf("font-size").filter(([, value]) => !allowed.has(value))).toEqual([]);
    const shorthands = valuesOf("font").filter(([, value]) => value !== "inherit");
    const foreign = shorthands.filter(
      ([, value]) => /\d(?:px|rem|em|%)/.test(value) || !value.includes("var(--size-"),
    );
    expect(foreign).toEqual([]);
  });

  it("the styles have at most two radii of corners, and use no other", () => {
    const radii = definedAs("radius");
    expect(radii.length).toBeLessThanOrEqual(2);
    const allowed = new Set(["0", ...radii.map((name) => `var(${name})`)]);
    const used = valuesOf("border-radius").flatMap(([name, value]) =>
      value.split(" ").map((part) => [name, part] as const),
    );
    expect(used.filter(([, part]) => !allowed.has(part))).toEqual([]);
  });
});
