import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { openAppServer, rows, saveApp, APP } from "../../../caller/app_server.ts";
import { send, signIn } from "../../../../support/passbook.ts";
import { operatorOnPages, signInOperator, type Operator } from "../operators.ts";

let operator: Operator;
beforeEach(async () => {
  operator = await signInOperator();
});

const APPS = "/api/admin/apps";

describe("the registry", () => {
  it("saving an app registers it, and each save has one audit record", async () => {
    const settings = {
      name: "Sketch",
      starter_credits: 70,
      origins: ["https://sketch.example.com", "https://*.sketch.example"],
      daily_starter_budget: 700,
    };
    const body = { ...settings, reason: "a new app" };
    const { body: created } = await operator.send("PUT", `${APPS}/sketch`, body);
    const { body: listed } = await operator.get(APPS);
    expect(listed.apps).toEqual([{ ...created.app, granted_today: 0 }]);
    expect(listed).toEqual({
      apps: [
        {
          slug: "sketch",
          ...settings,
          settle: "holder",
          on_expiry: "refund",
          upstream_providers: [],
          max_overage_percent: null,
          icon: null,
          color: null,
          suggested_cap: null,
          starter_excluded_domains: [],
          paused: null,
          starter_expires_after_days: null,
          starter_only_here: false,
          granted_today: 0,
          version: 1,
          created_at: expect.any(String),
        },
      ],
    });
    const lines = await rows("select * from audit");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      actor: operator.person.identity_id,
      act: "app.save",
      subject: "sketch",
      reason: "a new app",
    });
  });

  it("an optional setting that a save omits keeps its value", async () => {
    const full = {
      ...APP,
      settle: "app",
      on_expiry: "charge",
      upstream_providers: ["google"],
      max_overage_percent: 20,
      color: "#12507b",
      suggested_cap: { credits: 500, period: "month" },
      starter_excluded_domains: ["mailinator.com"],
    };
    await operator.send("PUT", `${APPS}/sketch`, full);
    const { starter_credits, origins, daily_starter_budget } = APP;
    const required = { name: "Renamed", starter_credits, origins, daily_starter_budget };
    const renamed = { ...required, version: 1 };
    expect((await operator.send("PUT", `${APPS}/sketch`, renamed)).status).toBe(200);
    const [app] = (await operator.get(APPS)).body.apps;
    expect(app).toMatchObject({ ...full, name: "Renamed" });
  });

  it("the refusal of an app's name contains the invisible character", async () => {
    const name = "Sketch\u202egnihsihp";
    const { body } = await operator.send("PUT", `${APPS}/sketch`, { ...APP, name });
    expect(body.error).toBe("name must not contain the invisible character U+202E.");
    const shown = { ...APP, name: "Ａ نقاش ✏️ Æ", reason: "two\nlines" };
    expect((await operator.send("PUT", `${APPS}/sketch`, shown)).status).toBe(200);
  });

  it("a saved app takes effect at once in this isolate and within a minute in others", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const elsewhere = { ...operator.settings };
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}` };
    const worth = async (settings: object) =>
      (await send("GET", "/api/wallet", { headers }, settings)).body.apps[0].starter_credits;
    await saveApp(operator, "sketch", { starter_credits: 0 });
    await send("GET", "/api/wallet?app=sketch", { headers }, elsewhere);
    expect(await worth(operator.settings)).toBe(0);
    await saveApp(operator, "sketch", { starter_credits: 9 });
    expect(await worth(operator.settings)).toBe(9);
    vi.setSystemTime(Date.now() + 60_000);
    expect(await worth(elsewhere)).toBe(9);
  });

  it.each([
    ["no name", { name: undefined }],
    ["an empty name", { name: " " }],
    ["a name that is turned around", { name: "Sketch\u202egnihsihp" }],
    ["a name with a zero-width space", { name: "Ske\u200btch" }],
    ["a name that looks empty", { name: "\u3164" }],
    ["a reason with an isolate", { reason: "why\u2066" }],
    ["negative credits", { starter_credits: -1 }],
    ["a fraction", { starter_credits: 1.5 }],
    ["credits as text", { starter_credits: "5" }],
    ["no budget said", { daily_starter_budget: undefined }],
    ["a negative budget", { daily_starter_budget: -1 }],
    ["origins as text", { origins: "https://a.example" }],
    ["an origin with a path", { origins: ["https://a.example/path"] }],
    ["plain http elsewhere", { origins: ["http://a.example"] }],
    ["a wildcard over strangers", { origins: ["https://*.github.io"] }],
    ["a wildcard over a suffix", { origins: ["https://*.co.uk"] }],
    ["a wildcard of all", { origins: ["*"] }],
    ["one bad origin among good ones", { origins: ["https://a.example", "javascript://x"] }],
    ["too many origins", { origins: Array<string>(51).fill("https://a.example") }],
    ["another settler", { settle: "nobody" }],
    ["another outcome", { on_expiry: "keep" }],
    ["a setting misspelt", { on_expirey: "charge" }],
    ["a provider that no id can name", { upstream_providers: ["Google!"] }],
    ["providers as text", { upstream_providers: "google" }],
    ["a provider named twice", { upstream_providers: ["google", "google"] }],
    ["an overage that is no number", { max_overage_percent: "20" }],
    ["a fraction of a percent", { max_overage_percent: 0.5 }],
    ["a negative overage", { max_overage_percent: -1 }],
    ["an overage beyond any bound", { max_overage_percent: 1_001 }],
    ["a colour by its name", { color: "red" }],
    ["a short colour", { color: "#123" }],
    ["a colour with a second declaration", { color: "#123456;x:y" }],
    ["a suggested cap without a period", { suggested_cap: { credits: 5 } }],
    ["a suggested cap of an unknown period", { suggested_cap: { credits: 5, period: "hour" } }],
    ["a suggested cap below zero", { suggested_cap: { credits: -1, period: "total" } }],
    [
      "a suggested cap with another field",
      { suggested_cap: { credits: 1, period: "total", x: 1 } },
    ],
    ["an excluded domain with an at sign", { starter_excluded_domains: ["@mailinator.com"] }],
    ["an excluded top-level domain", { starter_excluded_domains: ["com"] }],
    ["an excluded domain with a wildcard", { starter_excluded_domains: ["*.mailinator.com"] }],
    ["excluded domains as text", { starter_excluded_domains: "mailinator.com" }],
    [
      "too many excluded domains",
      { starter_excluded_domains: Array.from({ length: 501 }, (_, i) => `d${i}.example`) },
    ],
    ["a version that is no number", { version: "1" }],
    ["a fractional version", { version: 1.5 }],
    ["too many providers", { upstream_providers: Array.from({ length: 51 }, (_, i) => `p${i}`) }],
  ])("saving an app refuses %s and changes nothing", async (_, wrong) => {
    await saveApp(operator, "sketch");
    const before = JSON.stringify([
      await rows("select * from apps"),
      await rows("select * from audit"),
    ]);
    const response = await operator.send("PUT", `${APPS}/sketch`, { ...APP, ...wrong });
    expect(response).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    const after = JSON.stringify([
      await rows("select * from apps"),
      await rows("select * from audit"),
    ]);
    expect(after).toBe(before);
  });

  it("saving an app refuses a wildcard origin while the list of shared hosting suffixes cannot be read", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const settings = { ...operator.settings, ASSETS: undefined };
    const origins = ["https://a.example", "https://*.mine.example"];
    const without_list = operatorOnPages(operator.person, settings);
    const put = (body: object) => without_list.send("PUT", `${APPS}/sketch`, body);
    const response = await put({ ...APP, origins });
    expect(response).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(response.body.error).toContain("origins.1 must be an origin");
    expect(await rows("select * from apps")).toEqual([]);
    expect((await put({ ...APP, origins: ["https://a.example"] })).status).toBe(200);
  });

  it.each(["Sketch", "-a", "a%20b", "a".repeat(65)])(
    "saving an app refuses the slug %s",
    async (slug) => {
      const response = await operator.send("PUT", `${APPS}/${slug}`, APP);
      expect(response).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      expect(await rows("select * from apps")).toEqual([]);
    },
  );

  it("apps are listed by slug, page by page", async () => {
    for (const slug of ["c", "a", "b"]) await saveApp(operator, slug);
    const first = await operator.get(`${APPS}?limit=2`);
    expect(first.body.apps.map((it: { slug: string }) => it.slug)).toEqual(["a", "b"]);
    const second = await operator.get(`${APPS}?limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body.apps.map((it: { slug: string }) => it.slug)).toEqual(["c"]);
    expect(second.body.next_cursor).toBeUndefined();
  });
});

