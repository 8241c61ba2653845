import { describe, expect, it } from "vitest";
import { parseAllowedOrigin } from "../../src/domain/origins.ts";

describe("a wildcard", () => {
  it.each([
    ["a host of pages", "github.io"],
    ["a host of Workers", "workers.dev"],
    ["a host of previews", "vercel.app"],
    ["a host of three labels", "up.railway.app"],
    ["a parent of such hosts", "amazonaws.com"],
    ["a parent in between", "eu-west-1.on.aws"],
    ["what a rule with a wildcard stands under", "compute.amazonaws.com"],
    ["a customer's name in a cloud", "mine.s3.eu-west-1.amazonaws.com"],
    ["a cloud's region that is yet to come", "mars-1.on.aws"],
    ["what a country sells under", "co.uk"],
    ["what another country sells under", "com.au"],
    ["what a country without known hosts sells under", "com.ng"],
    ["another label of one", "ac.jp"],
    ["and another", "mil.kr"],
    ["a dynamic name service", "duckdns.org"],
  ])("over %s, %s, lets strangers in and is refused", (_, host) => {
    expect(parseAllowedOrigin(`https://*.${host}`)).toBeNull();
  });

  it.each([
    "example.com",
    "example.co.uk",
    "mine.github.io",
    "mine.workers.dev",
    "mine.up.railway.app",
    "github.com",
    "family.example",
    "co.example",
    "notgithub.io",
    "notamazonaws.com",
  ])("over one owner's names, %s, is allowed", (host) => {
    expect(parseAllowedOrigin(`https://*.${host}`)).not.toBeNull();
  });

  it("is not what an exact origin is: one's own page there may be named", () => {
    expect(parseAllowedOrigin("https://mine.github.io")).not.toBeNull();
    expect(parseAllowedOrigin("https://github.io")).not.toBeNull();
  });
});
