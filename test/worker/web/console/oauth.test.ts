import { describe, expect, it } from "vitest";
import { rows, saveApp } from "../../http/caller/app_server.ts";
import { hiddenFields, openConsole } from "./pages.ts";

const OAUTH = "/console/apps/sketch/oauth";
const CLIENT = "/console/apps/sketch/client";
const RESOURCE = "/console/apps/sketch/resource";
const WEB = {
  id: "web",
  name: "Sketch",
  redirect_uris: "https://sketch.example.com/callback\r\nhttp://127.0.0.1/callback",
  kind: "confidential",
};

async function openApp() {
  const browser = await openConsole();
  await saveApp(browser.olga, "sketch");
  return browser;
}

describe("the console's page of an app's OAuth clients and resources", () => {
  it("an operator registers a client, sees its secret once, changes it and deletes it", async () => {
    const { open, fill } = await openApp();
    expect((await open("/console/apps/sketch")).text).toContain(`href="${OAUTH}"`);
    const registered = await fill(CLIENT, WEB);
    expect(registered.text).toMatch(/pb_cs_[\w-]{43}/);
    expect(registered.text).toContain("sketch~web");
    const page = (await open(OAUTH)).text;
    expect(page).not.toContain("pb_cs_");
    expect(page).toContain("confidential · never used");
    const form = (await open(`${CLIENT}?id=web`)).text;
    expect(form).toContain("http://127.0.0.1/callback</textarea>");
    const changed = await fill(`${CLIENT}?id=web`, { ...WEB, pkce_optional: "yes" });
    expect(changed.text).toContain("confidential, PKCE optional");
    expect(changed.text).not.toContain("pb_cs_");
    const asked = await open("/console/apps/sketch/delete-client?id=web");
    expect(asked.text).toContain("Its secret ends with it.");
    const deleted = await fill("/console/apps/sketch/delete-client?id=web", { reason: "old" });
    expect(deleted.status).toBe(303);
    expect((await open(deleted.headers.get("Location") ?? "")).text).toContain(
      "The client was deleted.",
    );
    expect((await open(OAUTH)).text).not.toContain("sketch~web");
    const reused = await fill(CLIENT, WEB);
    expect([reused.status, reused.text.includes("its id is not used again")]).toEqual([409, true]);
  });

  it("a form that is sent twice registers one client and shows the secret only the first time", async () => {
    const { fill, submit } = await openApp();
    const { sent, text } = await fill(CLIENT, WEB);
    expect(text).toContain("pb_cs_");
    const again = await submit(CLIENT, sent);
    expect([again.status, again.text.includes("pb_cs_")]).toEqual([200, false]);
  });

  it("an operator replaces the secret of a confidential client, and of no public one", async () => {
    const { open, fill, submit } = await openApp();
    const REPLACE = "/console/apps/sketch/client-secret?id=web";
    const [first] = /pb_cs_[\w-]{43}/.exec((await fill(CLIENT, WEB)).text) ?? [];
    expect((await open(OAUTH)).text).toContain(`href="${REPLACE}"`);
    expect((await open(REPLACE)).text).toContain("Replace the secret of “Sketch”?");
    const { sent, text } = await fill(REPLACE, { reason: "a leak", now: "yes" });
    const [second] = /pb_cs_[\w-]{43}/.exec(text) ?? [];
    expect(second).toBeDefined();
    expect(second).not.toBe(first);
    expect(await rows("select old_secrets_json from oauth_clients")).toEqual([
      { old_secrets_json: "[]" },
    ]);
    const again = await submit("/console/apps/sketch/client-secret", sent);
    expect([again.status, again.text.includes("pb_cs_")]).toEqual([200, false]);
    await fill(CLIENT, { ...WEB, id: "page", kind: "public" });
    expect((await open(OAUTH)).text).not.toContain("client-secret?id=page");
    const refused = await fill("/console/apps/sketch/client-secret?id=page", {});
    expect([refused.status, refused.text.includes("has no secret")]).toEqual([400, true]);
  });

  it.each([
    ["another name", { name: "Another" }],
    ["the same name", { redirect_uris: "https://staging.example.com/cb", kind: "public" }],
  ])("a new client with %s does not replace a client that has its id", async (_, other) => {
    const { fill } = await openApp();
    await fill(CLIENT, WEB);
    const before = await rows("select * from oauth_clients");
    const taken = await fill(CLIENT, { ...WEB, ...other });
    expect([taken.status, taken.text.includes("This id is taken.")]).toEqual([409, true]);
    expect(await rows("select * from oauth_clients")).toEqual(before);
  });

  it("an outdated form of a client keeps a colleague's address, and shows it", async () => {
    const { fill, open, submit } = await openApp();
    await fill(CLIENT, WEB);
    const page = `${CLIENT}?id=web`;
    const stale = { ...hiddenFields((await open(page)).text), ...WEB, name: "Renamed" };
    const added = `${WEB.redirect_uris}\r\nhttps://new.example.com/callback`;
    await fill(page, { ...WEB, redirect_uris: added, pkce_optional: "yes" });
    const before = await rows("select * from oauth_clients");
    const refused = await submit(CLIENT, stale);
    expect(refused.status).toBe(409);
    expect(refused.text).toMatch(/id="redirect_uris-problem">[^<]*https:\/\/new\.example\.com/);
    expect(refused.text).toMatch(/id="pkce_optional-problem">The saved value is: yes\./);
    expect(refused.text).toMatch(/id="name-problem">The saved value is: Sketch\./);
    expect(await rows("select * from oauth_clients")).toEqual(before);
    // The page has shown the saved values, so sending it again overwrites them on purpose.
    const again = { ...stale, ...hiddenFields(refused.text) };
    expect((await submit(CLIENT, again)).status).toBe(200);
    expect(await rows("select name, version from oauth_clients")).toEqual([
      { name: "Renamed", version: 3 },
    ]);
  });

  it("a new or outdated form of a resource changes nothing", async () => {
    const { fill, open, submit } = await openApp();
    const mcp = { id: "mcp", uri: "https://mcp.sketch.example.com/mcp", scopes: "draw" };
    await fill(RESOURCE, mcp);
    const page = `${RESOURCE}?id=mcp`;
    const stale = { ...hiddenFields((await open(page)).text), ...mcp, scopes: "" };
    await fill(page, { ...mcp, scopes: "draw\nerase" });
    const taken = await fill(RESOURCE, { ...mcp, scopes: "" });
    expect([taken.status, taken.text.includes("This id is taken.")]).toEqual([409, true]);
    const refused = await submit(RESOURCE, stale);
    expect(refused.status).toBe(409);
    expect(refused.text).toMatch(/id="scopes-problem">The saved value is: draw erase\./);
    expect(await rows("select scopes_json from resources")).toEqual([
      { scopes_json: '["draw","erase"]' },
    ]);
  });

  it("a form with problems names each field and line, and changes nothing", async () => {
    const { fill } = await openApp();
    const wrong = {
      ...WEB,
      id: "Web",
      name: "",
      redirect_uris: "https://a.example/\nhttp://b.example/",
    };
    const { status, text } = await fill(CLIENT, { ...wrong, kind: "public" });
    expect(status).toBe(400);
    expect(text).toContain("The id must be 1 to 64");
    expect(text).toContain("The name must not be empty.");
    expect(text).toContain("Line 2: “http://b.example/” must be https.");
    const pkce = await fill(CLIENT, { ...WEB, kind: "public", pkce_optional: "yes" });
    expect(pkce.text).toContain("The choice for PKCE must be false for a public client");
    expect(await rows("select * from oauth_clients")).toEqual([]);
  });

  it("a form without the id of its client or resource is shown again with this problem", async () => {
    const { fill, submit } = await openApp();
    await fill(CLIENT, WEB);
    for (const path of [CLIENT, RESOURCE]) {
      const refused = await submit(path, { key: "one", version: "1" });
      expect([refused.status, refused.text.includes("undefined")]).toEqual([400, false]);
      expect(refused.text).toContain("The id must be 1 to 64");
    }
  });

  it("an operator registers a resource, changes it and deletes it", async () => {
    const { open, fill } = await openApp();
    const mcp = { id: "mcp", uri: "https://mcp.sketch.example.com/mcp", scopes: "draw\nerase" };
    const saved = await fill(RESOURCE, mcp);
    expect(saved.status).toBe(303);
    expect((await open(OAUTH)).text).toContain(mcp.uri);
    expect((await open(`${RESOURCE}?id=mcp`)).text).toContain("draw\nerase</textarea>");
    await fill(`${RESOURCE}?id=mcp`, { ...mcp, scopes: "" });
    expect(await rows("select scopes_json from resources")).toEqual([{ scopes_json: "[]" }]);
    expect((await open(OAUTH)).text).not.toContain("charges people");
    await fill(`${RESOURCE}?id=mcp`, { ...mcp, charges: "yes" });
    expect((await open(OAUTH)).text).toContain("draw erase, charges people");
    expect((await open(`${RESOURCE}?id=mcp`)).text).toMatch(/id="charges"[^>]* checked/);
    const taken = await fill(RESOURCE, { ...mcp, id: "second" });
    expect(taken.text).toContain("Another resource is registered with this address.");
    const reserved = await fill(`${RESOURCE}?id=mcp`, { ...mcp, scopes: "draw\nupstream" });
    expect(reserved.status).toBe(400);
    expect(reserved.text).toContain("Line 2: “upstream” must not be openid");
    await fill("/console/apps/sketch/delete-resource?id=mcp", {});
    expect(await rows("select * from resources")).toEqual([]);
  });

  it("a client, resource or app that does not exist is a page with status 404", async () => {
    const { open } = await openApp();
    for (const path of [
      `${CLIENT}?id=none`,
      `${RESOURCE}?id=none`,
      "/console/apps/sketch/delete-client?id=none",
      "/console/apps/sketch/delete-resource?id=none",
      "/console/apps/none/oauth",
      "/console/apps/none/client",
      "/console/apps/none/resource",
    ]) {
      expect((await open(path)).status, path).toBe(404);
    }
  });
});
