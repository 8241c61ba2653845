import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import {
  HOSTING_SUFFIXES_FILE,
  hostingSuffixes,
} from "../../../src/commands/public_suffix_list.ts";
import { wildcardsOpenToStrangers } from "../../../src/commands/wildcards.ts";
import {
  isHostingSuffix,
  isRegistrySuffix,
  readHostingSuffixes,
} from "../../../src/domain/public_suffixes.ts";

const stored_list = await readFile(HOSTING_SUFFIXES_FILE, "utf8");
const known = readHostingSuffixes(stored_list);

describe("ALLOWED_ORIGINS before it is used", () => {
  it("ALLOWED_ORIGINS is checked against the whole public suffix list before deployment", () => {
    const hosts = ["oslo.no", "hokkaido.jp", "k12.ca.us", "roma.it"];
    const worker_knows = (host: string): boolean =>
      isRegistrySuffix(host) || isHostingSuffix(host, known);
    expect(hosts.filter(worker_knows)).toEqual([]);
    for (const host of [...hosts, "github.io", "co.uk", "com", "amazonaws.com"]) {
      const entry = `https://*.${host}`;
      const settings = `http://localhost:3000, ${entry} ,https://*.example.com,myapp://x`;
      expect(wildcardsOpenToStrangers(settings)).toEqual([entry]);
    }
  });
});

describe("the part of the list that the Worker has", () => {
  const names = stored_list.split("\n").flatMap((line) => {
    const [top = "", ...rest] = line.split(" ");
    return rest.map((name) => `${name}.${top}`);
  });

  it("every suffix in the Worker's part of the list is refused", () => {
    expect(names.length).toBeGreaterThan(2_000);
    expect(names.filter((name) => !isHostingSuffix(name, known))).toEqual([]);
  });

  it("the Worker's part of the list is what `npm run suffixes` makes of the pinned list", () => {
    expect(stored_list).toBe(hostingSuffixes());
  });

  it("a truncated list is not accepted", () => {
    for (const part of ["", stored_list.slice(0, stored_list.length / 2), "<!doctype html>"]) {
      expect(() => readHostingSuffixes(part)).toThrow("cut short");
    }
  });
});
