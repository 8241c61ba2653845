import { describe, expect, it } from "vitest";
import { APP, openAppServer, rows, type AppServer } from "../../caller/app_server.ts";
import { HOOK, serverOf, WEBHOOKS } from "./webhooks/owner.ts";

const CLIENT = { name: "Sketch", redirect_uris: ["https://sketch.example.com/cb"], public: false };
const RESOURCE = { uri: "https://mcp.sketch.example.com/mcp", scopes: ["drawings:read"] };

/** A kind of record: how it is saved, and a second version of its settings. */
const KINDS = {
  app: { path: "/api/admin/apps/paint", settings: APP, other: { ...APP, name: "Paint 2" } },
  client: {
    path: "/api/admin/apps/sketch/clients/web",
    settings: CLIENT,
    other: { ...CLIENT, redirect_uris: ["https://staging.example.com/cb"], public: true },
  },
  resource: {
    path: "/api/admin/apps/sketch/resources/mcp",
    settings: RESOURCE,
    other: { ...RESOURCE, scopes: [] },
  },
  webhook: {
    path: `${WEBHOOKS}/main`,
    settings: HOOK,
    other: { ...HOOK, events: ["credits.granted"], thresholds: [], active: false },
  },
} as const;

const CASES = [
  ["app", "operator"],
  ["client", "operator"],
  ["resource", "operator"],
  ["webhook", "operator"],
  ["webhook", "app's key"],
] as const;

type Case = (typeof CASES)[number];

/** Saves records of one kind as an operator, or as the app's own server. */
async function open(kind: Case[0], who: Case[1]) {
  const server: AppServer = await openAppServer("sketch");
  const { operator } = server;
  const { path, settings, other } = KINDS[kind];
  const save = (body: object, headers = {}) =>
    who === "operator"
      ? operator.send("PUT", path, body, headers)
      : serverOf(server).send("PUT", path, body, headers);
  const stored = async () => ({
    apps: await rows("select * from apps"),
    clients: await rows("select * from oauth_clients"),
    keys: await rows("select id, revoked_at_ms from app_keys"),
    resources: await rows("select * from resources"),
    webhooks: await rows("select * from webhooks"),
  });
  const changed = { status: 409, body: { code: `${kind}_changed` } };
  return { save, stored, changed, settings, other };
}

describe.each(CASES)("a save of the %s by the %s", (kind, who) => {
  it("a new record is created once, and creating it again with the same settings changes nothing", async () => {
    const { save, stored, settings } = await open(kind, who);
    const created = await save(settings);
    expect(created.status).toBe(200);
    expect(created.body[kind]).toMatchObject({ version: 1, created_at: expect.any(String) });
    const before = await stored();
    for (const version of [undefined, 0]) {
      const again = await save({ ...settings, version });
      expect(again.status).toBe(200);
      expect(again.body[kind]).toEqual(created.body[kind]);
      expect(again.text).not.toMatch(/pb_app_|whsec_/);
    }
    expect(await stored()).toEqual(before);
  });

  it("creating never changes a record that exists", async () => {
    const { save, stored, changed, settings, other } = await open(kind, who);
    await save(settings);
    const before = await stored();
    for (const version of [undefined, 0]) {
      expect(await save({ ...other, version })).toMatchObject(changed);
    }
    expect(await stored()).toEqual(before);
  });

  it("a change names the version that was read, and returns the record with the next one", async () => {
    const { save, stored, changed, settings, other } = await open(kind, who);
    await save(settings);
    const saved = await save({ ...other, version: 1 });
    expect(saved.body[kind]).toMatchObject({ ...other, version: 2 });
    const before = await stored();
    for (const version of [1, 3]) {
      expect(await save({ ...settings, version })).toMatchObject(changed);
    }
    expect(await stored()).toEqual(before);
    expect((await save({ ...settings, version: 2 })).body[kind]).toMatchObject({ version: 3 });
  });

  it("a record that does not exist cannot be changed", async () => {
    const { save, stored, settings } = await open(kind, who);
    const before = await stored();
    const missing = await save({ ...settings, version: 1 });
    const code = `${kind}_not_found`;
    expect(missing).toMatchObject({ status: 404, body: { code } });
    // Only the registration of the app that the records belong to.
    expect(await rows("select * from audit where act like '%.save'")).toHaveLength(1);
    expect(await stored()).toEqual(before);
  });

  it("of two callers who create or change it at once, one succeeds", async () => {
    const { save, settings, other } = await open(kind, who);
    for (const version of [0, 1]) {
      const saves = await Promise.all([
        save({ ...settings, reason: "one", version }),
        save({ ...other, reason: "two", version }),
      ]);
      expect(saves.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
      const won = saves.find(({ status }) => status === 200)?.body[kind];
      expect(won.version).toBe(version + 1);
    }
  });

  it("a save that is repeated under its key does nothing, also after somebody else's change", async () => {
    const { save, stored, settings, other } = await open(kind, who);
    const key = { "Idempotency-Key": "once" };
    await save(settings, key);
    const changed = await save({ ...other, version: 1 });
    const before = await stored();
    const again = await save(settings, key);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(again.body[kind]).toEqual(changed.body[kind]);
    expect(await stored()).toEqual(before);
  });
});

describe("deleting a record", () => {
  it.each(["client", "resource", "webhook"] as const)(
    "a %s whose deletion was interrupted is deleted when the request is repeated, and not found otherwise",
    async (kind) => {
      const { operator } = await openAppServer("sketch");
      const { path, settings } = KINDS[kind];
      await operator.send("PUT", path, settings);
      const remove = (key: string) =>
        operator.send("DELETE", path, undefined, { "Idempotency-Key": key });
      expect((await remove("first")).body).toEqual({ ok: true });
      await rows("delete from audit_outcomes");
      const repeated = await remove("first");
      expect([repeated.status, repeated.headers.get("Idempotency-Replayed")]).toEqual([
        200,
        "true",
      ]);
      expect((await remove("second")).status).toBe(404);
      expect(await rows("select outcome from audit_outcomes")).toEqual([{ outcome: "done" }]);
    },
  );
});
