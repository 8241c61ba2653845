import { expect, it } from "vitest";
import { locationHintOf } from "../../../src/domain/location_hint.ts";

it.each([
  ["Lisbon", "EU", "-9.14", "weur"],
  ["Warsaw", "EU", "21.01", "eeur"],
  ["San Francisco", "NA", "-122.42", "wnam"],
  ["New York", "NA", "-74.01", "enam"],
  ["São Paulo", "SA", "-46.63", "sam"],
  ["Lagos", "AF", "3.38", "afr"],
  ["Dubai", "AS", "55.27", "me"],
  ["Tokyo", "AS", "139.69", "apac"],
  ["Sydney", "OC", "151.21", "oc"],
  ["somewhere in Europe", "EU", undefined, "weur"],
  ["somewhere in North America", "NA", undefined, "enam"],
  ["somewhere in Asia", "AS", undefined, "apac"],
  ["Antarctica", "AN", "0", undefined],
])("a sender in %s has the nearest region", (_, continent, longitude, hint) => {
  expect(locationHintOf({ continent, longitude })).toBe(hint);
});

it.each([
  ["NA", "-105.01", "wnam"],
  ["NA", "-105", "enam"],
  ["EU", "16.5", "weur"],
  ["EU", "16.51", "eeur"],
  ["AS", "60.99", "me"],
  ["AS", "61", "apac"],
])("on the continent %s, a sender at the longitude %s has the region %s", (...row) => {
  const [continent, longitude, hint] = row;
  expect(locationHintOf({ continent, longitude })).toBe(hint);
});

it("a sender of whom Cloudflare knows nothing has no region", () => {
  expect([undefined, null, {}].map(locationHintOf)).toEqual([undefined, undefined, undefined]);
});
