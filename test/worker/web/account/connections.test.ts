import { describe, expect, it } from "vitest";
import { change, query } from "../../support/account_object.ts";
import { passTime } from "../../support/clock.ts";
import { getToken, postForm, tokenId } from "../../support/device_logins.ts";
import {
  BASE_URL,
  send,
  signIn,
  signInWithCredits,
  type SignedIn,
} from "../../support/passbook.ts";

const LIST = "/account/connections";
const DAY_MS = 24 * 60 * 60 * 1000;

const open = (person: SignedIn, path = LIST) =>
  send("GET", path, { headers: { Cookie: person.cookies, Accept: "text/html" } });

/** The text of a page, without its markup. */
const words = (html: string): string =>
  html
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .replaceAll(" ,", ",");

/** The items of the list, as text. */
const itemsOf = (html: string): string[] =>
  html
    .split(/<li(?: class="below-\d")?><h2>/)
    .slice(1)
    .map((item) => words(item.split("</p></li>")[0] ?? ""));

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

describe("the page of connections", () => {
  it("the page of connections shows what each may do, its caps with what is spent, and when they begin again", async () => {
    const ada = await signInWithCredits();
    const cap = { credits: 50, period: "month" };
    const token = await getToken(ada, { apps: ["demo"], cap }, { client_name: "Laptop" });
    await token.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 12 });
    const [item = ""] = itemsOf((await open(ada)).text);
    expect(item).toContain("Laptop Device or program Can read and spend in Demo.");
    expect(item).toMatch(/12 of 50 credits a month spent, resets 1 \w+, 00:00/);
    expect(item).toMatch(/last used .*, ends /);
  });

  it("a cap that has begun again shows nothing spent", async () => {
    const ada = await signInWithCredits();
    const cap = { credits: 50, period: "day" };
    const token = await getToken(ada, { cap }, {});
    await token.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 12 });
    passTime(DAY_MS);
    expect((await open(ada)).text).toContain("0 of 50 credits a day (UTC) spent");
  });

  it("a token without a cap says so, and one that only reads has no caps", async () => {
    const ada = await signIn();
    await getToken(ada, { scopes: ["read"], cap: { credits: 5 } }, { client_name: "Reader" });
    await getToken(ada, {}, { client_name: "Spender" });
    const items = itemsOf((await open(ada)).text);
    const itemOf = (name: string) => items.find((item) => item.includes(name));
    expect(itemOf("Spender")).toContain("No limit but your balance.");
    expect(itemOf("Reader")).not.toMatch(/limit|spent/);
  });

  it("agents are listed under the connection that they come from, and revoking it ends them too", async () => {
    const ada = await signIn();
    const token = await getToken(ada, {}, { client_name: "Parent" });
    const parent_id = await tokenId(token);
    await getToken(ada, {}, { client_name: "Newer" });
    await addChild(ada, parent_id, "child");
    await addChild(ada, "child", "grandchild");
    const { text } = await open(ada);
    expect(itemsOf(text).map((item) => item.trim().split(" ")[0])).toEqual([
      "Newer",
      "Parent",
      "child",
      "grandchild",
    ]);
    expect(text).toContain('<li class="below-1"><h2>child');
    expect(text).toContain('<li class="below-2"><h2>grandchild');
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
    const token = await getToken(ada, { apps: ["demo"], cap }, { client_name: "Old" });
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
});
