/** A personal token that its holder makes without a device. */
import { describe, expect, it } from "vitest";
import { query } from "../../support/account_object.ts";
import { earlyInAMinute, passTime } from "../../support/clock.ts";
import { holderOf, postForm } from "../../support/device_logins.ts";
import { operatorOnPages } from "../../http/api/admin/operators.ts";
import {
  BASE_URL,
  send,
  signIn,
  signInWithCredits,
  type SignedIn,
} from "../../support/passbook.ts";

const PATH = "/account/tokens/new";
const FORM = {
  label: "Nightly build",
  access: "write",
  reach: "some",
  other_apps: "demo",
  credits: "40",
  period: "month",
  days: "30",
};

const open = (person: SignedIn, path: string) =>
  send("GET", path, { headers: { Cookie: person.cookies, Accept: "text/html" } });

const make = (person: SignedIn, form: Record<string, string> = {}) =>
  postForm(person, PATH, { ...FORM, ...form });

function tokenIn(html: string): string {
  return /<textarea[^>]*>(pb_pat_[^<]+)<\/textarea>/.exec(html)?.[1] ?? "";
}

const DAY_MS = 24 * 60 * 60 * 1000;

describe("a token without a device", () => {
  it("a made token works within the limits and the lifetime of its form", async () => {
    const ada = await signInWithCredits();
    const made = await make(ada);
    expect(made.status).toBe(200);
    expect(made.headers.get("Cache-Control")).toBe("no-store");
    const holder = holderOf(tokenIn(made.text));
    const { tokens } = (await holder.get("/api/tokens")).body;
    expect(tokens).toMatchObject([
      {
        label: "Nightly build",
        app: null,
        scopes: ["read", "write"],
        apps: ["demo"],
        caps: [{ credits: 40, period: "month" }],
        ends_with_session: false,
      },
    ]);
    const lifetime_ms = Date.parse(tokens[0].expires_at) - Date.parse(tokens[0].created_at);
    expect(Math.round(lifetime_ms / DAY_MS)).toBe(30);
    const job = { app: "demo", action: "draw", cost_estimate: 41 };
    expect((await holder.post("/api/jobs", job)).status).toBe(402);
    passTime(31 * DAY_MS);
    expect((await holder.get("/api/wallet")).status).toBe(401);
  });

  it("the token is shown once and stored nowhere", async () => {
    const ada = await signIn();
    const token = tokenIn((await make(ada)).text);
    for (const path of ["/account/access", "/account/data.json", PATH]) {
      expect((await open(ada, path)).text).not.toContain(token.slice(-20));
    }
    const rows = JSON.stringify(await query(ada.identity_id, "select * from allowances"));
    expect(rows).toContain("Nightly build");
    expect(rows).not.toContain(token.slice(-20));
  });

  it("a made token remembers the session and the sign-in method that made it", async () => {
    const ada = await signIn();
    await make(ada);
    const [row] = await query(ada.identity_id, "select * from allowances");
    expect(row).toMatchObject({ signin_method: "dev", ends_with_session: 0 });
    const other = await signIn();
    const { session_id = "" } = (row ?? {}) as { session_id?: string };
    await postForm(other, "/account/end-session", { session_id, personal_tokens: "end" });
    expect(
      await query(other.identity_id, "select * from allowances where revoked_at_ms is null"),
    ).toEqual([]);
  });

  it("the form gives no rights beforehand to other services or to operate, and suggests no apps", async () => {
    const { text } = await open(await signIn(), PATH);
    for (const name of ["upstream", "admin", "reach", "app"]) {
      expect(text).not.toMatch(new RegExp(`name="${name}"[^>]* checked`));
    }
  });

  it.each([
    ["label", { label: " " }],
    ["label", { label: "x".repeat(81) }],
    ["label", { label: "a\u200bb" }],
    ["days", { days: "365" }],
    ["days", { days: "" }],
    ["apps", { reach: "" }],
    ["apps", { other_apps: "" }],
    ["access", { access: "admin" }],
    ["credits", { credits: "1.5" }],
  ])("a problem with %s makes no token and keeps the form", async (field, wrong) => {
    const ada = await signIn();
    const answer = await make(ada, wrong);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(`id="${field}_problem"`);
    expect(answer.text).not.toContain("pb_pat_");
    expect((await ada.getOwn("/api/tokens")).body.tokens).toEqual([]);
  });

  it("only our own page and a signed-in person can make a token", async () => {
    const ada = await signIn();
    const body = () => new URLSearchParams(FORM);
    for (const Origin of ["https://evil.example", "null", "http://localhost:3000"]) {
      const headers = { Cookie: ada.cookies, Origin };
      expect((await send("POST", PATH, { headers, body: body() })).status).toBe(403);
    }
    const bearer = { Authorization: `Bearer ${ada.token}`, Origin: BASE_URL };
    expect((await send("POST", PATH, { headers: bearer, body: body() })).status).toBe(303);
    expect((await ada.getOwn("/api/tokens")).body.tokens).toEqual([]);
  });

  it("only an operator can make a token that operates the service", async () => {
    const ada = await signIn();
    expect((await make(ada, { admin: "yes" })).status).toBe(403);
    const settings = { OPERATORS: "ada@example.com" };
    const headers = { Cookie: ada.cookies, Origin: BASE_URL };
    const body = new URLSearchParams({ ...FORM, admin: "yes" });
    const made = await send("POST", PATH, { headers, body }, settings);
    const { person } = operatorOnPages(ada, settings);
    expect(person.identity_id).toBe(ada.identity_id);
    const Authorization = `Bearer ${tokenIn(made.text)}`;
    const listed = await send("GET", "/api/admin/apps", { headers: { Authorization } }, settings);
    expect(listed.status).toBe(200);
  });

  it("one account makes at most ten tokens a minute", async () => {
    await earlyInAMinute();
    const ada = await signIn();
    const statuses: number[] = [];
    for (let count = 0; count < 11; count += 1) statuses.push((await make(ada)).status);
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 200));
    expect(statuses[10]).toBe(429);
  });
});
