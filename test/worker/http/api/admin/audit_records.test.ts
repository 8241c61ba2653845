/** Every write of the operators' API and of the console adds one record to the audit log. */
import { describe, expect, it } from "vitest";
import { createApp } from "../../../../../src/app.ts";
import { servicesFor } from "../../../../../src/services.ts";
import { getToken, tokenId } from "../../../support/device_logins.ts";
import { archiveNow } from "../../../archive/archived.ts";
import { giveRecovery, loseStorage } from "../../../support/recovery.ts";
import { signInWithCredits } from "../../../support/passbook.ts";
import { openConsole } from "../../../web/console/pages.ts";
import { openStripe, SELLING } from "../../../payments/till.ts";
import { operatorOnPages, SETTINGS } from "./operators.ts";

const REASON = { reason: "why" };
const APP = {
  name: "Sketch",
  starter_credits: 5,
  origins: [],
  daily_starter_budget: null,
};
const HOOK = { url: "https://sketch.example.com/hook", events: ["job.completed"] };
const CLIENT = {
  name: "Sketch",
  redirect_uris: ["https://sketch.example.com/callback"],
  public: true,
};
const RESOURCE = { uri: "https://mcp.sketch.example.com/mcp", scopes: [] };
const KEY_FORM = () => ({ key: crypto.randomUUID() });
const ACT_FORM = () => ({ ...REASON, ...KEY_FORM(), confirmed: "yes" });
const APP_FORM = () => ({
  ...KEY_FORM(),
  slug: "fresh",
  name: "Fresh",
  starter_credits: "5",
  origins: "",
  daily_starter_budget: "",
  settle: "holder",
  on_expiry: "refund",
});

const WEBHOOK_FORM = () => ({
  ...KEY_FORM(),
  url: "https://sketch.example.com/hook",
  "event-job.completed": "yes",
  active: "yes",
});

