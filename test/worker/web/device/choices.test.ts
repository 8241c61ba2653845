import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { earlyInAMinute } from "../../support/clock.ts";
import {
  approvalForm,
  approve,
  fromOwnPage,
  getToken,
  holderOf,
  openPage,
  poll,
  postForm,
  startLogin,
} from "../../support/device_logins.ts";
import { send, signIn, type SignedIn } from "../../support/passbook.ts";

/** Registers apps as an operator does. */
async function register(...slugs: readonly string[]): Promise<object> {
  for (const slug of slugs) {
    await env.DIRECTORY.prepare(
      "insert into apps (slug, name, starter_credits, origins_json, created_at_ms) values (?, ?, 0, '[]', 0)",
    )
      .bind(slug, `The ${slug}`)
      .run();
  }
  // Settings of a new isolate, whose cached registry includes the apps.
  return { ISOLATE: crypto.randomUUID() };
}

/** The fields that a browser would send for a form. */
function sentBy(html: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  const add = (name: string, value: string) =>
    fields.set(name, [...(fields.get(name) ?? []), value]);
  const form = html.slice(html.indexOf('action="/device/approve"'), html.indexOf("</form>"));
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const attribute = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
    const choice = /type="(radio|checkbox)"/.test(tag);
    if (!choice || / checked/.test(tag)) add(attribute("name"), attribute("value"));
  }
  for (const [, value = ""] of form.matchAll(/<option value="([^"]*)" selected/g)) {
    add("period", value);
  }
  return fields;
}

/** The limits of the token that a login gives. */
async function tokenOf(device_code: string) {
  const holder = holderOf((await poll(device_code)).body.token);
  const { scopes, apps, caps } = (await holder.get("/api/tokens")).body.tokens[0];
  return { scopes, apps, caps };
}

/** Sends a form that may have several values for a name. */
function sendForm(
  person: SignedIn,
  fields: ReadonlyMap<string, readonly string[]>,
  isolate: object = {},
) {
  const body = new URLSearchParams();
  for (const [name, values] of fields) for (const value of values) body.append(name, value);
  return send("POST", "/device/approve", { headers: fromOwnPage(person), body }, isolate);
}

