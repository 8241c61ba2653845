import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createWebhookList } from "../../../src/directory/webhook_list.ts";
import { WebhookRecords } from "../../../src/directory/webhook_records.ts";
import { createWebhookSecrets } from "../../../src/directory/webhook_secrets.ts";
import { Webhooks } from "../../../src/directory/webhooks.ts";
import type { EncryptionKey } from "../../../src/keys/encryption.ts";
import { openDirectory, registerApp } from "../support/directory_outage.ts";

const NEW: EncryptionKey = { kid: "new", k: "A".repeat(43) };
const OLD: EncryptionKey = { kid: "old", k: `B${"A".repeat(42)}` };
const SETTINGS = { url: "https://example.com/hook", events: ["job.completed"] } as const;
const MAIN = { app_slug: "demo", id: "main" };
const MINUTE_MS = 60_000;

/** The registry of one isolate. */
function openWebhooks(keys: readonly EncryptionKey[] = [OLD], database = env.DIRECTORY) {
  const secrets = createWebhookSecrets(keys);
  const webhooks = new Webhooks(database, secrets);
  return { webhooks, records: new WebhookRecords(database, secrets, () => webhooks.forget()) };
}

type Records = ReturnType<typeof openWebhooks>["records"];

/** Saves as a caller who has just read the webhook. Null: somebody else was first. */
async function save(
  records: Records,
  settings: Parameters<Records["save"]>[1],
  key = MAIN,
): Promise<Awaited<ReturnType<Records["save"]>>> {
  const found = await records.find(key.app_slug, key.id);
  const before = found.ok ? found.value : null;
  return records.save(key, settings, { before, audit_id: crypto.randomUUID() });
}

async function createMain(isolate = openWebhooks()) {
  const saved = await save(isolate.records, SETTINGS);
  const { record, secret } = (saved.ok && saved.value) || expect.fail("not created");
  return { ...isolate, uid: record.uid, secret: secret ?? expect.fail("no secret") };
}

const storedRows = async () =>
  (await env.DIRECTORY.prepare("select * from webhooks").all()).results;

beforeEach(() => registerApp("demo", {}));

