import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { hostingSuffixesModule } from "../../src/commands/public_suffix_list.ts";
import { wildcardsOpenToStrangers } from "../../src/commands/wildcards.ts";
import { HOSTING_SUFFIXES } from "../../src/domain/hosting_suffixes.ts";
import { isOpenToStrangers } from "../../src/domain/public_suffixes.ts";

describe("ALLOWED_ORIGINS before it is used", () => {
  it("is held to the whole list, of which the Worker has a part", () => {
    const places = ["oslo.no", "hokkaido.jp", "k12.ca.us", "roma.it"];
    expect(places.filter(isOpenToStrangers)).toEqual([]);
    for (const host of [...places, "github.io", "co.uk", "com", "amazonaws.com"]) {
      const entry = `https://*.${host}`;
      const settings = `http://localhost:3000, ${entry} ,https://*.example.com,myapp://x`;
      expect(wildcardsOpenToStrangers(settings)).toEqual([entry]);
    }
  });
});

describe("the part of the list that the Worker has", () => {
  const names = HOSTING_SUFFIXES.split("\n").flatMap((line) => {
    const [top = "", ...rest] = line.split(" ");
    return rest.map((name) => `${name}.${top}`);
  });

  it("holds suffixes or their parents, every one refused", () => {
    expect(names.length).toBeGreaterThan(2_000);
    expect(names.filter((name) => !isOpenToStrangers(name))).toEqual([]);
  });

  it("is what `npm run suffixes` makes of the pinned list", async () => {
    const kept = await readFile("src/domain/hosting_suffixes.ts", "utf8");
    expect(kept).toBe(hostingSuffixesModule());
  });
});
