import { describe, expect, it } from "vitest";
import {
  isLoopbackRedirect,
  isWebRedirect,
  matchesRedirect,
  redirectProblem,
} from "../../../src/domain/redirect_match.ts";

const REGISTERED = [
  "https://app.example.com/callback",
  "https://app.example.com/with?query=1",
  "http://localhost/callback",
  "http://127.0.0.1:33418/",
  "http://[::1]/callback",
  "com.example.app:/callback",
  "myapp://callback",
];

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

  it.each([
    ["another path", "https://app.example.com/callback2"],
    ["a path below", "https://app.example.com/callback/x"],
    ["a slash at the end", "https://app.example.com/callback/"],
    ["no path", "https://app.example.com"],
    ["a path in upper case", "https://app.example.com/Callback"],
    ["a host in upper case", "https://APP.example.com/callback"],
    ["plain http", "http://app.example.com/callback"],
    ["a port", "https://app.example.com:443/callback"],
    ["another port", "https://app.example.com:8443/callback"],
    ["a query", "https://app.example.com/callback?next=1"],
    ["an empty query", "https://app.example.com/callback?"],
    ["another value in the query", "https://app.example.com/with?query=2"],
    ["one more parameter", "https://app.example.com/with?query=1&query=2"],
    ["a fragment", "https://app.example.com/callback#x"],
    ["user information", "https://app.example.com@evil.example/callback"],
    ["our name as user information", "https://x@app.example.com/callback"],
    ["a host that starts the same", "https://app.example.com.evil.example/callback"],
    ["a subdomain", "https://evil.app.example.com/callback"],
    ["a dot at the end of the host", "https://app.example.com./callback"],
    ["dot segments", "https://app.example.com/x/../callback"],
    ["encoded dot segments", "https://app.example.com/%2e/callback"],
    ["an encoded letter", "https://app.example.com/c%61llback"],
    ["a backslash", "https://app.example.com\\callback"],
    ["a space at the end", "https://app.example.com/callback "],
    ["a line feed", "https://app.example.com/call\nback"],
    ["a null character", "https://app.example.com/callback\0"],
    ["a look-alike letter", "https://аpp.example.com/callback"],
    ["no scheme", "//app.example.com/callback"],
    ["an empty text", ""],
    ["loopback with https", "https://localhost/callback"],
    ["another loopback host", "http://127.0.0.1/callback"],
    ["a name under localhost", "http://x.localhost/callback"],
    ["a host that starts with localhost", "http://localhost.evil.example/callback"],
    ["user information before loopback", "http://evil.example@localhost/callback"],
    ["user information that looks like a port", "http://localhost:80@evil.example/callback"],
    ["another loopback path", "http://localhost:5000/other"],
    ["a loopback query", "http://localhost:5000/callback?x=1"],
    ["a loopback fragment", "http://localhost:5000/callback#x"],
    ["loopback dot segments", "http://localhost:5000/x/../callback"],
    ["port zero", "http://localhost:0/callback"],
    ["a port with a zero before it", "http://localhost:080/callback"],
    ["a port that is too large", "http://localhost:65536/callback"],
    ["an empty port", "http://localhost:/callback"],
    ["another address of 127.0.0.0/8", "http://127.0.0.2:33418/"],
    ["a number for 127.0.0.1", "http://2130706433:33418/"],
    ["a long form of ::1", "http://[0:0:0:0:0:0:0:1]/callback"],
    ["an own scheme with a slash more", "com.example.app://callback"],
    ["an own scheme in upper case", "COM.example.app:/callback"],
    ["an own scheme with a port", "myapp://callback:80"],
    ["an own scheme with another path", "myapp://callback/x"],
  ])("with %s equals no registered one", (_, requested) => {
    expect(matchesRedirect(requested, REGISTERED)).toBe(false);
  });

  it("of 2,049 characters equals no registered one", () => {
    const long = `https://a.example/${"x".repeat(2_031)}`;
    expect(long).toHaveLength(2_049);
    expect(matchesRedirect(long, [long])).toBe(false);
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
    ["https:app.example.com", /such as/],
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
  });
});