describe("a problem on the approval form", () => {
  const careful = {
    access: "read",
    reach: "some",
    other_apps: "first, second",
    credits: "25",
    period: "month",
    upstream: "yes",
  };

  it.each([
    ["an invalid app", { other_apps: "first, Second!" }, "apps_problem"],
    [
      "too many apps",
      { other_apps: Array.from({ length: 21 }, (_, i) => `a${i}`).join(" ") },
      "apps_problem",
    ],
    ["no app", { other_apps: "" }, "apps_problem"],
    ["apps named and all apps chosen", { reach: "all" }, "apps_problem"],
    ["neither some apps nor all", { reach: "" }, "apps_problem"],
    ["no access chosen", { access: "" }, "access_problem"],
    ["an unknown access", { access: "admin" }, "access_problem"],
    ["an invalid number", { credits: "25 or so" }, "credits_problem"],
    ["a number too large", { credits: "9999999999999" }, "credits_problem"],
    ["an unknown period", { period: "90_days" }, "credits_problem"],
    ["wrong letters", { last_letters: "AAAA" }, "last_letters_problem"],
    ["no letters", { last_letters: "" }, "last_letters_problem"],
  ])("%s is shown at its field and keeps every choice", async (_, wrong, problem) => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const form = approvalForm(user_code, { ...careful, ...wrong });
    const answer = await postForm(ada, "/device/approve", form);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(`id="${problem}"`);
    expect(answer.text).toMatch(new RegExp(`aria-describedby="${problem}`));
    const others = ["access", "apps", "credits", "last_letters"]
      .map((name) => `${name}_problem`)
      .filter((id) => id !== problem);
    for (const id of others) expect(answer.text).not.toContain(id);

    const again = sentBy(answer.text);
    for (const [name, value] of Object.entries(form)) {
      const nonsense = ["", "admin", "90_days"].includes(value) && name !== "other_apps";
      if (name !== "user_code" && !nonsense)
        expect([name, again.get(name)?.[0]]).toEqual([name, value]);
    }
    expect((await poll(device_code)).status).toBe(202);
  });

  it("a corrected approval form gives exactly the chosen limits", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const form = approvalForm(user_code, { ...careful, other_apps: "first, Second!" });
    const again = sentBy((await postForm(ada, "/device/approve", form)).text);
    again.set("other_apps", ["first, second"]);
    expect((await sendForm(ada, again)).status).toBe(200);
    expect(await tokenOf(device_code)).toEqual({
      scopes: ["read", "upstream"],
      apps: ["first", "second"],
      caps: [
        {
          credits: 25,
          period: "month",
          spent: 0,
          approved: 0,
          room: 25,
          resets_at: expect.any(String),
        },
      ],
    });
  });

  it("a form can have up to four limits, each for another period", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const fields = sentBy((await openPage(ada, user_code)).text);
    expect(fields.get("credits")).toEqual(["50", "", "", ""]);
    fields.set("last_letters", [user_code.slice(-4)]);
    fields.set("reach", ["all"]);
    fields.set("credits", ["100", "", "5", "40"]);
    fields.set("period", ["month", "total", "day", "day"]);
    const refused = await sendForm(ada, fields);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("There are two limits a day (UTC). Keep one of them.");
    const again = sentBy(refused.text);
    expect(again.get("credits")).toEqual(["100", "", "5", "40"]);
    again.set("period", ["month", "total", "day", "week"]);
    expect((await sendForm(ada, again)).status).toBe(200);
    const token = holderOf((await poll(device_code)).body.token);
    const page = await send("GET", "/account/access", { headers: { Cookie: ada.cookies } });
    for (const words of [
      "0 of 100 credits a month spent",
      "0 of 5 credits a day (UTC) spent",
      "0 of 40 credits a week (from Monday) spent",
    ]) {
      expect(page.text).toContain(words);
    }
    const job = { app: "demo", action: "draw", cost_estimate: 6 };
    expect((await token.post("/api/jobs", job)).body.cap).toEqual({ credits: 5, period: "day" });
  });

  it("a body that is not our form approves nothing", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const headers = { ...fromOwnPage(ada), "Content-Type": "application/json" };
    const body = JSON.stringify({ user_code });
    const answer = await send("POST", "/device/approve", { headers, body });
    expect(answer.status).toBe(400);
    expect((await postForm(ada, "/device/approve", { user_code })).status).toBe(400);
    expect((await poll(device_code)).status).toBe(202);
  });

  it("after too many attempts the approval form can be sent again", async () => {
    await earlyInAMinute();
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    for (let i = 0; i < 10; i += 1) await approve(ada, "BCDF-GHJK");
    const form = approvalForm(user_code, careful);
    const limited = await postForm(ada, "/device/approve", form);
    expect(limited.status).toBe(429);
    for (const [name, value] of Object.entries(form)) {
      expect(limited.text).toContain(`<input type="hidden" name="${name}" value="${value}"/>`);
    }
    expect((await poll(device_code)).status).toBe(202);
  });

  it("an account with too many tokens gets the problem and its choices back", async () => {
    const ada = await signIn();
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const limits = {
      access: "read",
      upstream: false,
      admin: false,
      app_slugs: null,
      caps: [],
    } as const;
    for (let i = 0; i < 100; i += 1) {
      const id = crypto.randomUUID();
      const row = {
        id,
        label: "x",
        app_slug: null,
        limits,
        session_id: "session",
        signin_method: "dev",
        ends_with_session: false,
      };
      await account.issueAllowance({ kind: "holder" } as const, {
        ...row,
        expires_at_ms: Date.now() + 60_000,
      });
    }
    const { user_code } = await startLogin();
    const answer = await postForm(ada, "/device/approve", approvalForm(user_code, careful));
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('<a href="/account/access">');
    expect(sentBy(answer.text).get("access")).toEqual(["read"]);
  });

  it("an unknown code stays in its field, next to the problem", async () => {
    const ada = await signIn();
    for (const typed of ["BCDF-GHJK", "BCDF-GHJ"]) {
      const page = await openPage(ada, typed);
      expect(page.status).toBe(400);
      expect(page.text).toMatch(
        new RegExp(`value="${typed}" aria-describedby="user_code_problem" aria-invalid="true"`),
      );
    }
  });
});

