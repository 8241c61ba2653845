/** Everything that the console does is also in the API, with the same role, and in the client and the command line. */
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../../src/cli/program.ts";
import { createClient } from "../../../src/client/index.ts";

// By a computed path, because the types that the file refers to are those of the Worker's runtime.
const roles_file = new URL("../../../src/http/caller/operator_roles.ts", import.meta.url).href;
const { ROUTE_ROLES } = (await import(roles_file)) as {
  readonly ROUTE_ROLES: Readonly<Record<string, string>>;
};

interface Equivalent {
  readonly api: string;
  /** The name of the call in `client.admin`, or in `client.adminApps` with `apps.` before it. */
  readonly client: string;
  /** The command after `passbook admin`. */
  readonly cli: string;
}

const account = (api: string, client: string, cli: string): Equivalent => ({
  api: api.replace(" ", " /api/admin/accounts/:identity_id").replace(/\/$/, ""),
  client,
  cli,
});

/** All calls of webhooks are members of `adminApps.webhooks(slug)`. */
const webhooks = (call: string, cli: string): Equivalent => {
  const [method = "", path = ""] = call.split(" ");
  const api = `${method} /api/admin/apps/:slug/webhooks${path}`;
  return { api, client: "apps.webhooks", cli: `apps ${cli}` };
};

/** Each form of the console, and each page that reads, with the API's call. A new one fails until it is listed. */
const EQUIVALENTS: Readonly<Record<string, Equivalent>> = {
  "POST /console/accounts/:identity_id/credits": account(
    "POST /credits",
    "adjustCredits",
    "credits",
  ),
  "POST /console/accounts/:identity_id/plan": account("POST /plan", "changePlan", "plan"),
  "POST /console/accounts/:identity_id/suspend": account("POST /suspend", "suspend", "suspend"),
  "POST /console/accounts/suspend": {
    api: "POST /api/admin/accounts/suspend",
    client: "suspendMany",
    cli: "suspend",
  },
  "POST /console/accounts/:identity_id/restore": account("POST /restore", "restore", "restore"),
  "POST /console/accounts/:identity_id/signout": account("POST /signout", "signOut", "signout"),
  "POST /console/accounts/:identity_id/rebuild": account("POST /rebuild", "rebuild", "rebuild"),
  "POST /console/accounts/:identity_id/export": account("GET /export", "exportAccount", "export"),
  "POST /console/accounts/:identity_id/delete": account("DELETE /", "deleteAccount", "delete"),
  "POST /console/accounts/:identity_id/revoke-token": account(
    "DELETE /personal-tokens/:id",
    "revokePersonalToken",
    "revoke",
  ),
  "GET /console/accounts/:identity_id": account("GET /", "account", "account"),
  "GET /console/accounts/:identity_id/jobs/:job_id": account(
    "GET /jobs/:job_id",
    "accountJob",
    "job",
  ),
  "POST /console/accounts/:identity_id/jobs/:job_id/refund": account(
    "POST /jobs/:job_id/refund",
    "refundJob",
    "refund",
  ),
  "GET /console/money": { api: "GET /api/admin/money", client: "money", cli: "money" },
  "GET /console/money.csv": { api: "GET /api/admin/money", client: "moneyCsv", cli: "money" },
  "GET /console/accounts": { api: "GET /api/admin/accounts", client: "accounts", cli: "accounts" },
  "GET /console/jobs": { api: "GET /api/admin/jobs", client: "jobs", cli: "jobs" },
  "GET /console/audit": { api: "GET /api/admin/audit", client: "audit", cli: "audit" },
  "GET /console/audit.csv": { api: "GET /api/admin/audit", client: "auditCsv", cli: "audit" },
  "GET /console/operators": {
    api: "GET /api/admin/operators",
    client: "operators",
    cli: "operators",
  },
  "GET /console": { api: "GET /api/admin/stats", client: "stats", cli: "stats" },
  "GET /console/apps": { api: "GET /api/admin/apps", client: "apps.list", cli: "apps" },
  "GET /console/apps/:slug": {
    api: "GET /api/admin/apps/:slug/keys",
    client: "apps.listKeys",
    cli: "apps keys",
  },
  "POST /console/new-app": {
    api: "PUT /api/admin/apps/:slug",
    client: "apps.save",
    cli: "apps set",
  },
  "POST /console/apps/:slug/settings": {
    api: "PUT /api/admin/apps/:slug",
    client: "apps.save",
    cli: "apps set",
  },
  "POST /console/apps/:slug/keys": {
    api: "POST /api/admin/apps/:slug/keys",
    client: "apps.addKey",
    cli: "apps add-key",
  },
  "POST /console/apps/:slug/webhooks": webhooks("PUT /:id", "set-webhook"),
  "POST /console/apps/:slug/webhooks/:id": webhooks("PUT /:id", "set-webhook"),
  "POST /console/apps/:slug/webhooks/:id/rotate": webhooks("POST /:id/rotate", "rotate-webhook"),
  "POST /console/apps/:slug/webhooks/:id/test": webhooks("POST /:id/test", "test-webhook"),
  "POST /console/apps/:slug/webhooks/:id/replay": webhooks("POST /:id/replay", "replay-webhook"),
  "POST /console/apps/:slug/webhooks/:id/delete": webhooks("DELETE /:id", "delete-webhook"),
  "POST /console/apps/:slug/revoke-key": {
    api: "DELETE /api/admin/apps/:slug/keys/:id",
    client: "apps.revokeKey",
    cli: "apps revoke-key",
  },
  "GET /console/apps/:slug/oauth": {
    api: "GET /api/admin/apps/:slug/clients",
    client: "apps.listClients",
    cli: "apps clients",
  },
  "POST /console/apps/:slug/client": {
    api: "PUT /api/admin/apps/:slug/clients/:id",
    client: "apps.saveClient",
    cli: "apps set-client",
  },
  "POST /console/apps/:slug/client-secret": {
    api: "POST /api/admin/apps/:slug/clients/:id/secret",
    client: "apps.replaceClientSecret",
    cli: "apps replace-client-secret",
  },
  "POST /console/apps/:slug/delete-client": {
    api: "DELETE /api/admin/apps/:slug/clients/:id",
    client: "apps.deleteClient",
    cli: "apps delete-client",
  },
  "POST /console/apps/:slug/resource": {
    api: "PUT /api/admin/apps/:slug/resources/:id",
    client: "apps.saveResource",
    cli: "apps set-resource",
  },
  "POST /console/apps/:slug/delete-resource": {
    api: "DELETE /api/admin/apps/:slug/resources/:id",
    client: "apps.deleteResource",
    cli: "apps delete-resource",
  },
};

