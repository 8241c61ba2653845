import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { BASE_URL, send, signInWithCredits } from "../../support/passbook.ts";
import { saveApp } from "../../http/caller/app_server.ts";
import { SETTINGS } from "../../http/api/admin/operators.ts";
import { hiddenFields, linesOf, openConsole, words } from "./pages.ts";

const SKETCH = {
  slug: "sketch",
  name: "Sketch",
  starter_credits: "120",
  daily_starter_budget: "",
  origins: "https://sketch.example\r\nhttps://*.sketch.example",
  settle: "app",
  on_expiry: "charge",
  upstream_providers: "google, x",
  max_overage_percent: "20",
  icon: "",
  color: "#12507B",
  suggested_cap: "500",
  suggested_period: "month",
  starter_excluded_domains: "mailinator.com\r\n\r\nGuerrillamail.com",
  reason: "a new app",
};

const rows = async (sql: string) => (await env.DIRECTORY.prepare(sql).all()).results;

/** The hidden fields of the form with this action. */
function fieldsOf(html: string, action: string): Record<string, string> {
  const form = html.slice(html.indexOf(`action="${action}"`));
  return hiddenFields(`<form ${form.slice(0, form.indexOf("</form>"))}`);
}

const SETTINGS_OF_SKETCH = "/console/apps/sketch/settings";

/** The fields of each group of settings. */
const GROUPS = {
  look: ["name", "icon", "color"],
  "starter-credits": [
    "starter_credits",
    "daily_starter_budget",
    "starter_excluded_domains",
    "starter_expires_after_days",
  ],
  jobs: ["settle", "on_expiry", "max_overage_percent"],
  security: ["origins", "upstream_providers", "suggested_cap", "suggested_period"],
} as const;

/** The form of a group on an app's page, with these values. */
function groupForm(
  html: string,
  group: keyof typeof GROUPS,
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  const [form = ""] = html
    .split("<form")
    .filter((it) => it.includes(`name="group" value="${group}"`));
  const own = GROUPS[group].map((name) => [name, values[name] ?? ""]);
  return { ...hiddenFields(`<form${form}`), ...Object.fromEntries(own), reason: "as agreed" };
}

