import { describe, expect, it } from "vitest";
import {
  isLoopbackRedirect,
  isOnOriginOf,
  isWebRedirect,
  matchesRedirect,
  otherLoopback,
  redirectProblem,
} from "../../../src/domain/redirect_match.ts";
import { NEAR_MISSES, REGISTERED } from "../support/redirect_addresses.ts";

describe("a redirect address", () => {
  it.each([
    ...REGISTERED,
    "http://localhost:52163/callback",
    "http://localhost:1/callback",
    "http://localhost:65535/callback",
    "http://127.0.0.1/",
    "http://127.0.0.1:59656/",
    "http://[::1]:8080/callback",
  ])("%s equals a registered one", (requested) => {
    expect(matchesRedirect(requested, REGISTERED)).toBe(true);
  });

  it.each(NEAR_MISSES)("with %s equals no registered one", (_, requested) => {
    expect(matchesRedirect(requested, REGISTERED)).toBe(false);
  });

  it("of 2,049 characters equals no registered one", () => {
    const long = `https://a.example/${"x".repeat(2_031)}`;
    expect(long).toHaveLength(2_049);
    expect(matchesRedirect(long, [long])).toBe(false);
    expect(isWebRedirect(long)).toBe(false);
    const longest = long.slice(0, 2_048);
    expect(longest).toHaveLength(2_048);
    expect(matchesRedirect(longest, [longest])).toBe(true);
    expect(isWebRedirect(longest)).toBe(true);
    expect(redirectProblem(longest)).toBeNull();
  });

  it.each(REGISTERED)("%s can be registered", (uri) => {
    expect(redirectProblem(uri)).toBeNull();
  });

  it.each([
    ["https://app.example.com/callback#x", /no fragment/],
    ["https://*.example.com/callback", /no wildcard/],
    ["http://app.example.com/callback", /must be https/],
    ["http://127.0.0.2/callback", /must be https/],
    ["http://x.localhost/callback", /must be https/],
    ["https://user@app.example.com/callback", /such as/],
    ["https://app.example.com/call back", /such as/],
    ["https://app.example.com/zurück", /ASCII/],
    ["https:app.example.com", /such as/],
    ["myapp://[", /such as/],
    ["javascript:/alert(1)", /such as/],
    ["JavaScript://alert", /such as/],
    ["data:/text", /such as/],
    ["file:///etc/passwd", /such as/],
    ["mailto:ada@example.com", /such as/],
    ["/callback", /such as/],
    ["", /such as/],
    [`https://a.example/${"x".repeat(2_048)}`, /at most 2048/],
  ])("%s cannot be registered", (uri, problem) => {
    expect(redirectProblem(uri)).toMatch(problem);
  });

  it.each([
    ["http://127.0.0.1:5000/callback", "http://localhost/callback"],
    ["http://127.0.0.1:5000/other", null],
    ["https://localhost/callback", null],
  ])("%s differs only in its host from %s", (requested, registered) => {
    expect(otherLoopback(requested, REGISTERED)).toBe(registered);
    expect(otherLoopback(requested, ["https://app.example/callback"])).toBeNull();
  });

  it.each([
    ["http://localhost:5000/elsewhere", ["https://a.example/", "http://localhost/callback"], true],
    ["http://127.0.0.1/callback", ["http://localhost/callback"], false],
    ["https://a.example/elsewhere", ["https://b.example/", "https://a.example/x"], true],
    ["https://c.example/", ["https://b.example/", "https://a.example/x"], false],
    ["https://a.example/", ["http://127.0.0.1/callback"], false],
    ["http://a.example:33418/", ["http://127.0.0.1:33418/"], false],
    ["com.example.app:/out", ["com.example.app:/callback"], true],
    ["com.example.app:/zurück", ["com.example.app:/callback"], false],
    ["com.example.app:out", ["com.example.app:/callback"], false],
    ["http://127.0.0.1:33418/#x", ["http://127.0.0.1:33418/"], false],
    ["myapp://callback/out", ["myapp://callback"], true],
    ["myapp://other", ["myapp://callback"], false],
    ["https://a.example/", ["not an address"], false],
    ["/callback", ["https://a.example/"], false],
    ["https:a.example", ["https://a.example/"], false],
    ["http://[::2]:80/", ["http://[::1]/callback"], false],
  ])("the address %s is on the origin of one of %j: %s", (address, registered, is_on) => {
    expect(isOnOriginOf(address, registered)).toBe(is_on);
  });

  it("is on the person's own machine only with a loopback host", () => {
    expect(REGISTERED.filter(isLoopbackRedirect)).toEqual([
      "http://localhost/callback",
      "http://127.0.0.1:33418/",
      "http://[::1]/callback",
    ]);
  });

  it("of a client that no operator registered is https or loopback", () => {
    expect(REGISTERED.filter((uri) => !isWebRedirect(uri))).toEqual([
      "com.example.app:/callback",
      "myapp://callback",
    ]);
    expect(isWebRedirect("https://app.example.com/callback#x")).toBe(false);
    expect(isWebRedirect("https://app.example.com/*")).toBe(false);
    expect(isWebRedirect("http://localhost/".padEnd(2_048, "x"))).toBe(true);
    expect(isWebRedirect("http://localhost/".padEnd(2_049, "x"))).toBe(false);
    expect(isWebRedirect("http://localhost/*")).toBe(false);
    // A redirect header can have neither.
    expect(isWebRedirect("https://app.example.com/zurück")).toBe(false);
    expect(isWebRedirect("http://localhost/call\u0000back")).toBe(false);
  });
});
