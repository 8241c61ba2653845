import { describe, expect, it } from "vitest";
import { REDIRECT_MAX_LENGTH } from "../../../src/domain/limits.ts";
import {
  allowedUrl,
  coversCookieDomain,
  isAllowedOrigin,
  parseAbsoluteUrl,
  parseAllowedOrigin,
  precisionOf,
  reachesCookieDomain,
  shownAddress,
  type AllowedOrigin,
} from "../../../src/domain/origins.ts";

const LOOPBACK: AllowedOrigin = { kind: "loopback" };

const listOf = (...entries: readonly string[]): readonly AllowedOrigin[] =>
  entries.map((entry) => {
    const allowed = parseAllowedOrigin(entry);
    if (allowed === null) throw new Error(`not an entry: ${entry}`);
    return allowed;
  });

/** `https://a.example/` and as many letters as make `length`. */
const addressOf = (length: number): string => "https://a.example/".padEnd(length, "x");

describe("an absolute address", () => {
  it.each([
    ["without a scheme", "/callback"],
    ["without an authority", "https:a.example"],
    ["with an empty authority", "myapp:///callback"],
    ["that no parser can read", "https://a.example:port/"],
    ["with a user name", "https://ada@a.example/"],
    ["with a password only", "https://:secret@a.example/"],
    ["with a user name and a password", "https://ada:secret@a.example/"],
    ["with empty user information", "https://:@a.example/"],
    ["with a backslash", "https://a.example\\b"],
    ["with a scheme that a browser executes", "javascript://a.example/"],
    ["that is too long", addressOf(REDIRECT_MAX_LENGTH + 1)],
    ["that is too long until it is parsed", `https://a.example/${"./".repeat(1_100)}`],
    ["that is too long once it is encoded", `https://a.example/${"ü".repeat(400)}`],
  ])("%s is not accepted", (_, text) => {
    expect(parseAbsoluteUrl(text)).toBeNull();
  });

  it("of the longest length is accepted", () => {
    const longest = addressOf(REDIRECT_MAX_LENGTH);
    expect(parseAbsoluteUrl(longest)?.href).toBe(longest);
  });
});

describe("a refused address in an error message", () => {
  it.each([
    ["https://a.example/x?token=1#y", "https://a.example/x"],
    ["https://a.example/x#y?z", "https://a.example/x"],
    ["https://a.example/100%25 <b>", "https://a.example/100%25%20%3Cb%3E"],
    ["", "(empty)"],
    ["?only=a_query", "(empty)"],
    [addressOf(100), addressOf(100)],
    [addressOf(101), `${addressOf(100)}…`],
  ])("%s is shown as %s", (text, shown) => {
    expect(shownAddress(text)).toBe(shown);
  });

  it("half a character is shown as the replacement character", () => {
    expect(shownAddress("\ud800")).toBe("%EF%BF%BD");
  });
});

describe("an entry of an allowlist", () => {
  it.each([
    "https://*.co.uk",
    "https://*.example",
    "http://*.example.com",
    "https://a.*.example.com",
    "https://a.example/path",
    "https://a.example?query",
    "https://a.example#part",
    "http://a.example",
  ])("%s has none of the forms", (entry) => {
    expect(parseAllowedOrigin(entry)).toBeNull();
  });

  it.each([
    ["https://a.example/", { kind: "exact", origin: "https://a.example" }],
    ["https://*.example.com", { kind: "subdomains", suffix: ".example.com" }],
    ["http://localhost:3000", { kind: "exact", origin: "http://localhost:3000" }],
    ["myapp://callback", { kind: "exact", origin: "myapp://callback" }],
  ])("%s is read", (entry, allowed) => {
    expect(parseAllowedOrigin(entry)).toEqual(allowed);
  });

  it.each([
    ["https://a.example/x?y", listOf("https://b.example", "https://a.example"), true],
    ["https://c.example/", listOf("https://b.example", "https://a.example"), false],
    ["https://x.example.com/", listOf("https://*.example.com"), true],
    ["https://x.example.com:8443/", listOf("https://*.example.com"), false],
    ["http://x.example.com/", listOf("https://*.example.com"), false],
    ["http://x.example.com:8080/", listOf("https://*.example.com"), false],
    ["https://example.com/", listOf("https://*.example.com"), false],
    ["https://example.org/", listOf("https://*.example.com"), false],
    ["http://localhost:52163/", [LOOPBACK], true],
    ["https://127.0.0.1/", [LOOPBACK], true],
    ["http://a.example/", [LOOPBACK], false],
    ["myapp://localhost/", [LOOPBACK], false],
    ["/callback", [LOOPBACK], false],
    ["https://a.example/", [], false],
  ])("of the address %s, the list %j allows it: %s", (text, list, is_allowed) => {
    expect(allowedUrl(text, list) !== null).toBe(is_allowed);
  });

  it.each([
    ["https://a.example", true],
    ["https://a.example/", false],
    ["https://a.example/path", false],
    ["https://b.example", false],
    ["null", false],
    ["", false],
  ])("the header Origin: %s is allowed: %s", (header, is_allowed) => {
    expect(isAllowedOrigin(header, listOf("https://a.example"))).toBe(is_allowed);
  });

  it("the most precise entry of an origin counts", () => {
    const wide = listOf("https://*.example.com", "https://other.example");
    const narrow = listOf("https://*.example.com", "https://*.app.example.com");
    const exact = listOf("https://x.app.example.com");
    const precision = (list: readonly AllowedOrigin[]): number =>
      precisionOf("https://x.app.example.com", list);
    expect([[], wide, narrow, exact].map(precision)).toEqual([0, 12, 16, Infinity]);
  });
});

describe("the domain of a cookie", () => {
  it.each([
    [listOf("https://*.example.com", "https://example.com"), true],
    [listOf("https://*.com.example", "https://example.com"), false],
    [listOf("https://*.example.com"), false],
    [listOf("https://example.com"), false],
    [listOf("https://example.com", "https://a.example.com"), false],
    [[LOOPBACK], false],
  ])("the list %j has every host below example.com and itself: %s", (list, covers) => {
    expect(coversCookieDomain("example.com", list)).toBe(covers);
  });

  it("a wildcard over a parent has the hosts of a domain below it", () => {
    const list = listOf("https://*.example.com");
    expect(coversCookieDomain("app.example.com", list)).toBe(true);
  });

  it.each([
    [listOf("https://example.com"), true],
    [listOf("https://a.example.com:8443"), true],
    [listOf("https://*.a.example.com"), true],
    [listOf("https://*.example.com"), true],
    [listOf("https://anexample.com"), false],
    [listOf("https://*.example.org"), false],
    [listOf("https://b.example.org", "https://example.com"), true],
    [[LOOPBACK], false],
  ])("the list %j has a host that receives cookies of example.com: %s", (list, reaches) => {
    expect(reachesCookieDomain("example.com", list)).toBe(reaches);
  });

  it("a wildcard over a parent reaches a domain below it", () => {
    expect(reachesCookieDomain("app.example.com", listOf("https://*.example.com"))).toBe(true);
  });
});