describe("registering an app", () => {
  it("the form registers an app once and redirects to its page", async () => {
    const { olga, fill, submit, open } = await openConsole();
    expect(words((await open("/console/apps")).text)).toContain("No app is registered yet.");
    const done = await fill("/console/new-app", SKETCH);
    const location = "/console/apps/sketch?notice=app-saved";
    expect([done.status, done.headers.get("Location")]).toEqual([303, location]);
    const again = await submit("/console/new-app", done.sent);
    expect([again.status, again.headers.get("Location")]).toEqual([303, location]);
    expect(
      await rows(
        "select slug, name, starter_credits, settle, on_expiry, origins_json, upstream_providers_json, max_overage_percent, color, suggested_cap_json, starter_excluded_domains_json from apps",
      ),
    ).toEqual([
      {
        slug: "sketch",
        name: "Sketch",
        starter_credits: 120,
        settle: "app",
        on_expiry: "charge",
        origins_json: '["https://sketch.example","https://*.sketch.example"]',
        upstream_providers_json: '["google","x"]',
        max_overage_percent: 20,
        color: "#12507b",
        suggested_cap_json: '{"credits":500,"period":"month"}',
        starter_excluded_domains_json: '["mailinator.com","guerrillamail.com"]',
      },
    ]);
    expect(await linesOf(olga, "sketch")).toMatchObject([
      { act: "app.save", reason: "a new app", details: { outcome: "done", starter_credits: 120 } },
    ]);
    const page = await open(location);
    expect(page.text).toContain("The app’s settings were saved.");
    expect(words((await open("/console/apps")).text)).toContain("Sketch sketch");
  });

  it.each([
    [{}, "100"],
    [{ DEFAULT_STARTER_CREDITS: "40" }, "40"],
    [{ DEV_SIGNIN: "false", BASE_URL }, "0"],
  ])("the form suggests the starter credits of an unregistered slug: %j", async (more, credits) => {
    const { olga, open } = await openConsole();
    const operators = { OPERATORS: olga.person.identity_id };
    const page = await open("/console/new-app", { ...operators, ...more });
    expect(page.text).toMatch(
      new RegExp(`<input[^>]*value="${credits}"[^>]*name="starter_credits"`),
    );
  });

  it("registering does not overwrite an existing app", async () => {
    const { olga, fill } = await openConsole();
    await saveApp(olga, "sketch", { name: "The first" });
    const answer = await fill("/console/new-app", SKETCH);
    expect(answer.status).toBe(409);
    expect(answer.text).toMatch(/id="slug-problem">[^<]*already registered/);
    expect(answer.text).toContain('value="Sketch"');
    expect(await rows("select name from apps")).toEqual([{ name: "The first" }]);
    expect(await linesOf(olga, "sketch")).toMatchObject([
      { details: { outcome: "done" } },
      { details: { outcome: "refused" } },
    ]);
  });

  it("of two concurrent registrations of one slug, only one succeeds", async () => {
    const { open, submit } = await openConsole();
    const forms = await Promise.all(
      ["Sketch", "Other"].map(async (name) => {
        const page = await open("/console/new-app");
        return { ...SKETCH, ...hiddenFields(page.text), name };
      }),
    );
    const answers = await Promise.all(forms.map((form) => submit("/console/new-app", form)));
    const [won, lost] = answers.toSorted((a, b) => a.status - b.status);
    expect(won?.status).toBe(303);
    expect(lost?.text).toMatch(/id="slug-problem">[^<]*already registered/);
    expect(await rows("select version from apps")).toEqual([{ version: 1 }]);
  });

  it.each([
    ["slug", "Sketch!", "must be 1 to 64"],
    ["name", "", "must not be empty"],
    ["starter_credits", "-1", "must be a whole number"],
    ["starter_credits", "", "must be a whole number"],
    ["daily_starter_budget", "some", "must be a whole number"],
    ["origins", "https://sketch.example/path", "must be an origin"],
    ["origins", "https://*.github.io", "must be an origin"],
    ["settle", "", "must be holder or app"],
    ["on_expiry", "keep", "must be refund or charge"],
    ["max_overage_percent", "20%", "must be a whole number"],
    ["upstream_providers", "google Facebook!", "must be a provider&#39;s id"],
    ["icon", "http://sketch.example/icon.png", "must be an https address"],
    ["color", "blue", "must be a colour such as #12507b"],
    ["suggested_cap", "-5", "must be a whole number"],
    ["suggested_cap", "5.5", "must be a whole number"],
    [
      "starter_excluded_domains",
      "mailinator.com\r\n\r\nmailinator",
      "Line 3: “mailinator” must be",
    ],
    [
      "origins",
      "https://sketch.example\r\nftp//b\r\nc",
      "Line 2: “ftp//b”, line 3: “c” must be an origin",
    ],
    [
      "origins",
      "https://sketch.example\r\nhttps://*.github.io",
      "Line 2: “https://\\*.github.io” must be",
    ],
  ])(
    "registering refuses %s %j and keeps everything that was typed",
    async (field, value, text) => {
      const { fill } = await openConsole();
      const answer = await fill("/console/new-app", { ...SKETCH, [field]: value });
      expect(answer.status).toBe(400);
      expect(answer.text).toMatch(new RegExp(`id="${field}-problem">[^<]*${text}`));
      if (field !== "name") expect(answer.text).toContain('value="Sketch"');
      if (field !== "origins") expect(answer.text).toContain("https://*.sketch.example");
      // The choices are radio buttons: none of them has another value.
      if (field !== "settle" && field !== "on_expiry") {
        const text_with_lines = answer.text.replaceAll("\r\n", "\n");
        expect(text_with_lines).toContain(value.replaceAll("\r\n", "\n"));
        expect(answer.text).toMatch(
          new RegExp(
            `id="${field}"[^>]*aria-describedby="${field}-problem[^>]*aria-invalid="true"`,
          ),
        );
      }
      expect(answer.text).toContain("a new app");
      expect(await rows("select * from apps")).toEqual([]);
      expect(await rows("select * from audit")).toEqual([]);
    },
  );
});

