import { describe, expect, it } from "vitest";
import { nearestName } from "../../../src/domain/near_miss.ts";

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
  ])("%s is not recognised as a known name", (typed) => {
    expect(nearestName(typed, [...JOB, ...LIST])).toBeNull();
  });

  it("long unknown names are not compared letter by letter", () => {
    expect(nearestName("x".repeat(60_000), JOB)).toBeNull();
  });
});
