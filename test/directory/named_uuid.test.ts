import { assert, asyncProperty, string, uuid } from "fast-check";
import { v5 } from "uuid";
import { expect, it } from "vitest";
import { namedUuid } from "../../src/directory/named_uuid.ts";

it("is the UUID that RFC 9562 makes of a name, for every name", async () => {
  const namespace = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
  // RFC 9562, appendix A.4.
  expect(await namedUuid(namespace, "www.example.com")).toBe(
    "2ed6657d-e927-568b-95e1-2665a8aea6a2",
  );
  await assert(
    asyncProperty(uuid(), string({ unit: "grapheme" }), async (scope, name) => {
      expect(await namedUuid(scope, name)).toBe(v5(name, scope));
    }),
  );
});