describe("the approval form as it is first shown", () => {
  it("the form suggests a limit to the requesting app if it is registered, and lists all registered apps", async () => {
    const isolate = await register("draw", "write");
    const ada = await signIn();
    const { device_code, user_code } = await startLogin({ app: "draw" });
    const form = sentBy((await openPage(ada, user_code, { ...isolate })).text);
    expect(form.get("reach")).toEqual(["some"]);
    expect(form.get("app")).toEqual(["draw"]);
    expect(form.has("upstream")).toBe(false);
    form.set("app", ["draw", "write"]);
    form.set("last_letters", [user_code.slice(-4)]);
    expect((await sendForm(ada, form, isolate)).status).toBe(200);
    expect(await tokenOf(device_code)).toEqual({
      scopes: ["read", "write"],
      apps: ["draw", "write"],
      caps: [{ credits: 50, period: "total", spent: 0, approved: 0, room: 50, resets_at: null }],
    });
  });

  it("all apps can be chosen while the suggested app is still ticked", async () => {
    const isolate = await register("draw", "write");
    const ada = await signIn();
    const { device_code, user_code } = await startLogin({ app: "draw" });
    const form = sentBy((await openPage(ada, user_code, { ...isolate })).text);
    form.set("reach", ["all"]);
    form.set("last_letters", [user_code]);
    const doubtful = new Map(form).set("app", ["draw", "write"]);
    expect((await sendForm(ada, doubtful, isolate)).status).toBe(400);
    expect((await sendForm(ada, form, isolate)).status).toBe(200);
    expect((await tokenOf(device_code)).apps).toBeNull();
  });

  it("an unregistered app gets itself only, and a program that names no app gets all apps", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin({ app: "invented" });
    const { text } = await openPage(ada, user_code);
    const form = sentBy(text);
    expect(text).toContain("invented (not registered here)");
    form.set("last_letters", [user_code.slice(-4)]);
    await sendForm(ada, form);
    expect((await tokenOf(device_code)).apps).toEqual(["invented"]);
    const unnamed = await openPage(ada, (await startLogin()).user_code);
    expect(sentBy(unnamed.text).get("reach")).toEqual(["all"]);
  });

  it("the form starts with the limit that the app's registration suggests, and with no other right", async () => {
    const isolate = { ...(await register("draw")), OPERATORS: "ada@example.com" };
    await env.DIRECTORY.prepare("update apps set suggested_cap_json = ? where slug = 'draw'")
      .bind(JSON.stringify({ credits: 500, period: "month" }))
      .run();
    const ada = await signIn();
    const { device_code, user_code } = await startLogin({ app: "draw" });
    const { text } = await openPage(ada, user_code, isolate);
    expect(text.replaceAll(/<[^>]*>/g, "")).toMatch(
      /It can spend at most 500 credits a month, in The draw only, until \d+ \w+ \d{4}\./,
    );
    const form = sentBy(text);
    // Each further limit has another period, since two of one period are a problem.
    expect(form.get("period")).toEqual(["month", "day", "week", "total"]);
    expect([form.has("upstream"), form.has("admin")]).toEqual([false, false]);
    expect(text).toContain('name="admin"');
    form.set("last_letters", [user_code.slice(-4)]);
    expect((await sendForm(ada, form, isolate)).status).toBe(200);
    expect(await tokenOf(device_code)).toEqual({
      scopes: ["read", "write"],
      apps: ["draw"],
      caps: [
        {
          credits: 500,
          period: "month",
          spent: 0,
          approved: 0,
          room: 500,
          resets_at: expect.any(String),
        },
      ],
    });
  });

  it("the sentence about money comes first, and the list of apps opens if it has a problem", async () => {
    const ada = await signIn();
    const { user_code } = await startLogin({ app: "draw" });
    const { text } = await openPage(ada, user_code);
    const places = ['class="money"', 'id="last_letters"', 'name="access"', 'name="credits"'];
    const found = places.map((place) => text.indexOf(place));
    expect(found).not.toContain(-1);
    expect(found).toEqual(found.toSorted((one, other) => one - other));
    expect(text).not.toContain('class="limits" open');
    const form = approvalForm(user_code, { other_apps: "No App" });
    const again = await postForm(ada, "/device/approve", form);
    expect(again.text).toContain('class="limits" open');
    const letters = approvalForm(user_code, { access: "read", last_letters: "" });
    const closed = await postForm(ada, "/device/approve", letters);
    expect(closed.text).not.toContain('class="limits" open');
    expect(closed.text).toContain("It can read, and spend nothing");
    // These fields mean nothing, so no sentence says what they mean.
    expect(again.text).not.toContain('class="money"');
  });
});