describe("an app's page", () => {
  it("an icon that cannot be copied is a problem of its field, and everything that was typed is kept", async () => {
    const { fill } = await openConsole();
    vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response("<svg/>"));
    const icon = "https://sketch.example.com/icon.svg";
    const answer = await fill("/console/new-app", { ...SKETCH, icon });
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/id="icon-problem">The icon could not be copied: it is not a PNG/);
    expect(answer.text).toContain(`value="${icon}"`);
    expect(answer.text).toContain("Guerrillamail.com");
    expect(await rows("select * from apps")).toEqual([]);
    vi.restoreAllMocks();
  });

  it("an outdated form shows a colleague's values of its group, and keeps its own", async () => {
    const { olga, open, submit } = await openConsole();
    await saveApp(olga, "sketch");
    const old_page = (await open("/console/apps/sketch")).text;
    const colleague = {
      color: "#ffffff",
      suggested_cap: { credits: 500, period: "total" },
      starter_excluded_domains: ["a.example.com", "b.example.com"],
    };
    await saveApp(olga, "sketch", colleague as object);
    const send_old = (group: keyof typeof GROUPS) =>
      submit(SETTINGS_OF_SKETCH, groupForm(old_page, group, SKETCH));
    const look = await send_old("look");
    expect(look.status).toBe(409);
    expect(look.text).toMatch(/id="color-problem">The saved value is: #ffffff\./);
    expect(look.text).not.toContain('id="icon-problem"');
    expect(look.text).not.toContain('id="suggested_cap-problem"');
    expect(look.text).toContain('value="#12507B"');
    const security = await send_old("security");
    expect(security.text).toMatch(/id="suggested_cap-problem">The saved value is: 500 in total\./);
    expect(security.text).toMatch(/<option value="month" selected/);
    const starter = await send_old("starter-credits");
    expect(starter.text).toMatch(
      /id="starter_excluded_domains-problem">The saved value is: a.example.com b.example.com\./,
    );
    // The page has shown the saved values, so sending it again overwrites them on purpose.
    const again = groupForm(starter.text, "starter-credits", SKETCH);
    expect((await submit(SETTINGS_OF_SKETCH, again)).status).toBe(303);
    const page = await open("/console/apps/sketch");
    expect(page.text).toContain("mailinator.com\nguerrillamail.com");
    expect(await rows("select color, version from apps")).toEqual([
      { color: "#ffffff", version: 3 },
    ]);
  });

  it("each group of settings is saved by itself, once, and the audit log has only what it changed", async () => {
    const { olga, open, submit } = await openConsole();
    await saveApp(olga, "sketch", { name: "Sketch", daily_starter_budget: 900 });
    let sent = {};
    for (const group of Object.keys(GROUPS) as (keyof typeof GROUPS)[]) {
      const page = await open("/console/apps/sketch");
      sent = groupForm(page.text, group, { ...SKETCH, name: "Sketchbook", settle: "holder" });
      for (let time = 0; time < 2; time += 1) {
        expect((await submit(SETTINGS_OF_SKETCH, sent)).headers.get("Location")).toBe(
          "/console/apps/sketch?notice=app-saved",
        );
      }
    }
    expect(await rows("select name, daily_starter_budget, settle, version from apps")).toEqual([
      { name: "Sketchbook", daily_starter_budget: null, settle: "holder", version: 5 },
    ]);
    const lines = await linesOf(olga, "sketch");
    expect(lines.slice(1).map(({ changed }: { changed: object }) => Object.keys(changed))).toEqual([
      ["name", "color"],
      ["starter_credits", "daily_starter_budget", "starter_excluded_domains"],
      ["settle", "on_expiry", "max_overage_percent"],
      ["origins", "upstream_providers", "suggested_cap"],
    ]);
  });

  it("a refused group keeps its input and its reason, and has the only summary of problems", async () => {
    const { olga, open, submit } = await openConsole();
    await saveApp(olga, "sketch", { starter_credits: 200 });
    const page = await open("/console/apps/sketch");
    const form = groupForm(page.text, "security", {
      ...SKETCH,
      origins: "https://a.example\nb\nc",
    });
    const refused = await submit(SETTINGS_OF_SKETCH, form);
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(
      /id="origins-problem">Line 2: “b”, line 3: “c” must be an origin such as [^<]*3000\.</,
    );
    expect(refused.text.match(/role="alert"/g)).toHaveLength(1);
    expect(refused.text).toMatch(/role="alert" tabindex="-1" autofocus[^]*<a href="#origins">/);
    expect(refused.text).toContain("as agreed");
    const reason = await submit(SETTINGS_OF_SKETCH, { ...form, reason: "x".repeat(501) });
    expect(reason.text).toContain('<a href="#security-reason">');
    expect(reason.text).toContain('id="security-reason-problem"');
    expect(await rows("select starter_credits, version from apps")).toEqual([
      { starter_credits: 200, version: 1 },
    ]);
  });

  it("a form without its group or without the version of its app changes nothing", async () => {
    const { olga, submit } = await openConsole();
    await saveApp(olga, "sketch", { starter_credits: 200 });
    for (const form of [{}, SKETCH, { ...SKETCH, group: "all" }, { ...SKETCH, group: "look" }]) {
      const refused = await submit(SETTINGS_OF_SKETCH, { key: "one", ...form });
      expect([refused.status, refused.text.includes('for="slug"')]).toEqual([400, false]);
    }
    expect(await rows("select starter_credits, name from apps")).toEqual([
      { starter_credits: 200, name: "An app" },
    ]);
  });

  it("a form that was opened before another operator's change does not overwrite it", async () => {
    const { olga, open, submit } = await openConsole();
    await saveApp(olga, "sketch", { starter_credits: 200 });
    const page = await open("/console/apps/sketch");
    const stale = groupForm(page.text, "starter-credits", { ...SKETCH, starter_credits: "200" });
    await saveApp(olga, "sketch", { starter_credits: 77 });
    const refused = await submit(SETTINGS_OF_SKETCH, stale);
    expect(refused.status).toBe(409);
    expect(refused.text).toMatch(/id="starter_credits-problem">[^<]*The saved value is: 77\./);
    expect(words(refused.text)).toContain("Someone else changed this after you opened this form.");
    expect(await rows("select starter_credits from apps")).toEqual([{ starter_credits: 77 }]);
  });

  it("the danger zone is last, and names the consequence of everything that stops or removes something", async () => {
    const { olga, open } = await openConsole();
    await saveApp(olga, "sketch");
    await olga.send("POST", "/api/admin/apps/sketch/keys", { label: "render server" });
    const { text } = await open("/console/apps/sketch");
    const zone = text.slice(text.indexOf('id="danger"'));
    expect(zone).not.toContain("<form");
    expect(words(`<body>${zone}`)).toMatch(
      /Pause this app It starts no jobs [^]* Revoke the key “render server” [^]* lose access within a minute\. This cannot be undone/,
    );
    const before = text.slice(0, text.indexOf('id="danger"'));
    expect(before).not.toMatch(/\/(pause|revoke-key)/);
  });

  it("the page of an unknown app says so and links to the console", async () => {
    const { open, submit } = await openConsole();
    for (const answer of [
      await open("/console/apps/nothing"),
      await open("/console/apps/nothing/revoke-key?key_id=x"),
      await submit("/console/apps/nothing/settings", SKETCH),
      await submit("/console/apps/nothing/keys", { key: "one", label: "server" }),
      await submit("/console/apps/nothing/revoke-key", { key: "one", key_id: "x" }),
    ]) {
      expect(answer.status).toBe(404);
      expect(answer.text).toContain('href="/console"');
    }
    expect(await rows("select * from apps")).toEqual([]);
  });
});

