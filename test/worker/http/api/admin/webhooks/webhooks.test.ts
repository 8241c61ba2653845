import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { openAppServer, rows } from "../../../caller/app_server.ts";
import { AuditLog } from "../../../../../../src/directory/audit.ts";
import { earlyInAMinute } from "../../../../support/clock.ts";
import { signIn } from "../../../../support/passbook.ts";
import { HOOK, openOwners, serverOf, WEBHOOKS, type Owner } from "./owner.ts";

const MAIN = `${WEBHOOKS}/main`;
const KEY = { "Idempotency-Key": "one" };

async function owners(): Promise<readonly [string, Owner, string][]> {
  const { operator, server, app } = await openOwners();
  const as_operator: Owner = {
    send: (method, path, body, headers) => operator.send(method, path, body ?? undefined, headers),
  };
  return [
    ["operator", as_operator, operator.person.identity_id],
    ["server", server, `app_key:${app.key_id}`],
  ];
}

describe("the webhooks of an app", () => {
  it("an operator and the app's own server create, change, rotate, list and delete webhooks", async () => {
    for (const [name, owner] of await owners()) {
      const path = `${WEBHOOKS}/${name}`;
      const created = await owner.send("PUT", path, HOOK);
      expect(created).toMatchObject({
        status: 200,
        body: {
          webhook: { id: name, ...HOOK, thresholds: [20, 100], active: true, paused_at: null },
          secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        },
      });
      const changed = await owner.send("PUT", path, { ...HOOK, active: false, version: 1 });
      expect(changed.body).toMatchObject({ webhook: { active: false }, secret: null });
      const rotated = await owner.send("POST", `${path}/rotate`);
      expect(rotated.body.secret).toMatch(/^whsec_/);
      expect(rotated.body.secret).not.toBe(created.body.secret);
      const { webhooks } = (await owner.send("GET", WEBHOOKS)).body;
      expect(webhooks).toEqual([changed.body.webhook]);
      expect((await owner.send("DELETE", path)).body).toEqual({ ok: true });
      expect((await owner.send("GET", WEBHOOKS)).body.webhooks).toEqual([]);
      expect((await owner.send("DELETE", path)).body.code).toBe("webhook_not_found");
      expect((await owner.send("POST", `${path}/rotate`)).body.code).toBe("webhook_not_found");
    }
  });

  it("each change is recorded with its actor, and no record or log has a secret", async () => {
    const logged = vi.spyOn(console, "log");
    for (const [name, owner, actor] of await owners()) {
      const path = `${WEBHOOKS}/${name}`;
      const { secret } = (await owner.send("PUT", path, { ...HOOK, reason: "first" })).body;
      await owner.send("PUT", path, { ...HOOK, url: "https://other.example.com/", version: 1 });
      const rotated = (await owner.send("POST", `${path}/rotate`)).body.secret;
      await owner.send("DELETE", `${path}?reason=done`);
      const records = await rows(
        "select act, actor, subject, reason, changed_json from audit join audit_outcomes on audit_id = id where act like 'app_webhook.%' and details_json like '%\"" +
          `${name}"%' order by id`,
      );
      const of_app = { actor, subject: "sketch" };
      expect(records).toEqual([
        { ...of_app, act: "app_webhook.save", reason: "first", changed_json: null },
        {
          ...of_app,
          act: "app_webhook.save",
          reason: null,
          changed_json: JSON.stringify({
            url: { from: HOOK.url, to: "https://other.example.com/" },
          }),
        },
        { ...of_app, act: "app_webhook.rotate", reason: null, changed_json: null },
        { ...of_app, act: "app_webhook.delete", reason: "done", changed_json: null },
      ]);
      const everything = JSON.stringify([
        await rows("select * from audit"),
        await rows("select * from audit_outcomes"),
        logged.mock.calls,
      ]);
      for (const text of [secret, rotated]) expect(everything).not.toContain(text.slice(6));
    }
  });

  it("a repeated request changes nothing again and never shows a secret again", async () => {
    const { server } = await openOwners();
    const created = await server.send("PUT", MAIN, HOOK, KEY);
    await server.send("PUT", MAIN, { ...HOOK, active: false, version: 1 });
    const again = await server.send("PUT", MAIN, HOOK, KEY);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(again.body).toMatchObject({ webhook: { active: false }, secret: null });
    const rotated = await server.send("POST", `${MAIN}/rotate`, {}, KEY);
    const repeated = await server.send("POST", `${MAIN}/rotate`, {}, KEY);
    expect(rotated.body.secret).not.toBe(created.body.secret);
    expect(repeated.headers.get("Idempotency-Replayed")).toBe("true");
    expect(repeated.body).toEqual({ secret: null });
    const other = await server.send("PUT", MAIN, { ...HOOK, url: "https://b.example.com" }, KEY);
    expect(other).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
  });

  it.each([
    ["a malformed id", `${WEBHOOKS}/Main`, HOOK, "id must be"],
    ["plain http", MAIN, { ...HOOK, url: "http://example.com" }, "url must begin with https://"],
    ["an IP address", MAIN, { ...HOOK, url: "https://10.0.0.1" }, "url must have a host name"],
    ["no event", MAIN, { ...HOOK, events: [] }, "events must name at least one"],
    ["the event ping", MAIN, { ...HOOK, events: ["ping"] }, "events.0 must be one of job.created"],
    ["an event twice", MAIN, { ...HOOK, events: ["job.failed", "job.failed"] }, "events must name"],
    ["no threshold", MAIN, { ...HOOK, thresholds: [] }, "thresholds must have at least one"],
    ["a threshold of 0", MAIN, { ...HOOK, thresholds: [0] }, "thresholds must be whole numbers"],
    ["a fraction", MAIN, { ...HOOK, thresholds: [0.5] }, "thresholds.0 must be a whole number"],
    ["an unknown field", MAIN, { ...HOOK, secret: "mine" }, "unknown field secret"],
    ["a missing url", MAIN, { events: HOOK.events }, "url is missing"],
  ])(
    "a webhook with %s is refused with the reason, and nothing changes",
    async (_, path, body, why) => {
      const { server } = await openOwners();
      const response = await server.send("PUT", path, body);
      expect(response).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      expect(response.body.error).toContain(why);
      expect(await rows("select * from webhooks")).toEqual([]);
      expect(await rows("select * from audit where act like 'app_webhook.%'")).toEqual([]);
    },
  );

  it("a change without thresholds is checked with the thresholds that the webhook has", async () => {
    const { server } = await openOwners();
    await server.send("PUT", MAIN, HOOK);
    const { thresholds: _, ...settings } = HOOK;
    const changed = await server.send("PUT", MAIN, { ...settings, version: 1 });
    expect(changed.body.webhook.thresholds).toEqual([20, 100]);
    const fresh = await server.send("PUT", `${WEBHOOKS}/fresh`, settings);
    expect(fresh.body.error).toContain("at least one number for credits.low");
  });
});