describe("saving a webhook", () => {
  it("a new webhook has a secret of 32 bytes, which is stored only sealed", async () => {
    const { secret, webhooks, uid } = await createMain();
    expect(atob(secret.replace("whsec_", ""))).toHaveLength(32);
    expect(JSON.stringify(await storedRows())).not.toContain(secret.slice(6));
    expect(await webhooks.secretsOf(uid)).toEqual([secret]);
  });

  it("a creation under an id that is used changes nothing", async () => {
    const { records, secret, webhooks, uid } = await createMain();
    const again = await records.save(MAIN, SETTINGS, { before: null, audit_id: "again" });
    expect(again).toEqual({ ok: true, value: null });
    expect(await webhooks.secretsOf(uid)).toEqual([secret]);
  });

  it("a change keeps the secret, the thresholds and the pause that it does not name", async () => {
    const { records } = await createMain();
    await save(records, { ...SETTINGS, thresholds: [5, 9], active: false });
    const url = "https://example.com/other";
    const saved = await save(records, { ...SETTINGS, url });
    const record = { url, thresholds: [5, 9], version: 3, paused_at_ms: expect.any(Number) };
    expect(saved).toMatchObject({ value: { secret: null, record } });
  });

  it("an app has at most ten webhooks, and an unregistered app none", async () => {
    const { records } = openWebhooks();
    const ids = Array.from({ length: 12 }, (_, index) => `hook-${index}`);
    const saves = await Promise.all(
      ids.map((id) => save(records, SETTINGS, { app_slug: "demo", id })),
    );
    const refusals = saves.filter(({ ok }) => !ok);
    expect(refusals).toHaveLength(2);
    expect(refusals[0]).toMatchObject({
      refusal: { code: "limit_reached", of: "webhooks", limit: 10 },
    });
    const unknown = { refusal: { code: "app_not_found" } };
    expect(await save(records, SETTINGS, { app_slug: "nobody", id: "a" })).toMatchObject(unknown);
    expect(await records.list("nobody")).toMatchObject(unknown);
  });

  it("a webhook that is deleted while it is changed is not created again", async () => {
    const { records } = await createMain();
    const found = await records.find("demo", "main");
    await records.remove("demo", "main");
    const before = found.ok ? found.value : null;
    const saved = await records.save(MAIN, SETTINGS, { before, audit_id: "late" });
    expect(saved).toEqual({ ok: true, value: null });
    expect(await storedRows()).toEqual([]);
  });

  it.each(["created", "changed"])(
    "of two callers who save one webhook at once, one has %s it and the other changes nothing",
    async (kind) => {
      const { records } = openWebhooks();
      if (kind === "changed") await save(records, SETTINGS);
      const found = await records.find("demo", "main");
      const before = found.ok ? found.value : null;
      const urls = ["https://one.example/", "https://two.example/"];
      const saves = await Promise.all(
        urls.map((url) => records.save(MAIN, { ...SETTINGS, url }, { before, audit_id: url })),
      );
      expect(saves.filter((saved) => saved.ok && saved.value === null)).toHaveLength(1);
      const [url] = urls.filter((_, index) => saves[index]?.ok && saves[index].value !== null);
      expect(await records.find("demo", "main")).toMatchObject({ value: { url } });
    },
  );

  it("an app with ten webhooks can change each of them", async () => {
    const { records } = openWebhooks();
    const ids = Array.from({ length: 10 }, (_, index) => `hook-${index}`);
    for (const id of [...ids, ...ids]) {
      const saved = await save(records, SETTINGS, { app_slug: "demo", id });
      expect(saved).toMatchObject({ value: { record: { id } } });
    }
  });

  it("a webhook that is created again under its id has another uid and another secret", async () => {
    const first = await createMain();
    expect(await first.records.remove("demo", "main")).toMatchObject({ ok: true });
    const second = await createMain(first);
    expect(second.uid).not.toBe(first.uid);
    expect(await second.webhooks.secretsOf(first.uid)).toEqual([]);
    expect(await first.records.remove("demo", "other")).toMatchObject({
      refusal: { code: "webhook_not_found" },
    });
  });
});

describe("the secrets of a webhook", () => {
  it("for a day after a rotation both secrets sign, the new one first", async () => {
    const { records, webhooks, uid, secret } = await createMain();
    const rotated = await records.rotate("demo", "main", "audit 2");
    if (!rotated.ok || rotated.value === null) throw new Error("not rotated");
    expect(await webhooks.secretsOf(uid)).toEqual([rotated.value, secret]);
    vi.setSystemTime(Date.now() + 24 * 60 * MINUTE_MS);
    expect(await webhooks.secretsOf(uid)).toEqual([rotated.value]);
  });

  it("a repeated rotation changes nothing and returns no secret", async () => {
    const { records, webhooks, uid } = await createMain();
    await records.rotate("demo", "main", "audit 2");
    const known = await webhooks.secretsOf(uid);
    expect(await records.rotate("demo", "main", "audit 2")).toMatchObject({ value: null });
    expect(await webhooks.secretsOf(uid)).toEqual(known);
  });

  it("of two rotations at once both return a secret that signs", async () => {
    const { records, webhooks, uid } = await createMain();
    const [one, two] = await Promise.all([
      records.rotate("demo", "main", "audit 2"),
      records.rotate("demo", "main", "audit 3"),
    ]);
    const returned = [one, two].map((rotated) => (rotated.ok ? rotated.value : null));
    expect(new Set(await webhooks.secretsOf(uid))).toEqual(new Set(returned));
  });

  it("a sealed secret does not open for another webhook", async () => {
    const { webhooks, uid } = await createMain();
    await env.DIRECTORY.exec("update webhooks set uid = 'moved'");
    expect(await webhooks.secretsOf(uid)).toEqual([]);
    expect(await webhooks.secretsOf("moved")).toEqual([]);
  });

  it("a secret is sealed again with the first key when it is used, so the old key can be retired", async () => {
    const { uid, secret } = await createMain();
    expect(await openWebhooks([NEW, OLD]).webhooks.secretsOf(uid)).toEqual([secret]);
    expect((await storedRows())[0]?.["secret_key_id"]).toBe("new");
    expect(await openWebhooks([NEW]).webhooks.secretsOf(uid)).toEqual([secret]);
    expect(await openWebhooks([OLD]).webhooks.secretsOf(uid)).toEqual([]);
  });
});

