import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { AppRecords } from "../../../src/directory/app_records.ts";
import { AppRegistry } from "../../../src/directory/apps.ts";
import { OAuthRecords } from "../../../src/directory/oauth_records.ts";
import { registerApp } from "../support/directory_outage.ts";
import { registerClient, registerResource } from "../support/registrations.ts";

const MINUTE_MS = 60_000;

const open = () =>
  new AppRegistry({
    database: env.DIRECTORY,
    keepOwned: async (origins) => origins,
    default_starter_credits: 0,
  });

beforeEach(async () => {
  vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(console, "warn").mockReturnValue();
  await registerApp("demo", {});
});

describe("a registered OAuth client", () => {
  it("an OAuth client is found by its client_id with all its settings", async () => {
    await registerClient("demo", "web", {
      name: "Demo",
      pkce_optional: 1,
      post_logout_redirect_uris_json: '["https://demo.example/bye","javascript:alert(1)"]',
    });
    expect(await open().findClient("demo~web")).toEqual({
      kind: "found",
      value: {
        kind: "registered",
        client_id: "demo~web",
        app_slug: "demo",
        name: "Demo",
        redirect_uris: ["https://demo.example/callback"],
        post_logout_redirect_uris: ["https://demo.example/bye"],
        public: false,
        pkce_optional: true,
      },
    });
  });

  it("a client of an app that is not registered is unknown", async () => {
    await registerClient("other", "web");
    expect(await open().findClient("other~web")).toEqual({ kind: "unknown" });
  });

  it("a deleted client is unknown a minute later", async () => {
    await registerClient("demo", "web");
    const registry = open();
    expect((await registry.findClient("demo~web")).kind).toBe("found");
    await env.DIRECTORY.exec("delete from oauth_clients");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + MINUTE_MS - 1_000 });
    expect((await registry.findClient("demo~web")).kind).toBe("found");
    vi.setSystemTime(Date.now() + 1_001);
    expect((await registry.findClient("demo~web")).kind).toBe("unknown");
  });

  it("a new client is found at once, and unknown ones cause one read of D1 in five seconds", async () => {
    const prepared = vi.spyOn(env.DIRECTORY, "prepare");
    const registry = open();
    await registry.findClient("demo~web");
    const reads = prepared.mock.calls.length;
    for (let attempt = 0; attempt < 10; attempt += 1) await registry.findClient(`demo~x${attempt}`);
    expect(prepared.mock.calls.length).toBe(reads);
    await registerClient("demo", "web");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5_001 });
    expect((await registry.findClient("demo~web")).kind).toBe("found");
  });

  it("a text that cannot be a client_id causes no read of D1", async () => {
    const prepared = vi.spyOn(env.DIRECTORY, "prepare");
    for (const client_id of ["", "demo", "demo~", "~web", "demo~web~x", "https://a.example/x"]) {
      expect(await open().findClient(client_id)).toEqual({ kind: "unknown" });
    }
    expect(prepared).not.toHaveBeenCalled();
  });

  it("while D1 is unavailable, a new isolate does not say that a client is unknown", async () => {
    vi.spyOn(env.DIRECTORY, "prepare").mockImplementation(() => {
      throw new Error("D1_ERROR: out of reach");
    });
    expect(await open().findClient("demo~web")).toEqual({ kind: "unreadable" });
  });

  it("an invalid redirect address that was written with SQL is left out", async () => {
    const redirect_uris = [
      "https://demo.example/callback",
      "javascript:/x",
      7,
      "http://a.example/",
    ];
    await registerClient("demo", "web", { redirect_uris_json: JSON.stringify(redirect_uris) });
    const found = await open().findClient("demo~web");
    expect(found).toMatchObject({ value: { redirect_uris: ["https://demo.example/callback"] } });
  });

  it.each([
    ["a public client with optional PKCE", { public: 1, pkce_optional: 1 }],
    ["redirect addresses that are not a list", { redirect_uris_json: '"https://a.example/"' }],
    ["redirect addresses that are not JSON", { redirect_uris_json: "https://a.example/" }],
  ])("the table of OAuth clients refuses %s", async (_, row) => {
    await expect(registerClient("demo", "web", row)).rejects.toThrow(/CHECK constraint failed/);
  });
});

