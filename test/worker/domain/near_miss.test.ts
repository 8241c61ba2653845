import { describe, expect, it } from "vitest";
import { isIdempotencyKey, nearestName } from "../../../src/domain/near_miss.ts";

const JOB = ["app", "action", "cost_estimate", "ttl_seconds", "metadata"];
const LIST = ["app", "status", "limit", "cursor", "from", "to"];

describe("a name that nearly matches a known one", () => {
  it.each([
    ["ttlSeconds", "ttl_seconds"],
    ["TTL-SECONDS", "ttl_seconds"],
    ["ttl_second", "ttl_seconds"],
    ["costEstimat", "cost_estimate"],
    ["meta", null],
    ["metdata", "metadata"],
    ["meatadta", "metadata"],
    ["acton", "action"],
    ["atcion", "action"],
    ["App", "app"],
    ["apps", "app"],
    ["ap", "app"],
    ["xction", "action"],
    ["app_slug", "app"],
    ["expiresIn", "ttl_seconds"],
    ["ttl", "ttl_seconds"],
  ])("the field %s of a job is recognised as %s", (typed, meant) => {
    expect(nearestName(typed, JOB)).toBe(meant);
  });

  it.each([
    ["stauts", "status"],
    ["state", "status"],
    ["limt", "limit"],
    ["curser", "cursor"],
    ["form", "from"],
    ["To", "to"],
    ["rfom", "from"],
    ["since", "from"],
  ])("the parameter %s of a list is recognised as %s", (typed, meant) => {
    expect(nearestName(typed, LIST)).toBe(meant);
  });

  it.each([
    "a",
    "id",
    "cap",
    "map",
    "do",
    "t",
    "two",
    "caption",
    "option",
    "section",
    "type",
    "kind",
    "percent",
    "constructor",
    "sttzuz",
  ])("%s is not recognised as a known name", (typed) => {
    expect(nearestName(typed, [...JOB, ...LIST])).toBeNull();
  });

  it("long unknown names are not compared letter by letter", () => {
    expect(nearestName("x".repeat(60_000), JOB)).toBeNull();
    expect(nearestName("action".padEnd(64, "_"), JOB)).toBe("action");
    expect(nearestName("action".padEnd(65, "_"), JOB)).toBeNull();
  });

  it("a known name is recognised when it is compared for the first time", () => {
    const known = crypto.randomUUID();
    expect(nearestName(known.toUpperCase(), [known])).toBe(known);
  });

  it.each([
    ["Idempotency-Key", true],
    ["idempotency_key", true],
    ["idempotencykey".padEnd(64, "-"), true],
    ["idempotencykey".padEnd(65, "-"), false],
    ["idempotency", false],
    ["key", false],
  ])("the name %s stands for the header Idempotency-Key: %s", (name, stands) => {
    expect(isIdempotencyKey(name)).toBe(stands);
  });
});
