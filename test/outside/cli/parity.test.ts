/** Everything that operators can do in the console or with the API, they can do with the clients and the command line. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { NAMES } from "../../../src/cli/admin_names.ts";
import { createProgram } from "../../../src/cli/program.ts";
import { createAdmin } from "../../../src/client/admin/index.ts";

// By a computed path, because the types that the file refers to are those of the Worker's runtime.
const roles_file = new URL("../../../src/http/caller/operator_roles.ts", import.meta.url).href;
const { CONSOLE_ROLES } = (await import(roles_file)) as {
  readonly CONSOLE_ROLES: Readonly<Record<string, string>>;
};

interface Operation {
  readonly operationId: string;
  readonly "x-role"?: string;
}

const { paths } = JSON.parse(readFileSync("docs/openapi.json", "utf8")) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

/** The role of each operators' operation. */
const roles = new Map(
  Object.values(paths)
    .flatMap((verbs) => Object.values(verbs))
    .flatMap(({ operationId, "x-role": role }) =>
      role === undefined ? [] : [[operationId, role]],
    ),
);

/** Each form of the console, and each page that reads, with the API's operation. A new one fails until it is listed. */
const CONSOLE: Readonly<Record<string, string>> = {
  "GET /console": "readStats",
  "GET /console/accounts": "findAccounts",
  "GET /console/accounts/:identity_id": "inspectAccount",
  "GET /console/accounts/:identity_id/jobs/:job_id": "readAccountJob",
  "GET /console/apps": "listApps",
  "GET /console/apps/:slug": "listAppKeys",
  "GET /console/apps/:slug/oauth": "listOAuthClients",
  "GET /console/audit": "listAudit",
  "GET /console/audit.csv": "listAudit",
  // What the figure of health counts, as the schedule kept it. `listDifferences` compares now, which only an admin may.
  "GET /console/differences": "inspectHealth",
  // The manual, which the package has as files.
  "GET /console/help": "inspectHealth",
  "GET /console/help/:page": "inspectHealth",
  "GET /console/jobs": "findJobs",
  "GET /console/money": "readMoney",
  "GET /console/money.csv": "readMoney",
  "GET /console/operators": "listOperators",
  "GET /console/plans": "listPlans",
  "GET /console/requests": "listRequests",
  "GET /console/search": "findAccounts",
  "POST /console/accounts/:identity_id/credits": "adjustCredits",
  "POST /console/accounts/:identity_id/delete": "deleteAccount",
  "POST /console/accounts/:identity_id/export": "exportAccount",
  "POST /console/accounts/:identity_id/jobs/:job_id/refund": "refundJob",
  "POST /console/accounts/:identity_id/plan": "changePlan",
  "POST /console/accounts/:identity_id/rebuild": "rebuildAccount",
  "POST /console/accounts/:identity_id/restore": "restoreAccount",
  "POST /console/accounts/:identity_id/revoke-token": "revokeAccountToken",
  "POST /console/accounts/:identity_id/signout": "signOutAccount",
  "POST /console/accounts/:identity_id/suspend": "suspendAccount",
  "POST /console/accounts/suspend": "suspendAccounts",
  "POST /console/apps/:slug/client": "saveOAuthClient",
  "POST /console/apps/:slug/client-secret": "replaceClientSecret",
  "POST /console/apps/:slug/continue": "continueApp",
  "POST /console/apps/:slug/delete-client": "deleteOAuthClient",
  "POST /console/apps/:slug/delete-resource": "deleteResource",
  "POST /console/apps/:slug/keys": "addAppKey",
  "POST /console/apps/:slug/pause": "pauseApp",
  "POST /console/apps/:slug/resource": "saveResource",
  "POST /console/apps/:slug/revoke-key": "revokeAppKey",
  "POST /console/apps/:slug/settings": "changeApp",
  "POST /console/apps/:slug/webhooks": "saveWebhook",
  "POST /console/apps/:slug/webhooks/:id": "saveWebhook",
  "POST /console/apps/:slug/webhooks/:id/delete": "deleteWebhook",
  "POST /console/apps/:slug/webhooks/:id/replay": "replayWebhook",
  "POST /console/apps/:slug/webhooks/:id/retry": "retryWebhook",
  "POST /console/apps/:slug/webhooks/:id/rotate": "rotateWebhookSecret",
  "POST /console/apps/:slug/webhooks/:id/test": "testWebhook",
  "POST /console/new-app": "saveApp",
  "POST /console/plans/delete": "deletePlan",
  "POST /console/plans/plan": "savePlan",
};

/** The page of a form reads nothing that its account's or app's page does not read. */
const isFormPage = (route: string): boolean =>
  route.startsWith("GET ") && Object.hasOwn(CONSOLE_ROLES, route.replace("GET", "POST"));

it("every form and page of the console has an operation of the API, with the same role", () => {
  const pages = Object.keys(CONSOLE_ROLES).filter((route) => !isFormPage(route));
  expect(Object.keys(CONSOLE).toSorted()).toEqual(pages.toSorted());
  for (const [page, id] of Object.entries(CONSOLE)) {
    expect(roles.get(id), page).toBe(CONSOLE_ROLES[page]);
  }
});

it("every operators' operation is in the client, the command line and the Python client", () => {
  const admin = createProgram("0", { json: true }).commands.find((it) => it.name() === "admin");
  const commands = admin?.commands.flatMap((command) => command.aliases());
  const python = readFileSync("clients/python/passbook_client/calls.py", "utf8");
  expect(roles.size).toBeGreaterThan(40);
  for (const id of roles.keys()) {
    expect(createAdmin({ baseUrl: "http://localhost", token: "t" })).toHaveProperty(id);
    expect(commands).toContain(id);
    const words = id.replaceAll("OAuth", "Oauth").replaceAll(/[A-Z]/g, "_$&").toLowerCase();
    expect(python.includes(`    def ${words}(`), words).toBe(true);
  }
});

it("every short name of the command line belongs to an operation", () => {
  expect([...roles.keys()]).toEqual(expect.arrayContaining(Object.keys(NAMES)));
});
