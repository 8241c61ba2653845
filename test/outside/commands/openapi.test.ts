import { expect, it } from "vitest";
import { clientTypes, type Schema } from "../../../src/commands/client_types.ts";
import { operatorCalls } from "../../../src/commands/operator_calls.ts";

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
      period: { enum: ["total", "month"] },
      next_cursor: { type: "string" },
    },
    required: ["credits", "app", "kinds", "period"],
  };
  expect(declarationsOf("Page", schema)).toBe(
    "export interface Page { /** The balance. */ readonly credits: number; " +
      "readonly app: string | null; readonly kinds: readonly (EntryKind)[]; " +
      'readonly period: "total" | "month"; readonly next_cursor?: string | undefined; }',
  );
});

it("the client exports a named enumeration as a list of its values and as their type", () => {
  expect(declarationsOf("JobStatus", { type: "string", enum: ["started", "failed"] })).toBe(
    '/** All values of `JobStatus`. */ export const JOB_STATUSES = ["started","failed"] as const; ' +
      "export type JobStatus = (typeof JOB_STATUSES)[number];",
  );
});

it("a client type without a description says which operations or type it is a part of", () => {
  const part = { type: "object", properties: { ok: { const: true } } };
  const page = { type: "object", properties: { part: { $ref: "#/components/schemas/Part" } } };
  const schema = { $ref: "#/components/schemas/Page" };
  const list = { responses: { "200": { content: { "application/json": { schema } } } } };
  const types = clientTypes({ Page: page, Part: part }, { "/api/things": { get: list } });
  expect(types).toContain("/** In the response of `GET /api/things`. */\nexport interface Page ");
  expect(types).toContain("/** A part of `Page`. */\nexport interface Part ");
});

it("a schema of a form that the generator of client types does not know is an error that names the schema", () => {
  expect(() => clientTypes({ Odd: { type: "object" } })).toThrow(/Odd/);
});

/** A document with one operators' operation, whose body has these fields. */
function documentWith(properties: Readonly<Record<string, Schema>>) {
  const ok = { type: "object", properties: { ok: { const: true } }, required: ["ok"] };
  const json = (schema: Schema) => ({ content: { "application/json": { schema } } });
  const plan = {
    operationId: "changePlan",
    summary: "Set the plan",
    parameters: [
      { in: "path", name: "identity_id", required: true, schema: { type: "string" } },
      { in: "header", name: "Idempotency-Key", schema: { type: "string" } },
    ],
    requestBody: json({ type: "object", properties, required: Object.keys(properties) }),
    responses: { "200": json(ok) },
  } as const;
  return {
    components: { schemas: {} },
    paths: { "/api/me": { get: plan }, "/api/admin/accounts/{identity_id}/plan": { post: plan } },
  };
}

it("an operators' operation is a typed call that takes the values of the path first, and a row of a table", () => {
  const { types, table } = operatorCalls(documentWith({ new_plan: { type: "string" } }));
  expect(types).toContain(
    "changePlan(identityId: string, fields: { readonly newPlan: string; }, options?: WriteOptions): " +
      "Promise<Done>;",
  );
  expect(table.match(/"id":/g)).toHaveLength(1);
  expect(table).toContain('"keyed":true');
  expect(table).toContain('{"name":"newPlan","in":"body","kind":"text","required":true}');
});

it("an operation with a field that the command line cannot express is an error that names the field", () => {
  const odd = { type: "object", properties: { x: { type: "string" } } };
  expect(() => operatorCalls(documentWith({ odd }))).toThrow(/changePlan\.odd/);
});

it("an operators' call names the enumeration of a parameter, the fields of a page and the fields that its CSV has too", () => {
  const JobStatus = { type: "string", enum: ["started", "failed"] };
  const query = (name: string, schema: Schema) => ({ in: "query", name, schema }) as const;
  const schema = { $ref: "#/components/schemas/JobPage" };
  const list = {
    operationId: "listJobs",
    summary: "List jobs",
    parameters: [
      query("status", JobStatus),
      query("limit", { type: "integer" }),
      query("cursor", { type: "string" }),
    ],
    responses: {
      "200": { content: { "application/json": { schema }, "text/csv": { schema: {} } } },
    },
  } as const;
  const { types } = operatorCalls({
    components: { schemas: { JobPage: { type: "object", properties: {} }, JobStatus } },
    paths: { "/api/admin/jobs": { get: list } },
  });
  expect(types).toContain("import type { JobPage, JobStatus }");
  expect(types).toContain(
    "listJobs(fields?: PageFields & { readonly status?: JobStatus | undefined; }, " +
      "options?: CallOptions): Promise<JobPage>;",
  );
  expect(types).toContain(
    'listJobsCsv(...given: Parameters<AdminCalls["listJobs"]>): AsyncGenerator',
  );
});
