import { readFile } from "node:fs/promises";
import { getPublicSuffix } from "tldts";
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

  it("`npm run suffixes` takes the private section of the list, shortened to three labels and grouped by top-level name", () => {
    const list = `
// ===BEGIN ICANN DOMAINS===
co.uk
// ===END ICANN DOMAINS===
// ===BEGIN PRIVATE DOMAINS===
// Example : https://example.com
github.io
*.compute.amazonaws.com
a.b.pages.dev
!www.pages.dev
example
公司.com
// ===END PRIVATE DOMAINS===
later.com
`;
    expect(hostingSuffixes(list)).toBe("com *amazonaws xn--55qx5d\ndev b.pages\nio github\n");
    expect(hostingSuffixes("<!doctype html>")).toBe("\n");
  });

  it("the stored list has what the pinned `tldts` knows as private", () => {
    const wanted = ["github.io", "pages.dev", "vercel.app", "herokuapp.com", "netlify.app"];
    for (const name of wanted) {
      expect(getPublicSuffix(`x.${name}`, { allowPrivateDomains: true })).toBe(name);
      expect(isHostingSuffix(name, known)).toBe(true);
    }
  });

  it("a truncated list is not accepted", () => {
    for (const part of ["", stored_list.slice(0, stored_list.length / 2), "<!doctype html>"]) {
      expect(() => readHostingSuffixes(part)).toThrow("cut short");
    }
  });
});