describe("saving an app that was changed in the meantime", () => {
  const save = (settings: object, headers = {}) =>
    operator.send("PUT", `${APPS}/sketch`, { ...APP, ...settings }, headers);
  const saved = async () => (await operator.get(APPS)).body.apps[0];

  it("saving an app with an old version gets 409 app_changed and changes nothing", async () => {
    await save({});
    expect((await save({ starter_credits: 77, version: 1 })).status).toBe(200);
    const stale = await save({ starter_credits: 200, version: 1 });
    expect(stale).toMatchObject({ status: 409, body: { code: "app_changed" } });
    expect(await saved()).toMatchObject({ starter_credits: 77, version: 2 });
    const [, , line] = (await operator.get("/api/admin/audit")).body.entries.toReversed();
    expect(line.details).toMatchObject({ outcome: "refused", version: 1 });
  });

  it("saving an app with an Idempotency-Key happens once, even if the first attempt was interrupted", async () => {
    await save({});
    const headers = { "Idempotency-Key": "once" };
    const change = { starter_credits: 5, version: 1 };
    expect((await save(change, headers)).status).toBe(200);
    expect((await save(change, headers)).headers.get("Idempotency-Replayed")).toBe("true");
    await env.DIRECTORY.exec("delete from audit_outcomes");
    expect((await save(change, headers)).status).toBe(200);
    expect(await saved()).toMatchObject({ starter_credits: 5, version: 2 });
  });
});