describe("a limit that is left empty", () => {
  it("a device without a limit is asked about once more, and then has none", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const { no_limit: _, ...form } = approvalForm(user_code);
    const again = await postForm(ada, "/device/approve", form);
    expect(again.status).toBe(400);
    expect(again.text).toContain("You set no limit.");
    expect(again.text).toMatch(/class="alarming"[^>]*>\s*It can spend all your credits/);
    expect(sentBy(again.text).has("no_limit")).toBe(false);
    expect((await postForm(ada, "/device/approve", { ...form, no_limit: "yes" })).status).toBe(200);
    expect((await tokenOf(device_code)).caps).toEqual([]);
  });

  it("a program that may only read is not asked about a limit", async () => {
    const { user_code } = await startLogin();
    const { no_limit: _, ...form } = approvalForm(user_code, { access: "read" });
    expect((await postForm(await signIn(), "/device/approve", form)).status).toBe(200);
  });
});

describe("upstream tokens", () => {
  const scopesOf = async (person: SignedIn, limits: object) => {
    const holder = await getToken(person, limits);
    const { scopes } = (await holder.get("/api/tokens")).body.tokens[0];
    const { status, body } = await holder.get("/api/oauthToken/github");
    return { scopes, answer: status === 404 ? body.code : `${status} ${body.code}` };
  };

  it("upstream tokens need their own scope, which an approval without limits has", async () => {
    const ada = await signIn();
    const held = "token_not_found";
    expect(await scopesOf(ada, {})).toEqual({
      scopes: ["read", "write", "upstream"],
      answer: held,
    });
    for (const scopes of [
      ["read", "upstream"],
      ["read", "write", "upstream"],
    ]) {
      expect(await scopesOf(ada, { scopes })).toEqual({ scopes, answer: held });
    }
    const limited = { scopes: ["write", "upstream"], apps: ["demo"], caps: [{ credits: 1 }] };
    expect((await scopesOf(ada, limited)).answer).toBe(held);
    for (const limits of [
      { scopes: ["read", "write"] },
      { scopes: ["read"] },
      { apps: ["demo"] },
      { caps: [{ credits: 5 }] },
    ]) {
      const { scopes, answer } = await scopesOf(ada, limits);
      expect(scopes).not.toContain("upstream");
      expect(answer).toBe("403 scope");
    }
  });

  it("an approval with only the upstream scope is refused", async () => {
    const ada = await signIn();
    const { user_code } = await startLogin();
    for (const scopes of [["upstream"], [], ["admin", "upstream"], ["read", "everything"]]) {
      expect((await approve(ada, user_code, { scopes })).status).toBe(400);
    }
  });
});

describe("a client name with invisible characters", () => {
  it.each([
    "\u3164",
    "\u2800",
    "\u2800\u2800",
    "\u115f",
    "\uffa0",
    "a\ufe0f",
    "\u034f",
    "\u0301",
    "a\u200bb",
    "\u{e0041}",
    "\u{1d159}",
  ])("the invisible client name %j is refused", async (client_name) => {
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ client_name });
    const answer = await send("POST", "/api/device/start", { headers, body });
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });

  it("client names in all scripts are accepted", async () => {
    for (const client_name of [
      "Büro 3",
      "수지의 노트북",
      "हिन्दी",
      "مثال",
      "日本語",
      "CI: build #7",
      "🚀",
    ]) {
      expect((await startLogin({ client_name })).user_code).toBeTruthy();
    }
  });
});