/** The body with which each write succeeds. A new route fails this test until it is listed here. */
const WRITES: Readonly<Record<string, (identity_id: string) => object>> = {
  "POST /api/admin/accounts/suspend": (identity_id) => ({ identity_ids: [identity_id], ...REASON }),
  "POST /api/admin/accounts/:identity_id/credits": () => ({ amount: 5, ...REASON }),
  "POST /api/admin/accounts/:identity_id/jobs/:job_id/refund": () => REASON,
  "POST /api/admin/accounts/:identity_id/plan": () => ({ plan: "gold", ...REASON }),
  "POST /api/admin/accounts/:identity_id/suspend": () => REASON,
  "POST /api/admin/accounts/:identity_id/restore": () => REASON,
  "POST /api/admin/accounts/:identity_id/signout": () => REASON,
  "POST /api/admin/accounts/:identity_id/rebuild": () => ({}),
  "POST /api/admin/accounts/:identity_id/archive": () => ({}),
  "POST /api/admin/archive": () => ({}),
  "POST /api/admin/directory/copy": () => ({}),
  "POST /api/admin/directory/rebuild": () => ({}),
  "POST /api/admin/accounts/:identity_id/recovery": () => ({
    to: new Date(Date.now() - 1).toISOString(),
    ...REASON,
  }),
  "POST /api/admin/accounts/:identity_id/lost-storage": () => REASON,
  "DELETE /api/admin/accounts/:identity_id": () => REASON,
  "POST /api/admin/rebuild": () => ({}),
  "POST /api/admin/payments/reconcile": () => ({}),
  "DELETE /api/admin/accounts/:identity_id/personal-tokens/:id": () => ({}),
  "PUT /api/admin/apps/:slug": () => ({ ...APP, version: 1 }),
  "PATCH /api/admin/apps/:slug": () => ({ starter_credits: 5, version: 1 }),
  "POST /api/admin/apps/:slug/pause": () => ({ ...REASON, message: "Back soon." }),
  "POST /api/admin/apps/:slug/continue": () => REASON,
  "POST /api/admin/apps/:slug/keys": () => ({ label: "server" }),
  "DELETE /api/admin/apps/:slug/keys/:id": () => ({}),
  "PUT /api/admin/apps/:slug/webhooks/:id": () => ({ ...HOOK, active: false, version: 1 }),
  "DELETE /api/admin/apps/:slug/webhooks/:id": () => ({}),
  "POST /api/admin/apps/:slug/webhooks/:id/rotate": () => ({}),
  "POST /api/admin/apps/:slug/webhooks/:id/test": () => ({}),
  "POST /api/admin/apps/:slug/webhooks/:id/retry": () => ({}),
  "POST /api/admin/apps/:slug/webhooks/:id/replay": (identity_id) => ({
    identity_id,
    after_line: 0,
  }),
  "PUT /api/admin/apps/:slug/clients/:id": () => ({ ...CLIENT, version: 1 }),
  "DELETE /api/admin/apps/:slug/clients/:id": () => ({}),
  "PUT /api/admin/apps/:slug/resources/:id": () => ({ ...RESOURCE, version: 1 }),
  "DELETE /api/admin/apps/:slug/resources/:id": () => ({}),
  "POST /api/admin/apps/:slug/clients/:id/secret": () => ({}),
  "PUT /api/admin/plans/:id": () => ({ name: "Main", recurring: [], version: 1 }),
  "DELETE /api/admin/plans/:id": () => ({}),
  "POST /console/apps/:slug/client-secret": KEY_FORM,
  "POST /console/apps/:slug/client": () => ({
    ...KEY_FORM(),
    version: "1",
    name: "Sketch",
    redirect_uris: "https://sketch.example.com/callback",
    kind: "public",
  }),
  "POST /console/apps/:slug/delete-client": KEY_FORM,
  "POST /console/apps/:slug/resource": () => ({
    ...KEY_FORM(),
    version: "1",
    uri: RESOURCE.uri,
    scopes: "drawings:read",
  }),
  "POST /console/apps/:slug/delete-resource": KEY_FORM,
  "POST /console/accounts/:identity_id/credits": () => ({
    ...ACT_FORM(),
    direction: "give",
    amount: "5",
  }),
  "POST /console/accounts/:identity_id/jobs/:job_id/refund": ACT_FORM,
  "POST /console/accounts/suspend": (identity_id) => ({
    ...ACT_FORM(),
    identity_ids: identity_id,
  }),
  "POST /console/accounts/:identity_id/plan": () => ({ ...ACT_FORM(), plan: "gold" }),
  "POST /console/accounts/:identity_id/suspend": ACT_FORM,
  "POST /console/accounts/:identity_id/restore": ACT_FORM,
  "POST /console/accounts/:identity_id/signout": ACT_FORM,
  "POST /console/accounts/:identity_id/rebuild": ACT_FORM,
  "POST /console/accounts/:identity_id/revoke-token": ACT_FORM,
  "POST /console/accounts/:identity_id/export": ACT_FORM,
  "POST /console/accounts/:identity_id/delete": ACT_FORM,
  "POST /console/new-app": APP_FORM,
  "POST /console/plans/plan": () => ({
    ...KEY_FORM(),
    version: "1",
    name: "Main",
    recurring: "10/day:5",
  }),
  "POST /console/plans/delete": KEY_FORM,
  "POST /console/apps/:slug/settings": () => ({ ...APP_FORM(), group: "look", version: "1" }),
  "POST /console/apps/:slug/pause": () => ({ ...ACT_FORM(), message: "Back soon." }),
  "POST /console/apps/:slug/continue": ACT_FORM,
  "POST /console/apps/:slug/keys": () => ({ ...KEY_FORM(), label: "server" }),
  "POST /console/apps/:slug/revoke-key": ACT_FORM,
  "POST /console/apps/:slug/webhooks": () => ({ ...WEBHOOK_FORM(), id: "fresh" }),
  "POST /console/apps/:slug/webhooks/:id": () => ({ ...WEBHOOK_FORM(), version: "1" }),
  "POST /console/apps/:slug/webhooks/:id/rotate": ACT_FORM,
  "POST /console/apps/:slug/webhooks/:id/test": ACT_FORM,
  "POST /console/apps/:slug/webhooks/:id/retry": KEY_FORM,
  "POST /console/apps/:slug/webhooks/:id/replay": (identity_id) => ({
    ...KEY_FORM(),
    identity_id,
    after_line: "0",
  }),
  "POST /console/apps/:slug/webhooks/:id/delete": ACT_FORM,
};

