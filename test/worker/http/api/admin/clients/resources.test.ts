import { describe, expect, it } from "vitest";
import { rows, saveApp } from "../../../caller/app_server.ts";
import { BASE_URL } from "../../../../support/passbook.ts";
import { signInOperator, type Operator } from "../operators.ts";

const RESOURCES = "/api/admin/apps/sketch/resources";
const MCP = `${RESOURCES}/mcp`;
const RESOURCE = { uri: "https://mcp.sketch.example.com/mcp", scopes: ["drawings:read"] };

async function openOperator(): Promise<Operator> {
  const operator = await signInOperator();
  await saveApp(operator, "sketch");
  return operator;
}

describe("the protected resources of an app", () => {
  it("an operator registers, changes, lists, reads and deletes a resource", async () => {
    const operator = await openOperator();
    const created = await operator.send("PUT", MCP, RESOURCE);
    const saved = { version: 1, created_at: expect.any(String) };
    const resource = { id: "mcp", ...RESOURCE, charges: false, ...saved };
    expect(created.body).toEqual({ resource });
    expect((await operator.get(MCP)).body).toEqual({ resource });
    const moved = { uri: "https://mcp.sketch.example.com", scopes: [] };
    const changed = await operator.send("PUT", MCP, {
      ...moved,
      uri: `${moved.uri}/`,
      version: 1,
    });
    expect(changed.body.resource).toMatchObject(moved);
    expect((await operator.get(RESOURCES)).body.resources).toMatchObject([moved]);
    expect((await operator.send("DELETE", MCP)).body).toEqual({ ok: true });
    for (const method of ["GET", "DELETE"]) {
      const response = await operator.send(method, MCP);
      expect(response).toMatchObject({ status: 404, body: { code: "resource_not_found" } });
    }
  });

  it("a resource charges only while an operator says so", async () => {
    const operator = await openOperator();
    const save = async (settings: object) =>
      (await operator.send("PUT", MCP, { ...RESOURCE, ...settings })).body;
    expect((await save({ charges: true })).resource).toMatchObject({ charges: true, version: 1 });
    expect((await operator.get(RESOURCES)).body.resources).toMatchObject([{ charges: true }]);
    expect((await save({ charges: "yes", version: 1 })).error).toContain("charges must be true or");
    expect((await save({ version: 1 })).resource).toMatchObject({ charges: false, version: 2 });
  });

  it.each([
    ["a malformed id", { path: `${RESOURCES}/-` }, "The resource's id must be"],
    ["plain http", { uri: "http://mcp.example.com" }, "uri must be https"],
    ["a fragment", { uri: "https://mcp.example.com/#x" }, "uri must have no fragment"],
    ["a query", { uri: "https://mcp.example.com/?x=1" }, "uri must have no query"],
    ["no scheme", { uri: "mcp.example.com" }, "uri must be an absolute address"],
    [
      "another spelling",
      { uri: "https://MCP.example.com/a" },
      "uri must be written as https://mcp.example.com/a",
    ],
    ["dot segments", { uri: "https://mcp.example.com/a/../b" }, "uri must be written as"],
    [
      "a long address",
      { uri: `https://mcp.example.com/${"x".repeat(480)}` },
      "uri must have at most 480",
    ],
    [
      "our own address",
      { uri: `${BASE_URL}/mcp` },
      "uri must not be on this service's own address",
    ],
    ["a scope with a space", { scopes: ["a b"] }, "scopes.0 must be 1 to 100 ASCII"],
    ["a scope of sign-in", { scopes: ["tools", "openid"] }, "scopes.1 must not be openid"],
    ["the scope read of our API", { scopes: ["read"] }, "as in drawings:read"],
    ["the scope write of our API", { scopes: ["write"] }, "as in drawings:read"],
    ["the scope upstream of our API", { scopes: ["upstream"] }, "as in drawings:read"],
    ["the scope admin of our API", { scopes: ["admin"] }, "as in drawings:read"],
    ["the scope to charge", { scopes: ["charge"] }, "as in drawings:read"],
    ["a scope twice", { scopes: ["a", "a"] }, "scopes must have no duplicates"],
    [
      "too many scopes",
      { scopes: Array.from({ length: 51 }, (_, n) => `s${n}`) },
      "scopes must have at most 50",
    ],
  ])(
    "a resource with %s is refused with the reason, and nothing changes",
    async (_, wrong, why) => {
      const operator = await openOperator();
      const { path = MCP, ...fields } = wrong as { path?: string };
      const response = await operator.send("PUT", path, { ...RESOURCE, ...fields });
      expect(response).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      expect(response.body.error).toContain(why);
      expect(await rows("select * from resources")).toEqual([]);
    },
  );

  it("an address belongs to one resource only, whichever app registered it", async () => {
    const operator = await openOperator();
    await saveApp(operator, "other");
    await operator.send("PUT", MCP, RESOURCE);
    for (const path of [`${RESOURCES}/second`, "/api/admin/apps/other/resources/mcp"]) {
      const response = await operator.send("PUT", path, RESOURCE);
      expect(response).toMatchObject({ status: 409, body: { code: "resource_taken" } });
    }
    await operator.send("DELETE", MCP);
    const path = "/api/admin/apps/other/resources/mcp";
    expect((await operator.send("PUT", path, RESOURCE)).status).toBe(200);
  });

  it("a resource of an unknown app is refused, and an app has at most 50", async () => {
    const operator = await signInOperator();
    expect((await operator.send("PUT", MCP, RESOURCE)).body.code).toBe("app_not_found");
    await saveApp(operator, "sketch");
    const save = (n: number) =>
      operator.send("PUT", `${RESOURCES}/r${n}`, { uri: `https://a.example/${n}`, scopes: [] });
    const responses = await Promise.all(Array.from({ length: 52 }, (_, n) => save(n)));
    const refused = responses.filter(({ status }) => status !== 200);
    expect(refused.map(({ body }) => body.code)).toEqual(["limit_reached", "limit_reached"]);
  });
});
