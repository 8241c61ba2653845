import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { change, query } from "../../support/account_object.ts";
import { openAppServer } from "../../http/caller/app_server.ts";
import { openIssuer, trust } from "../../support/issuer_double.ts";
import { passTime } from "../../support/clock.ts";
import { getToken, postForm, tokenId } from "../../support/device_logins.ts";
import {
  BASE_URL,
  send,
  signIn,
  signInWithCredits,
  type SignedIn,
} from "../../support/passbook.ts";

const LIST = "/account/access";
const DAY_MS = 24 * 60 * 60 * 1000;

const open = (person: SignedIn, path = LIST) =>
  send("GET", path, { headers: { Cookie: person.cookies, Accept: "text/html" } });

/** The text of a page, without its markup. */
const words = (html: string): string =>
  html
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .replaceAll(" ,", ",");

/** The rows of connections and tokens, as text. */
const itemsOf = (html: string): string[] =>
  html
    .split(/<li id="(?!app-)[^"]*"(?: class="below-\d")?>/)
    .slice(1)
    .map((item) => words(item.split('<div class="acts">')[0] ?? "").trim());

/** Adds an allowance below another one, as an exchange does. */
async function addChild(person: SignedIn, parent_id: string, id: string): Promise<void> {
  await change(
    person.identity_id,
    `insert into allowances (id, parent_id, path, kind, client_id, client_host, label, scopes,
       session_id, ends_with_session, caps_json, stored_bytes, created_at_ms, expires_at_ms)
     select '${id}', id, '${id} ' || path, 'exchange', client_id, client_host, '${id}', 'read',
       session_id, 0, '[]', 0, created_at_ms, expires_at_ms from allowances where id = '${parent_id}'`,
  );
}

