import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { rows, saveApp } from "../../http/caller/app_server.ts";
import { send, signInWithCredits } from "../../support/passbook.ts";
import { openConsole, words } from "./pages.ts";

const LIST = "/console/apps/sketch/webhooks";
const MAIN = `${LIST}/main`;
const SETTINGS = { url: "https://sketch.example.com/hook", active: "yes", thresholds: "" };
const COMPLETED = { ...SETTINGS, "event-job.completed": "yes" };

async function openWebhooks() {
  const browser = await openConsole();
  await saveApp(browser.olga, "sketch");
  return browser;
}

async function withWebhook() {
  const browser = await openWebhooks();
  const created = await browser.fill(LIST, { ...COMPLETED, id: "main" });
  return { ...browser, created };
}

describe("the webhooks in the console", () => {
  it("a webhook is added, and its secret is shown once, also if the form is sent twice", async () => {
    const { open, submit, created } = await withWebhook();
    expect(created.status).toBe(200);
    expect(words(created.text)).toContain("It is shown only once");
    const [secret = ""] = /whsec_[\w+/=]{44}/.exec(created.text) ?? [];
    expect(secret).not.toBe("");
    const again = await submit(LIST, created.sent);
    expect(words(again.text)).toContain("This form was already sent");
    for (const path of [LIST, MAIN, "/console/audit"]) {
      expect((await open(path)).text).not.toContain(secret);
    }
    expect(words((await open(LIST)).text)).toContain("main https://sketch.example.com/hook active");
  });

  it("a form with problems keeps its values and names each problem at its field", async () => {
    const { fill } = await openWebhooks();
    const wrong = { ...SETTINGS, id: "Main", url: "https://10.0.0.1/", thresholds: "20 many" };
    const response = await fill(LIST, wrong);
    expect(response.status).toBe(400);
    const text = words(response.text);
    expect(text).toContain("The id must have 1 to 64");
    expect(text).toContain("“many” must be a whole number");
    const address = await fill(LIST, { ...wrong, id: "main", thresholds: "" });
    expect(words(address.text)).toContain("The address must have a host name instead of an IP");
    expect(address.text).toContain('value="https://10.0.0.1/"');
    const events = await fill(LIST, { ...SETTINGS, id: "main" });
    expect(words(events.text)).toContain("The events must name at least one");
    expect(await rows("select * from webhooks")).toEqual([]);
  });

  it("a new webhook does not replace another one that has its id, also with the same address", async () => {
    const { fill } = await withWebhook();
    const before = await rows("select * from webhooks");
    const granted = { id: "main", url: SETTINGS.url, "event-credits.granted": "yes", active: "" };
    for (const other of [
      { ...COMPLETED, id: "main", url: "https://other.example.com/" },
      granted,
    ]) {
      const taken = await fill(LIST, other);
      expect([taken.status, words(taken.text).includes("This id is taken")]).toEqual([409, true]);
    }
    expect(await rows("select * from webhooks")).toEqual(before);
  });

  it("an outdated form of a webhook shows what a colleague changed, and changes nothing", async () => {
    const { submit, created } = await withWebhook();
    const form = { ...created.sent, version: "1", active: "yes" };
    await submit(MAIN, { ...form, key: "one", "event-job.failed": "yes", active: "no" });
    const refused = await submit(MAIN, { ...form, key: "two", url: "https://b.example.com/" });
    expect(refused.status).toBe(409);
    const text = words(refused.text);
    expect(text).toContain("Someone else changed this after you opened this form.");
    expect(text).toContain("The saved value is: job.completed job.failed.");
    expect(text).toContain("The saved value is: paused.");
    expect(refused.text).toContain('name="version" value="2"');
    expect(await rows("select url, version from webhooks")).toEqual([
      { url: SETTINGS.url, version: 2 },
    ]);
  });

  it("a form without the version of its webhook changes nothing, and does not become the form of a new one", async () => {
    const { submit } = await withWebhook();
    for (const form of [{}, { ...COMPLETED, active: "no" }]) {
      const refused = await submit(MAIN, { key: "one", ...form });
      expect([refused.status, refused.text.includes('for="id"')]).toEqual([400, false]);
      expect(words(refused.text)).toContain("Pause. Events are kept until you resume");
    }
    expect(await rows("select version from webhooks")).toEqual([{ version: 1 }]);
  });

  it("a webhook is changed, paused with its reason, and continued", async () => {
    const { open, submit, fill, created } = await withWebhook();
    const fields = { ...created.sent, "event-job.failed": "yes" };
    const changed = { ...fields, key: "other", active: "no", version: "1" };
    const saved = await submit(MAIN, changed);
    expect(saved.headers.get("Location")).toBe(`${MAIN}?notice=webhook-saved`);
    expect(words((await open(MAIN)).text)).toMatch(/paused since .* by an operator or the app/);
    await rows("update webhooks set paused_reason = 'status_500'");
    expect(words((await open(LIST)).text)).toMatch(/paused since .* status 500/);
    await submit(MAIN, { ...changed, key: "third", active: "yes", version: "2" });
    expect(words((await open(LIST)).text)).toContain("hook active");
    await rows(`update webhooks set failing_since_ms = ${Date.now()}`);
    expect(words((await open(LIST)).text)).toMatch(/hook failing since .* Events wait/);
    const missing = await fill(`${LIST}/none`, {});
    expect(missing.status).toBe(404);
  });

  it("a test shows the status and the time, and the secret can be replaced", async () => {
    const { open, submit } = await withWebhook();
    const fetched = vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response(null));
    const tested = await submit(`${MAIN}/test`, { key: "one" });
    expect(words(tested.text)).toMatch(/accepted the test with status 200 after \d+ ms/);
    fetched.mockResolvedValue(new Response("no <table>", { status: 500 }));
    const failed = await submit(`${MAIN}/test`, { key: "two" });
    expect(words(failed.text)).toContain("did not accept the test: status 500");
    expect(failed.text).toContain(">no &lt;table&gt;</pre>");
    expect((await open(MAIN)).text).not.toContain(`action="${MAIN}/rotate"`);
    const question = await open(`${MAIN}/rotate`);
    expect(words(question.text)).toContain("Replace the secret of “main”?");
    expect(question.text).not.toMatch(/whsec_/);
    const rotated = await submit(`${MAIN}/rotate`, { key: "three" });
    expect(rotated.text).toMatch(/<textarea[^>]*>whsec_/);
    expect(rotated.text).toContain('data-copy="shown-secret"');
    expect(rotated.text).toContain("/static/copy.js");
    expect((await submit(`${MAIN}/rotate`, { key: "three" })).text).not.toMatch(/whsec_/);
  });

  it("waiting deliveries are listed with their error, and an account's events are sent again", async () => {
    const { open, submit, olga } = await withWebhook();
    const ada = await signInWithCredits("demo");
    const headers = { Authorization: `Bearer ${ada.token}` };
    await send("GET", "/api/wallet?app=sketch", { headers }, olga.settings);
    const [row] = await rows("select uid from webhooks");
    const tried = { attempts: 3, status: "pending", reason: "status_503", at_ms: 0 } as const;
    await env.WEBHOOK_DELIVERIES.getByName(String(row?.["uid"])).save({
      identity_id: ada.identity_id,
      event_id: "e",
      type: "job.completed",
      line: 7,
      ...tried,
      retry_at_ms: 60_000,
    });
    const text = words((await open(`${MAIN}?status=pending`)).text);
    expect(text).toContain("job.completed after entry 7");
    expect(text).toContain("status 503");
    expect(text).toContain("Show all");
    const replayed = await submit(`${MAIN}/replay`, {
      key: "one",
      identity_id: "ada@example.com",
      after_line: "0",
    });
    expect(replayed.headers.get("Location")).toBe(`${MAIN}?notice=webhook-replayed`);
    const unknown = { key: "two", identity_id: "nobody@example.com", after_line: "x" };
    const failed = await submit(`${MAIN}/replay`, unknown);
    expect(words(failed.text)).toContain("The entry must be a whole number");
    const empty = await submit(`${MAIN}/replay`, { key: "three", identity_id: "", after_line: "" });
    expect(words(empty.text)).toContain("The account must not be empty");
    const since = new Date(Date.now() - 60_000).toISOString();
    const all = await submit(`${MAIN}/replay`, { key: "four", since });
    expect(all.headers.get("Location")).toBe(`${MAIN}?notice=webhook-replayed`);
    expect(words((await open(MAIN)).text)).toContain("The events of all accounts since");
    const late = await submit(`${MAIN}/replay`, { key: "five", since: "yesterday" });
    expect(words(late.text)).toContain("The time must be a time such as");
  });

  it("sent events are shown with their result, of all accounts or of the one that an operator names", async () => {
    const { open } = await withWebhook();
    const ada = await signInWithCredits("sketch");
    await signInWithCredits("sketch", "bob@example.com");
    const [{ uid }] = (await rows("select uid from webhooks")) as [{ uid: string }];
    const of_ada = { identity_id: ada.identity_id, event_id: "1.2.job.completed" } as const;
    const tried = { type: "job.completed", line: 2, attempts: 3, duration_ms: 40 } as const;
    const failed = { status: 502, reason: "status_502", response: "<b>bad gateway</b>" };
    const attempt = { ...of_ada, ...tried, ...failed, at_ms: Date.now() };
    await env.WEBHOOK_DELIVERIES.getByName(uid).record(attempt);
    const shown = await open(MAIN);
    const text = words(shown.text);
    expect(text).toContain("job.completed of entry 2 ada@example.com 3");
    expect(text).toContain(
      "status 502 after 40 ms The response begins: &lt;b&gt;bad gateway&lt;/b&gt;",
    );
    expect(shown.text).not.toContain("<b>bad");
    const of_bob = words((await open(`${MAIN}?account=bob%40example.com`)).text);
    expect(of_bob).toContain("No event of this account was sent to this webhook");
    const nobody = words((await open(`${MAIN}?account=eve%40example.com`)).text);
    expect(nobody).toContain("Nobody has this e-mail address.");
  });

  it("a webhook is deleted only after a confirmation", async () => {
    const { open, fill } = await withWebhook();
    const asked = words((await open(`${MAIN}/delete`)).text);
    expect(asked).toContain("Delete the webhook “main”?");
    // The object that sends has a copy of the list of at most a minute.
    expect(asked).toContain("Within a minute, no more events are sent to");
    expect(await rows("select id from webhooks")).toHaveLength(1);
    const deleted = await fill(`${MAIN}/delete`, { reason: "moved" });
    expect(deleted.headers.get("Location")).toBe(`${LIST}?notice=webhook-deleted`);
    expect(await rows("select id from webhooks")).toEqual([]);
    expect((await open(MAIN)).status).toBe(404);
  });

  it("the audit log names an app's key as the actor", async () => {
    const { open, olga } = await withWebhook();
    const { key } = (await olga.send("POST", "/api/admin/apps/sketch/keys", { label: "s" })).body;
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ url: SETTINGS.url, events: ["job.failed"] });
    await send("PUT", "/api/admin/apps/sketch/webhooks/main", { headers, body }, olga.settings);
    expect(words((await open("/console/audit")).text)).toContain("a key of sketch");
  });
});