describe("the webhooks for the engine", () => {
  it("all webhooks are read at most once a minute, and again after a change in the isolate", async () => {
    const directory = openDirectory();
    const isolate = openWebhooks([OLD], directory.environment().DIRECTORY);
    const { webhooks, records } = await createMain(isolate);
    expect(await webhooks.readAll()).toMatchObject([{ app_slug: "demo", id: "main" }]);
    const asked = directory.asked;
    await webhooks.readAll();
    expect(directory.asked).toBe(asked);
    await save(records, SETTINGS, { app_slug: "demo", id: "second" });
    expect(await webhooks.readAll()).toHaveLength(2);
    await env.DIRECTORY.exec("delete from webhooks");
    expect(await webhooks.readAll()).toHaveLength(2);
    vi.setSystemTime(Date.now() + MINUTE_MS);
    expect(await webhooks.readAll()).toHaveLength(0);
  });

  it("a copy that says paused, or does not have the webhook, is not believed", async () => {
    const list = createWebhookList(env.DIRECTORY);
    await list.read();
    const { records, webhooks, uid } = await createMain();
    expect(await list.findRow(uid)).toMatchObject({ uid, paused_at_ms: null });
    await webhooks.pause(uid, "no delivery succeeded for 3 days");
    list.forget();
    await list.read();
    await save(records, { ...SETTINGS, active: true });
    expect(list.known()).toMatchObject([{ paused_reason: "no delivery succeeded for 3 days" }]);
    expect(await list.findRow(uid)).toMatchObject({ paused_at_ms: null });
    await records.remove("demo", "main");
    list.forget();
    expect(await list.findRow(uid)).toBeNull();
  });

  it("while D1 is unavailable the webhooks that were read before apply", async () => {
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    const directory = openDirectory();
    const isolate = openWebhooks([OLD], directory.environment().DIRECTORY);
    const { webhooks } = await createMain(isolate);
    directory.state = "fails";
    await expect(webhooks.readAll()).rejects.toThrow("the list of webhooks cannot be read");
    directory.state = "answers";
    vi.setSystemTime(Date.now() + MINUTE_MS);
    expect(await webhooks.readAll()).toHaveLength(1);
    directory.state = "fails";
    vi.setSystemTime(Date.now() + MINUTE_MS);
    expect(await webhooks.readAll()).toHaveLength(1);
    expect(warned).toHaveBeenCalledWith(
      expect.objectContaining({ event: "webhooks_read_failed", reason: "Error" }),
    );
  });

  it("a pause keeps its time and reason until the webhook is activated", async () => {
    const { webhooks, records, uid } = await createMain();
    await webhooks.pause(uid, "no delivery succeeded for 3 days");
    const [paused] = await webhooks.readAll();
    expect(paused).toMatchObject({ paused_reason: "no delivery succeeded for 3 days" });
    vi.setSystemTime(Date.now() + MINUTE_MS);
    await webhooks.pause(uid, "again");
    await save(records, { ...SETTINGS, active: false });
    const unchanged = { paused_at_ms: paused?.paused_at_ms, paused_reason: paused?.paused_reason };
    expect((await webhooks.readAll())[0]).toMatchObject(unchanged);
    await save(records, { ...SETTINGS, active: true });
    expect((await webhooks.readAll())[0]).toMatchObject({
      paused_at_ms: null,
      paused_reason: null,
    });
  });

  it("secrets are read with the list, so that a delivery makes no query", async () => {
    const directory = openDirectory();
    const isolate = openWebhooks([OLD], directory.environment().DIRECTORY);
    const { webhooks, uid, secret } = await createMain(isolate);
    await webhooks.readAll();
    const asked = directory.asked;
    expect(await webhooks.find(uid)).toMatchObject({ id: "main" });
    expect(await webhooks.secretsOf(uid)).toEqual([secret]);
    expect(directory.asked).toBe(asked);
  });
});