describe("the page of access", () => {
  it("the page of access shows what each may do, its caps with what is spent, and when they begin again", async () => {
    const ada = await signInWithCredits();
    const cap = { credits: 50, period: "month" };
    const token = await getToken(ada, { apps: ["demo"], caps: [cap] }, { client_name: "Laptop" });
    await token.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 12 });
    const [item = ""] = itemsOf((await open(ada)).text);
    expect(item).toContain("Laptop Can read and spend in Demo.");
    expect(item).toMatch(/12 of 50 credits a month spent, resets 1 \w+, 00:00/);
    expect(item).toMatch(/Device or program. Made .* last used .*, ends /);
    expect(item).toContain("0 spent this month");
  });

  it("a cap that is exceeded says how much of it the holder approved", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 20, period: "total" }] }, {});
    const job = { app: "demo", action: "draw", cost_estimate: 20 };
    await token.post("/api/jobs", job);
    const { approval, approval_url } = (await token.post("/api/jobs", job)).body;
    await postForm(ada, `${new URL(approval_url).pathname}/approve`, {});
    const { job_id } = (await token.post("/api/jobs", { ...job, approval })).body;
    const approved = async () => (await ada.getOwn("/api/access")).body.tokens[0].caps[0];
    expect(await approved()).toMatchObject({ spent: 40, approved: 20, room: 0 });
    expect(itemsOf((await open(ada)).text)[0]).toContain(
      "40 of 20 credits in total spent, 20 of them in jobs that you approved. Used up: it starts no job without a new approval.",
    );
    await token.post("/api/jobs/complete", { job_id, actual_cost: 5 });
    expect(await approved()).toMatchObject({ spent: 25, approved: 5 });
  });

  it("the page says that nothing else has access only if nothing but this browser has", async () => {
    const nothing =
      "Only this browser can use your account, with the apps in which you signed in here. Nothing else has access.";
    const ada = await signIn();
    expect((await open(ada)).text).toContain(nothing);
    // The app to which the sign-in led back has a token, which no list names before it used an app's credits.
    expect((await ada.get("/api/wallet")).status).toBe(200);
    expect((await open(ada)).text).toContain(nothing);
    const elsewhere = await signIn();
    expect(words((await open(ada)).text)).toContain("1 other browser can use your account.");
    await send("POST", "/signout", { headers: { Cookie: elsewhere.cookies, Origin: BASE_URL } });
    expect((await open(ada)).text).toContain(nothing);
    await ada.get("/api/wallet?app=demo");
    const { text } = await open(ada);
    expect(text).not.toContain("Nothing else has access");
    expect(text).toContain('<li id="app-demo">');
    expect(words(text)).toContain("1 app can use your account.");
  });

  it("the page asks before an app is stopped, and says how many of its jobs run", async () => {
    const ada = await signInWithCredits();
    await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 12 });
    const asked = words((await open(ada, `${LIST}/stop?app=demo`)).text);
    expect(asked).toContain("Stop Demo?");
    expect(asked).toContain("1 job is started");
    expect((await open(ada, `${LIST}/stop?app=never`)).status).toBe(303);
    const done = await postForm(ada, `${LIST}/stop`, { app: "demo" });
    const page = await open(ada, done.headers.get("Location") ?? "");
    expect(words(page.text)).toContain("Stopped.");
    expect(words(page.text)).toContain(
      "Only this browser can use your account, with the apps in which you signed in here. The apps below are stopped.",
    );
    expect((await open(ada, `${LIST}/stop?app=demo`)).status).toBe(303);
  });

  it("the account page shows the three most recently used, and what they spent this month", async () => {
    const ada = await signInWithCredits();
    for (const name of ["One", "Two", "Three"]) {
      passTime(1000);
      const token = await getToken(ada, {}, { client_name: name });
      const job = { app: "demo", action: "draw", cost_estimate: 7 };
      const { job_id } = (await token.post("/api/jobs", job)).body;
      await token.post("/api/jobs/complete", { job_id, actual_cost: 7 });
    }
    const { text } = await open(ada, "/account");
    const panel = words(text.split('id="access"')[1]?.split("</section>")[0] ?? "");
    expect(panel).toMatch(/Three .*7 spent this month Two .* One .*And 1 more/);
    expect(panel).not.toContain("Demo");
  });

  it("a cap that has begun again shows nothing spent", async () => {
    const ada = await signInWithCredits();
    const cap = { credits: 50, period: "day" };
    const token = await getToken(ada, { caps: [cap] }, {});
    await token.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 12 });
    passTime(DAY_MS);
    expect((await open(ada)).text).toContain("0 of 50 credits a day (UTC) spent");
  });

  it("a token without a cap says so, and one that only reads has no caps", async () => {
    const ada = await signIn();
    await getToken(ada, { scopes: ["read"], caps: [{ credits: 5 }] }, { client_name: "Reader" });
    await getToken(ada, {}, { client_name: "Spender" });
    const items = itemsOf((await open(ada)).text);
    const itemOf = (name: string) => items.find((item) => item.includes(name));
    expect(itemOf("Spender")).toContain("No limit but your balance.");
    expect(itemOf("Reader")).not.toMatch(/limit|credits/);
  });

  it("agents are listed under the connection that they come from, and revoking it ends them too", async () => {
    const ada = await signIn();
    const token = await getToken(ada, {}, { client_name: "Parent" });
    const parent_id = await tokenId(token);
    await getToken(ada, {}, { client_name: "Newer" });
    await addChild(ada, parent_id, "child");
    await addChild(ada, "child", "grandchild");
    const { text } = await open(ada);
    expect(itemsOf(text).map((item) => item.split(" ")[0])).toEqual([
      "Parent",
      "child",
      "grandchild",
      "Newer",
    ]);
    expect(text).toContain('<li id="child" class="below-1">');
    expect(text).toContain('<li id="grandchild" class="below-2">');
    const asked = words((await open(ada, `${LIST}/revoke?id=${parent_id}`)).text);
    expect(asked).toContain("So does everything below it: 2 agents and services.");
    await postForm(ada, `${LIST}/revoke`, { id: parent_id });
    expect(itemsOf((await open(ada)).text)).toHaveLength(1);
  });

  it("an app's connection names its host, its resource, and what it can do", async () => {
    const ada = await signIn();
    const id = await tokenId(await getToken(ada, {}, { client_name: "Claude" }));
    await change(
      ada.identity_id,
      `update allowances set kind = 'code', client_id = 'https://claude.ai/client',
         client_host = 'claude.ai', resource = 'https://mcp.example/mcp', scopes = 'openid tools'
       where id = '${id}'`,
    );
    const [item = ""] = itemsOf((await open(ada)).text);
    expect(item).toContain("App of claude.ai, not registered here");
    expect(item).toContain("Can use https://mcp.example/mcp as you. Signs you in.");
    const own_host = new URL(BASE_URL).host;
    await change(ada.identity_id, `update allowances set client_host = '${own_host}'`);
    expect(itemsOf((await open(ada)).text)[0]).toContain("Part of Passbook");
  });

  it("revoking needs our own page's form, and touches no connection of another person", async () => {
    const ada = await signIn();
    const id = await tokenId(await getToken(ada));
    const bob = await signIn("bob@example.com");
    expect((await postForm(bob, `${LIST}/revoke`, { id })).status).toBe(303);
    const foreign = await send("POST", `${LIST}/revoke`, {
      headers: { Cookie: ada.cookies, Origin: "https://evil.example" },
      body: new URLSearchParams({ id }),
    });
    expect(foreign.status).toBe(403);
    const rows = await query(ada.identity_id, "select revoked_at_ms from allowances");
    expect(rows).toEqual([{ revoked_at_ms: null }]);
  });
});