/** The page of a form reads nothing that its account's or app's page does not read. */
const isFormPage = (route: string): boolean =>
  route.startsWith("GET ") && Object.hasOwn(ROUTE_ROLES, route.replace("GET", "POST"));

const CONSOLE = Object.keys(ROUTE_ROLES).filter(
  (route) => route.includes(" /console") && !isFormPage(route),
);

/** The command of these words, below `command`; the command itself without words. */
function find(command: Command | undefined, words: readonly string[]): Command | undefined {
  const [name, ...rest] = words;
  if (name === undefined) return command;
  return find(
    command?.commands.find((it) => it.name() === name),
    rest,
  );
}

describe("what the console does", () => {
  it("every form and page of the console is listed here with its call of the API", () => {
    expect(Object.keys(EQUIVALENTS).toSorted()).toEqual(CONSOLE.toSorted());
  });

  it.each(Object.entries(EQUIVALENTS))(
    "%s has a call of the API with the same role, a call of the client and a command",
    (route, { api, client, cli }) => {
      expect(ROUTE_ROLES[api], api).toBe(ROUTE_ROLES[route]);
      const { admin, adminApps } = createClient({ baseUrl: "http://localhost", token: "t" });
      const calls: object = client.startsWith("apps.") ? adminApps : admin;
      expect(Reflect.get(calls, client.replace("apps.", "")), client).toBeTypeOf("function");
      const program = createProgram("0", { json: true });
      expect(find(program, ["admin", ...cli.split(" ")]), cli).toBeDefined();
    },
  );
});