describe("an app's key at the webhooks", () => {
  it("an app's key at the webhooks gives the same refusal for another app and for an app that does not exist, and changes nothing", async () => {
    const { operator, server } = await openOwners();
    const other = serverOf(await openAppServer("other", {}, operator));
    await server.send("PUT", MAIN, HOOK);
    for (const slug of ["sketch", "nobody"]) {
      const path = `/api/admin/apps/${slug}/webhooks`;
      const responses = [
        await other.send("GET", path),
        await other.send("PUT", `${path}/main`, { ...HOOK, active: false }),
        await other.send("POST", `${path}/main/rotate`),
        await other.send("DELETE", `${path}/main`),
        await other.send("GET", `${path}/main/unheard-of`),
      ];
      for (const response of responses) {
        expect(response).toMatchObject({ status: 403, body: { code: "scope" } });
      }
    }
    expect((await server.send("GET", WEBHOOKS)).body.webhooks).toMatchObject([{ active: true }]);
  });

  it("an app's key at the webhooks reaches no other route of operators, not even of its own app", async () => {
    const { server } = await openOwners();
    for (const path of ["", "/keys", "/webhooksx"]) {
      const response = await server.send("GET", `/api/admin/apps/sketch${path}`);
      expect(response).toMatchObject({ status: 403, body: { code: "scope" } });
    }
    const saved = await server.send("PUT", "/api/admin/apps/sketch", { name: "Mine" });
    expect(saved.status).toBe(403);
  });

  it("an app's key at the webhooks is refused when it was revoked", async () => {
    const { app, server, operator } = await openOwners();
    await operator.send("DELETE", `/api/admin/apps/sketch/keys/${app.key_id}`);
    const response = await server.send("PUT", MAIN, HOOK);
    expect(response).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    expect(await rows("select * from webhooks")).toEqual([]);
  });

  it("an app's key at the webhooks has the limits of an app's requests and writes", async () => {
    const { app, operator } = await openOwners();
    for (const name of ["LIMIT_APP", "LIMIT_APP_SETTINGS", "LIMIT_WRITES"]) {
      const counted: string[] = [];
      const limit = async ({ key }: { key: string }) => {
        counted.push(key);
        return { success: false };
      };
      const settings = { ...operator.settings, [name]: { limit } };
      const limited = serverOf({ ...app, operator: { ...operator, settings } });
      const response = await limited.send("PUT", MAIN, HOOK);
      expect(response).toMatchObject({ status: 429, body: { code: "rate_limited" } });
      expect(counted[0]).toContain("sketch");
    }
    expect(await rows("select * from webhooks")).toEqual([]);
  });

  it("a webhook is tested at most 6 times a minute, by operators and its app together, and another one has its own count", async () => {
    await earlyInAMinute();
    const { server, operator } = await openOwners();
    await operator.send("PUT", MAIN, HOOK);
    await operator.send("PUT", `${WEBHOOKS}/other`, { ...HOOK, url: `${HOOK.url}/other` });
    const statuses: number[] = [];
    for (let times = 0; times < 4; times += 1) {
      statuses.push((await server.send("POST", `${MAIN}/test`, {})).status);
      statuses.push((await operator.send("POST", `${MAIN}/test`, {})).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429]);
    const limited = await server.send("POST", `${MAIN}/test`, {});
    expect(limited.body.code).toBe("rate_limited");
    expect(Number(limited.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect((await server.send("POST", `${WEBHOOKS}/other/test`, {})).status).toBe(200);
  });

  it("requests about a webhook that does not exist leave no audit record, and a retry of a deletion still succeeds", async () => {
    const { server, operator } = await openOwners();
    const audited = () => rows("select id from audit where act like 'app_webhook.%'");
    for (const owner of [server, operator]) {
      const body = { identity_id: "user_1", after_line: 0 };
      expect((await owner.send("DELETE", `${WEBHOOKS}/nope`)).status).toBe(404);
      expect((await owner.send("POST", `${WEBHOOKS}/nope/rotate`, {}, KEY)).status).toBe(404);
      expect((await owner.send("POST", `${WEBHOOKS}/nope/test`, {})).status).toBe(404);
      expect((await owner.send("POST", `${WEBHOOKS}/nope/replay`, body)).status).toBe(404);
    }
    expect(await audited()).toEqual([]);
    await server.send("PUT", MAIN, HOOK);
    expect((await server.send("DELETE", MAIN, null, KEY)).status).toBe(200);
    const again = await server.send("DELETE", MAIN, null, KEY);
    expect([again.status, again.headers.get("Idempotency-Replayed")]).toEqual([200, "true"]);
    expect(await audited()).toHaveLength(2);
  });

  it("an app's keys change its settings at most 60 times a minute, and reading does not count", async () => {
    const { server } = await openOwners();
    await server.send("PUT", MAIN, HOOK);
    const statuses: number[] = [];
    for (let index = 0; index < 60; index += 1) {
      statuses.push((await server.send("DELETE", `${WEBHOOKS}/nope`)).status);
    }
    expect(statuses).toEqual([...Array(59).fill(404), 429]);
    expect((await server.send("GET", WEBHOOKS)).status).toBe(200);
  });

  it("the acts of an app's keys are kept for 90 days, and those of operators for ever", async () => {
    const { server, operator } = await openOwners();
    await server.send("PUT", MAIN, HOOK);
    await operator.send("PUT", `${WEBHOOKS}/other`, HOOK);
    const acts = () => rows("select actor from audit where act = 'app_webhook.save' order by id");
    const outcomes = () => rows("select audit_id from audit_outcomes");
    const before = (await outcomes()).length;
    await rows("update audit set id = '00' || substr(id, 3)"); // a time long ago
    await rows("update audit_outcomes set audit_id = '00' || substr(audit_id, 3)");
    const audit = new AuditLog(env.DIRECTORY);
    expect(await audit.deleteOldOfApps(Date.now())).toEqual({ deleted: 1 });
    expect(await acts()).toEqual([{ actor: operator.person.identity_id }]);
    expect(await outcomes()).toHaveLength(before - 1);
    const search = "select id from audit where actor like 'app_key:%' and id < '01' order by id";
    const [plan] = await rows(`explain query plan ${search}`);
    expect(plan).toMatchObject({ detail: expect.stringContaining("audit_of_apps") });
  });

  it("a person's token does not count as the app's key", async () => {
    await openOwners();
    const ada = await signIn();
    expect((await ada.get(WEBHOOKS)).body.code).toBe("not_operator");
  });
});