describe("an app's keys", () => {
  const KEYS = "/console/apps/sketch/keys";

  async function addKey() {
    const browser = await openConsole();
    await saveApp(browser.olga, "sketch");
    const page = await browser.open("/console/apps/sketch");
    const form = { ...fieldsOf(page.text, KEYS), label: "render server" };
    const made = await browser.submit(KEYS, form);
    const [key = ""] = /pb_app_test_[A-Za-z0-9_-]{43}/.exec(made.text) ?? [];
    return { ...browser, form, made, key };
  }

  it("a new key is shown once, works, and is in no URL", async () => {
    const { olga, open, submit, form, made, key } = await addKey();
    expect(made.status).toBe(200);
    expect(key).not.toBe("");
    expect(made.headers.get("Cache-Control")).toBe("no-store");
    const ada = await signInWithCredits("sketch");
    const headers = { Authorization: `Bearer ${key}`, "Passbook-Identity": ada.identity_id };
    expect((await send("GET", "/api/wallet", { headers }, SETTINGS)).status).toBe(200);
    const again = await submit(KEYS, form);
    expect(again.text).not.toContain("pb_app_");
    expect(words(again.text)).toContain("This form was already sent");
    expect((await open("/console/apps/sketch")).text).not.toContain("pb_app_");
    expect(await rows("select label from app_keys")).toEqual([{ label: "render server" }]);
    const acts = (await linesOf(olga, "sketch")).map(({ act }: { act: string }) => act);
    expect(acts).toEqual(["app.save", "app_key.add"]);
  });

  it("a key needs a label, and an app has a largest number of keys", async () => {
    const { submit, olga } = await addKey();
    const refused = await submit(KEYS, { key: "two", label: " " });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('id="label-problem"');
    for (let count = 1; count < 20; count += 1) {
      await olga.send("POST", "/api/admin/apps/sketch/keys", { label: `${count}` });
    }
    const beyond = await submit(KEYS, { key: "three", label: "one more" });
    expect(beyond.status).toBe(400);
    expect(beyond.text).toMatch(/id="label-problem">[^<]*at most 20 keys/);
    expect(beyond.text).toContain('value="one more"');
  });

  it("a label that another key has is a problem of its field", async () => {
    const { submit, form } = await addKey();
    const refused = await submit(KEYS, { ...form, key: "second" });
    expect(refused.status).toBe(409);
    expect(refused.text).toMatch(/id="label-problem">Another key of this app has this label\./);
    expect(await rows("select id from app_keys")).toHaveLength(1);
  });

  it("the form of a revoked key does not create the key again", async () => {
    const { olga, submit, form } = await addKey();
    const [{ id } = {}] = await rows("select id from app_keys");
    await olga.send("DELETE", `/api/admin/apps/sketch/keys/${String(id)}`);
    const again = await submit(KEYS, form);
    expect(again.status).toBe(409);
    expect(again.text).not.toContain("pb_app_");
    expect(again.text).toMatch(/was revoked\. To add another/);
    const [, key = ""] =
      /name="key" value="([^"]+)"/.exec(again.text.slice(again.text.indexOf(KEYS))) ?? [];
    expect((await submit(KEYS, { ...form, key })).text).toContain("pb_app_");
  });

  it("a key is revoked once, after a confirmation page", async () => {
    const { olga, open, fill, submit, key } = await addKey();
    const [{ id } = {}] = await rows("select id from app_keys");
    const address = `/console/apps/sketch/revoke-key?key_id=${String(id)}`;
    expect((await open("/console/apps/sketch")).text).toContain(`href="${address}"`);
    expect(words((await open("/console/apps/sketch")).text)).toContain(
      `ends with ${key.slice(-4)} · since`,
    );
    const page = words((await open(address)).text);
    expect(page).toContain("Revoke the key “render server”?");
    expect(page).toContain(`Ends with ${key.slice(-4)}`);
    expect(page).toMatch(/Added \d+ \w+ \d{4}/);
    expect(await rows("select id from app_keys")).toHaveLength(1);
    const done = await fill(address, { reason: "leaked" });
    const location = "/console/apps/sketch?notice=key-revoked";
    expect(done.headers.get("Location")).toBe(location);
    const again = await submit("/console/apps/sketch/revoke-key", done.sent);
    expect(again.headers.get("Location")).toBe(location);
    const headers = { Authorization: `Bearer ${key}`, "Passbook-Identity": "x" };
    expect((await send("GET", "/api/wallet", { headers }, SETTINGS)).status).toBe(401);
    expect(await linesOf(olga, "sketch")).toMatchObject([
      { act: "app.save" },
      { act: "app_key.add" },
      { act: "app_key.revoke", reason: "leaked", details: { key_id: id, outcome: "done" } },
    ]);
    expect((await open(address)).status).toBe(404);
  });
});