describe("changing some settings of an app", () => {
  const change = (body: object, headers = {}) =>
    operator.send("PATCH", `${APPS}/sketch`, body, headers);
  const saved = async () => (await operator.get(APPS)).body.apps[0];

  it("a change keeps the settings that it does not name, and the audit log has only what differs", async () => {
    const full = { ...APP, color: "#12507b", upstream_providers: ["google"] };
    await saveApp(operator, "sketch", full);
    const before = await saved();
    const body = { starter_credits: 5, settle: "app", version: 1, reason: "too many" };
    const changed = await change(body);
    expect(changed.body.app).toMatchObject({ starter_credits: 5, version: 2, color: "#12507b" });
    expect(await saved()).toEqual({ ...before, starter_credits: 5, version: 2 });
    const [entry] = (await operator.get("/api/admin/audit")).body.entries;
    expect(entry).toMatchObject({
      act: "app.save",
      reason: "too many",
      changed: { starter_credits: { from: 100, to: 5 } },
    });
    expect(Object.keys(entry.changed)).toEqual(["starter_credits"]);
    await change({ color: null, version: 2 });
    expect(await saved()).toEqual({ ...before, starter_credits: 5, color: null, version: 3 });
  });

  it.each([
    ["no version", { starter_credits: 5 }, "version is missing"],
    ["the version of a new app", { starter_credits: 5, version: 0 }, "version must be"],
    ["no setting", { version: 1, reason: "nothing" }, "must name a setting to change"],
    ["an unknown setting", { credits: 5, version: 1 }, "credits"],
    ["a wrong value", { starter_credits: -1, version: 1 }, "starter_credits must"],
    ["another app's name", { slug: "other", name: "Other", version: 1 }, "slug"],
    ["a shared suffix", { origins: ["https://*.github.io"], version: 1 }, "origins.0 must be"],
  ])("a change with %s is refused and changes nothing", async (_, body, error) => {
    await saveApp(operator, "sketch");
    const before = [await saved(), await rows("select * from audit")];
    const response = await change(body);
    expect(response).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(response.body.error).toContain(error);
    expect([await saved(), await rows("select * from audit")]).toEqual(before);
  });

  it("a change of an app that was saved in the meantime gets 409 app_changed, and one of an unknown app 404", async () => {
    expect(await change({ name: "New", version: 1 })).toMatchObject({
      status: 404,
      body: { code: "app_not_found" },
    });
    await saveApp(operator, "sketch");
    await change({ name: "First", version: 1 });
    const stale = await change({ starter_credits: 5, version: 1 });
    expect(stale).toMatchObject({ status: 409, body: { code: "app_changed" } });
    expect(await saved()).toMatchObject({ name: "First", starter_credits: 100, version: 2 });
  });

  it("a change with an Idempotency-Key happens once", async () => {
    await saveApp(operator, "sketch");
    const headers = { "Idempotency-Key": "once" };
    const body = { starter_credits: 5, version: 1 };
    expect((await change(body, headers)).status).toBe(200);
    expect((await change(body, headers)).headers.get("Idempotency-Replayed")).toBe("true");
    expect(await saved()).toMatchObject({ starter_credits: 5, version: 2 });
    const other = await change({ ...body, starter_credits: 6 }, headers);
    expect(other).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
  });
});