describe("changing a connection", () => {
  const FORM = { label: "Laptop", reach: "all", credits: "70", period: "month" };

  /** A token with a monthly cap of 50, of which 12 are spent. */
  async function spender() {
    const ada = await signInWithCredits();
    const cap = { credits: 50, period: "month" };
    const token = await getToken(ada, { apps: ["demo"], caps: [cap] }, { client_name: "Old" });
    await token.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 12 });
    return { ada, token, id: await tokenId(token) };
  }

  it("the form starts with what the connection has, and changes its name, limits and apps", async () => {
    const { ada, token, id } = await spender();
    const form = await open(ada, `${LIST}/edit?id=${id}`);
    for (const value of ['value="Old"', 'value="50"', 'value="month" selected']) {
      expect(form.text).toContain(value);
    }
    const done = await postForm(ada, `${LIST}/edit`, { ...FORM, id });
    expect([done.status, done.headers.get("Location")]).toEqual([
      303,
      `${LIST}?notice=connection_changed`,
    ]);
    const [item = ""] = itemsOf((await open(ada)).text);
    expect(item).toContain("Laptop");
    expect(item).toContain("in all apps");
    expect(item).toContain("12 of 70 credits a month spent");
    const job = { app: "other", action: "draw", cost_estimate: 58 };
    expect((await token.post("/api/jobs", job)).status).toBe(200);
    expect((await token.post("/api/jobs", { ...job, cost_estimate: 1 })).status).toBe(402);
  });

  it.each([
    ["an empty name", { label: " " }, "Give the connection a name"],
    ["an invalid number", { credits: "-1" }, "Enter a whole number of credits"],
    ["no app", { reach: "some" }, "Choose at least one app"],
  ])("a form with %s is shown again and changes nothing", async (_name, wrong, problem) => {
    const { ada, id } = await spender();
    const answer = await postForm(ada, `${LIST}/edit`, { ...FORM, ...wrong, id });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("Nothing was changed.");
    expect(answer.text).toContain(problem);
    const [item = ""] = itemsOf((await open(ada)).text);
    expect(item).toContain("Old");
    expect(item).toContain("12 of 50 credits a month spent");
  });

  it("changing needs our own page's form, and touches no connection of another person", async () => {
    const { ada, id } = await spender();
    const bob = await signIn("bob@example.com");
    expect((await open(bob, `${LIST}/edit?id=${id}`)).status).toBe(303);
    expect((await postForm(bob, `${LIST}/edit`, { ...FORM, id })).status).toBe(303);
    const foreign = await send("POST", `${LIST}/edit`, {
      headers: { Cookie: ada.cookies, Origin: "https://evil.example" },
      body: new URLSearchParams({ ...FORM, id }),
    });
    expect(foreign.status).toBe(403);
    expect(itemsOf((await open(ada)).text)[0]).toContain("12 of 50 credits a month spent");
  });

  it("an app may still complete a job of a revoked token, and the page that revokes it says that it is paid", async () => {
    const server = await openAppServer("demo");
    const ada = await signInWithCredits();
    const holder = await getToken(ada);
    const job = { app: "demo", action: "draw", cost_estimate: 10 };
    const { job_id } = (await holder.post("/api/jobs", job)).body;
    expect(words((await open(ada)).text)).toContain(
      "Tokens, and connections that may stay connected, keep their access unless",
    );
    const path = `${LIST}/revoke?id=${await tokenId(holder)}`;
    const page = words((await open(ada, path)).text);
    expect(page).toContain("If an app still completes one, you pay what it cost.");
    await postForm(ada, `${LIST}/revoke`, { id: await tokenId(holder) });
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    const completed = await server
      .in(ada.identity_id)
      .post("/api/jobs/complete", { job_id, actual_cost: 7 });
    expect(completed.status).toBe(200);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(93);
  });

  it("the page does not say that nothing else has access while an app's own sign-in service knows the person", async () => {
    const acme = await openIssuer("https://acme.test");
    const settings = trust([{ double: acme, entry: { name: "Acme" } }]);
    const ada = await signIn("ada@example.com", settings);
    const shown = async (path: string) => {
      const headers = { Cookie: ada.cookies, Accept: "text/html" };
      return words((await send("GET", path, { headers }, settings)).text);
    };
    expect(await shown(LIST)).toContain("Nothing else has access.");
    const headers = { Authorization: `Bearer ${await acme.token()}` };
    await send("GET", "/api/wallet", { headers }, settings);
    await env.DIRECTORY.prepare("update identities set user_id = ? where subject = 'person-1'")
      .bind(ada.identity_id)
      .run();
    for (const path of [LIST, "/account"]) {
      const text = await shown(path);
      expect(text).toContain("Apps that sign you in with Acme can use your account");
      expect(text).not.toContain("Nothing else has access");
      expect(text).not.toContain("Only this browser");
    }
  });
});
