import { expect, it } from "vitest";
import { clientTypes, type Schema } from "../../../src/commands/client_types.ts";

/** The declarations, without the header and with single spaces. */
function declarationsOf(name: string, schema: Schema): string {
  return clientTypes({ [name]: schema })
    .replace(/^\/\*\*[^]*?\*\//, "")
    .replace(/\s+/g, " ")
    .trim();
}

it("a client type has a read-only member for each property, optional unless the schema requires it", () => {
  const schema = {
    type: "object",
    properties: {
      credits: { type: "integer", description: "The balance." },
      app: { anyOf: [{ type: "string" }, { type: "null" }] },
      kinds: { type: "array", items: { $ref: "#/components/schemas/EntryKind" } },
      period: { enum: ["total", "30_days"] },
      next_cursor: { type: "string" },
    },
    required: ["credits", "app", "kinds", "period"],
  };
  expect(declarationsOf("Page", schema)).toBe(
    "export interface Page { /** The balance. */ readonly credits: number; " +
      "readonly app: string | null; readonly kinds: readonly (EntryKind)[]; " +
      'readonly period: "total" | "30_days"; readonly next_cursor?: string | undefined; }',
  );
});

it("the client exports a named enumeration as a list of its values and as their type", () => {
  expect(declarationsOf("JobStatus", { type: "string", enum: ["started", "failed"] })).toBe(
    'export const JOB_STATUSES = ["started","failed"] as const; ' +
      "export type JobStatus = (typeof JOB_STATUSES)[number];",
  );
});

it("a schema of a form that the generator of client types does not know is an error that names the schema", () => {
  expect(() => clientTypes({ Odd: { type: "object" } })).toThrow(/Odd/);
});