describe("app keys", () => {
  const KEYS = `${APPS}/sketch/keys`;

  it("an app key is returned once, listed without its secret, and revoked once", async () => {
    await saveApp(operator, "sketch");
    const made = await operator.send("POST", KEYS, { label: "server" });
    expect(made.body).toEqual({
      id: expect.any(String),
      label: "server",
      last_four: made.body.key.slice(-4),
      key: expect.stringMatching(/^pb_app_test_[A-Za-z0-9_-]{43}$/),
      created_at: expect.any(String),
    });
    const { id, label, created_at, key } = made.body;
    const last_four = key.slice(-4);
    expect((await operator.get(KEYS)).body).toEqual({
      keys: [{ id, label, last_four, created_at, last_used_at: null }],
    });
    expect((await operator.send("DELETE", `${KEYS}/${id}?reason=leaked`)).body).toEqual({
      ok: true,
    });
    const again = await operator.send("DELETE", `${KEYS}/${id}`);
    expect(again).toMatchObject({ status: 404, body: { code: "app_key_not_found" } });
    expect((await operator.get(KEYS)).body).toEqual({ keys: [] });
    const acts = (await rows("select act, reason from audit order by id")).map(({ act }) => act);
    expect(acts).toEqual(["app.save", "app_key.add", "app_key.revoke", "app_key.revoke"]);
  });

  it("the audit log names a key that was added or revoked by its id, label and last characters", async () => {
    await saveApp(operator, "sketch");
    const { id, key } = (await operator.send("POST", KEYS, { label: "server" })).body;
    await operator.send("DELETE", `${KEYS}/${id}`);
    const last_four = key.slice(-4);
    const { entries } = (await operator.get("/api/admin/audit?subject=sketch")).body;
    expect(entries.slice(0, 2)).toMatchObject([
      {
        details: { key_id: id },
        changed: { label: { from: "server", to: null }, last_four: { from: last_four, to: null } },
      },
      {
        details: { label: "server" },
        changed: { key_id: { from: null, to: id }, last_four: { from: null, to: last_four } },
      },
    ]);
  });

  it("no two valid keys of an app have one label, also with simultaneous requests", async () => {
    await saveApp(operator, "sketch");
    await saveApp(operator, "other");
    const add = (slug = "sketch") =>
      operator.send("POST", `${APPS}/${slug}/keys`, { label: " web backend " });
    const responses = await Promise.all([add(), add()]);
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    const refused = await add();
    expect(refused).toMatchObject({ status: 409, body: { code: "app_key_label_taken" } });
    expect((await add("other")).status).toBe(200);
    const [{ id }] = (await operator.get(KEYS)).body.keys;
    await operator.send("DELETE", `${KEYS}/${id}`);
    expect((await add()).status).toBe(200);
  });

  it("an app key is created once per Idempotency-Key, and the repeated response omits the secret", async () => {
    await saveApp(operator, "sketch");
    const headers = { "Idempotency-Key": "once" };
    const first = await operator.send("POST", KEYS, { label: "server" }, headers);
    const again = await operator.send("POST", KEYS, { label: "server" }, headers);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(again.body).toEqual({ ...first.body, key: null });
    expect((await operator.get(KEYS)).body.keys).toHaveLength(1);
    const other = await operator.send("POST", KEYS, { label: "another" }, headers);
    expect(other).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
  });

  it("app keys made with an Idempotency-Key are listed newest first", async () => {
    await saveApp(operator, "sketch");
    const labels = ["one", "two", "three", "four", "five"];
    for (const label of labels) {
      await operator.send("POST", KEYS, { label }, { "Idempotency-Key": label });
    }
    const { keys } = (await operator.get(KEYS)).body;
    expect(keys.map(({ label }: { label: string }) => label)).toEqual(labels.toReversed());
  });

  it("repeating the request that created a revoked app key creates no other key", async () => {
    await saveApp(operator, "sketch");
    const headers = { "Idempotency-Key": "once" };
    const first = await operator.send("POST", KEYS, { label: "server" }, headers);
    await operator.send("DELETE", `${KEYS}/${first.body.id}`);
    const again = await operator.send("POST", KEYS, { label: "server" }, headers);
    expect(again).toMatchObject({ status: 409, body: { code: "app_key_revoked" } });
    expect(again.text).not.toContain("pb_app_");
    expect((await operator.get(KEYS)).body).toEqual({ keys: [] });
    const bearer = { Authorization: `Bearer ${first.body.key}`, "Passbook-Identity": "x" };
    expect((await send("GET", "/api/wallet", { headers: bearer }, operator.settings)).status).toBe(
      401,
    );
    // A day later the audit log no longer knows the request; the registry still does.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 25 * 60 * 60 * 1000 });
    const next_day = await signInOperator();
    for (const label of ["server", "another label"]) {
      const late = await next_day.send("POST", KEYS, { label }, headers);
      expect(late.text).not.toContain("pb_app_");
      expect(late.status).not.toBe(200);
    }
    expect((await next_day.get(KEYS)).body).toEqual({ keys: [] });
  });

  it("revoking an app key makes room for a new one", async () => {
    await saveApp(operator, "sketch");
    const made = [];
    for (let count = 0; count < 20; count += 1) {
      made.push((await operator.send("POST", KEYS, { label: `${count}` })).body.id);
    }
    expect((await operator.send("POST", KEYS, { label: "one more" })).status).toBe(400);
    await operator.send("DELETE", `${KEYS}/${made[3]}`);
    expect((await operator.send("POST", KEYS, { label: "one more" })).status).toBe(200);
  });

  it("an app key cannot be revoked through another app", async () => {
    await saveApp(operator, "sketch");
    const other = await openAppServer("other", {}, operator);
    const response = await operator.send("DELETE", `${KEYS}/${other.key_id}`);
    expect(response).toMatchObject({ status: 404, body: { code: "app_key_not_found" } });
    expect(await rows("select * from app_keys")).toHaveLength(1);
  });

  it("a registered app gets at most 20 keys, even with simultaneous requests", async () => {
    const unknown = await operator.send("POST", KEYS, { label: "server" });
    expect(unknown).toMatchObject({ status: 404, body: { code: "app_not_found" } });
    expect((await operator.get(KEYS)).status).toBe(404);
    await saveApp(operator, "sketch");
    const responses = await Promise.all(
      Array.from({ length: 25 }, (_, index) => operator.send("POST", KEYS, { label: `${index}` })),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(responses.find(({ status }) => status !== 200)?.body.code).toBe("limit_reached");
    expect(await rows("select * from app_keys")).toHaveLength(20);
  });

  it.each([
    {},
    { label: "" },
    { label: "a\u200fb" },
    { label: "x".repeat(81) },
    { label: 7 },
    { label: "a", key: "b" },
  ])("creating an app key refuses %j", async (body) => {
    await saveApp(operator, "sketch");
    expect((await operator.send("POST", KEYS, body)).status).toBe(400);
    expect(await rows("select * from app_keys")).toEqual([]);
  });
});