describe("a registered resource", () => {
  it("a resource is found by its address, and a bare origin also with a slash", async () => {
    await registerResource("demo", "mcp", "https://mcp.demo.example");
    const registry = open();
    const uri = "https://mcp.demo.example";
    const resource = { uri, app_slug: "demo", scopes: ["tools"], charges: false };
    for (const uri of ["https://mcp.demo.example", "https://mcp.demo.example/"]) {
      expect(await registry.findResource(uri)).toEqual({ kind: "found", value: resource });
    }
  });

  it("a resource with a path is found only by exactly that path", async () => {
    await registerResource("demo", "mcp", "https://demo.example/mcp");
    const registry = open();
    expect((await registry.findResource("https://demo.example/mcp")).kind).toBe("found");
    for (const uri of [
      "https://demo.example/mcp/",
      "https://demo.example",
      "https://demo.example/MCP",
      "https://demo.example/mcp?x=1",
      "http://demo.example/mcp",
    ]) {
      expect(await registry.findResource(uri)).toEqual({ kind: "unknown" });
    }
  });

  it("two apps cannot own one address", async () => {
    await registerResource("demo", "mcp", "https://demo.example/mcp");
    await expect(registerResource("other", "mcp", "https://demo.example/mcp")).rejects.toThrow(
      /UNIQUE constraint failed/,
    );
  });
});

describe("two saves of one version", () => {
  const MAIN = { app_slug: "demo", id: "main" };
  const nothing = () => undefined;

  it("of two saves of an app's one version, one changes it and the other nothing", async () => {
    const records = new AppRecords(env.DIRECTORY, { changed: nothing, is_development: false });
    const known = (await records.find("demo")) ?? expect.fail("not registered");
    const save = (name: string) =>
      records.save("demo", { ...known, name, icon: undefined }, { version: 1, audit_id: name });
    const saves = await Promise.all([save("one"), save("two")]);
    expect(saves.filter((saved) => saved === null)).toHaveLength(1);
    expect(await records.find("demo")).toMatchObject({ version: 2 });
  });

  it("of two saves of a client's one version, one changes it and the other nothing", async () => {
    const records = new OAuthRecords(env.DIRECTORY, nothing);
    await registerClient("demo", "main");
    const before = await records.findClient(MAIN);
    const settings = before ?? expect.fail("not registered");
    const save = (name: string) =>
      records.saveClient(MAIN, { ...settings, name }, { before, audit_id: name });
    const saves = await Promise.all([save("one"), save("two")]);
    expect(saves.filter((saved) => saved.ok && saved.value === null)).toHaveLength(1);
    expect(await records.findClient(MAIN)).toMatchObject({ version: 2 });
  });

  it("of two saves of a resource's one version, one changes it and the other nothing", async () => {
    const records = new OAuthRecords(env.DIRECTORY, nothing);
    await registerResource("demo", "main", "https://demo.example/mcp");
    const before = await records.findResource(MAIN);
    const { uri } = before ?? expect.fail("not registered");
    const save = (scope: string) =>
      records.saveResource(
        MAIN,
        { uri, scopes: [scope], charges: false },
        { before, audit_id: scope },
      );
    const saves = await Promise.all([save("one"), save("two")]);
    expect(saves.filter((saved) => saved.ok && saved.value === null)).toHaveLength(1);
    expect(await records.findResource(MAIN)).toMatchObject({ version: 2 });
  });
});

describe("the apps of an origin", () => {
  beforeEach(async () => {
    await registerApp("wide", { origins_json: '["https://*.example.com"]' });
    await registerApp("deep", { origins_json: '["https://*.b.example.com"]' });
    await registerApp("one", {
      origins_json: '["https://a.example.com","https://shared.example"]',
    });
    await registerApp("two", { origins_json: '["https://shared.example"]' });
  });

  it.each([
    ["https://a.example.com", ["one"]],
    ["https://c.example.com", ["wide"]],
    ["https://x.b.example.com", ["deep"]],
    ["https://b.example.com", ["wide"]],
    ["https://shared.example", ["one", "two"]],
    ["https://other.example", []],
    ["unknown", []],
  ])("the origin %s belongs to the apps that name it most precisely", async (origin, slugs) => {
    expect(await open().slugsOfOrigin(origin)).toEqual(slugs);
  });

  it("the cookie of a domain reaches the apps with a host at the domain or below it", async () => {
    expect(await open().slugsUnder("b.example.com")).toEqual(["deep", "wide"]);
    expect(await open().slugsUnder("shared.example")).toEqual(["one", "two"]);
    expect(await open().slugsUnder("ared.example")).toEqual([]);
  });

  it("the apps of an origin are unknown while the directory cannot be read", async () => {
    vi.spyOn(env.DIRECTORY, "prepare").mockImplementation(() => {
      throw new Error("directory is down");
    });
    expect(await open().slugsOfOrigin("https://a.example.com")).toBeNull();
    expect(await open().slugsUnder("example.com")).toBeNull();
  });
});