const ROUTES = [
  ...new Set(
    createApp(servicesFor)
      .routes.filter(
        ({ method, path }) =>
          !["ALL", "GET"].includes(method) && /^\/(api\/admin|console)\//.test(path),
      )
      .map(({ method, path }) => `${method} ${path}`),
  ),
];

describe("an operator's write", () => {
  it("this file covers every route that changes something", () => {
    expect(ROUTES.toSorted()).toEqual(Object.keys(WRITES).toSorted());
  });

  it.each(ROUTES)("%s leaves one audit record with the outcome done", async (route) => {
    const [method = "", path = ""] = route.split(" ");
    if (path.endsWith("/recovery")) await giveRecovery();
    const { olga: on_pages, submit } = await openConsole();
    openStripe();
    const olga = operatorOnPages(on_pages.person, { ...SETTINGS, ...SELLING });
    const ada = await signInWithCredits();
    await olga.send("PUT", "/api/admin/apps/sketch", APP);
    const { id: key_id } = (await olga.send("POST", "/api/admin/apps/sketch/keys", { label: "k" }))
      .body;
    const token_id = await tokenId(await getToken(ada));
    const body_of_job = { app: "demo", action: "draw", cost_estimate: 5 };
    const { job_id } = (await ada.post("/api/jobs", body_of_job)).body;
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 5 });
    await olga.send("PUT", "/api/admin/apps/sketch/webhooks/main", HOOK);
    await ada.get("/api/wallet?app=sketch");
    // Only a confidential client has a secret to replace.
    const client = { ...CLIENT, public: !/secret/.test(path) };
    await olga.send("PUT", "/api/admin/apps/sketch/clients/main", client);
    await olga.send("PUT", "/api/admin/apps/sketch/resources/main", RESOURCE);
    await olga.send("PUT", "/api/admin/plans/main", { name: "Main", recurring: [] });
    if (path.endsWith("/lost-storage")) {
      await archiveNow(ada.identity_id);
      await loseStorage(ada);
    }
    const of_app = /webhook|client|resource/.test(path) ? "main" : key_id;
    const of_account = path.includes("/plans/") ? "main" : token_id;
    const id = path.includes("/apps/") ? of_app : of_account;
    const address = path
      .replace(":identity_id", ada.identity_id)
      .replace(":job_id", job_id)
      .replace(":slug", "sketch")
      .replace(":id", id);
    const lines = async () =>
      (await olga.get("/api/admin/audit?limit=200")).body.entries as readonly { details: object }[];
    const before = (await lines()).length;
    const is_deletion =
      route.endsWith("/delete") || route.endsWith("DELETE /api/admin/accounts/:identity_id");
    const confirm = is_deletion ? { confirm: ada.identity_id } : {};
    const body = { ...WRITES[route]?.(ada.identity_id), ...confirm };
    const response = path.startsWith("/api/")
      ? await olga.send(method, address, body, { "Idempotency-Key": "one" })
      : await submit(address, { id, token_id: id, key_id: id, ...body });
    expect([200, 303], response.text).toContain(response.status);
    const after = await lines();
    expect(after.length).toBe(before + 1);
    expect(after[0]).toMatchObject({
      details: { outcome: "done" },
      actor: olga.person.identity_id,
    });
  });
});
