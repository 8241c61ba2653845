/** The lists in the settings of an app, its clients and its resources. */
import { expect, it } from "vitest";
import { saveApp } from "../../../caller/app_server.ts";
import { signInOperator } from "../operators.ts";

const APP = "/api/admin/apps/sketch";
const numbered = (length: number, name: (number: number) => string): string[] =>
  Array.from({ length }, (_, number) => name(number));

const domains = (length: number) => ({
  starter_excluded_domains: numbered(length, (number) => `d${number}.example`),
});
const addresses = (length: number) => ({
  name: "Sketch",
  redirect_uris: numbered(length, (number) => `https://sketch.example.com/${number}`),
  public: true,
});
const scopes = (length: number) => ({
  uri: "https://mcp.example.com/mcp",
  scopes: numbered(length, (number) => `scope-${number}`),
});

it.each([
  ["500 excluded domains", "PATCH", "", domains, 500],
  ["20 redirect addresses of a client", "PUT", "/clients/web", addresses, 20],
  ["50 scopes of a resource", "PUT", "/resources/mcp", scopes, 50],
] as const)("an app has at most %s", async (_, method, path, settings, most) => {
  const operator = await signInOperator();
  await saveApp(operator, "sketch");
  const { apps } = (await operator.get("/api/admin/apps")).body;
  const [{ version }] = apps;
  const more = method === "PATCH" ? { version } : {};
  const refused = await operator.send(method, APP + path, { ...settings(most + 1), ...more });
  expect([refused.status, refused.body.code]).toEqual([400, "invalid_request"]);
  expect(refused.body.error).toContain(`at most ${most}`);
  const saved = await operator.send(method, APP + path, { ...settings(most), ...more });
  expect(saved.status).toBe(200);
});
