/** Ending a session and revoking a token ask first and confirm afterwards, without a script. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { ListedBrowser } from "../../../../src/http/allowances/access_list.ts";
import { groupSessions } from "../../../../src/web/account/session_groups.ts";
import { decodeJwt } from "jose";
import { getToken, postForm, tokenId } from "../../support/device_logins.ts";
import { connect } from "../../support/oauth_clients.ts";
import { send, signIn, type SignedIn } from "../../support/passbook.ts";

const open = (person: SignedIn, path: string) =>
  send("GET", path, { headers: { Cookie: person.cookies, Accept: "text/html" } });

const words = (html: string): string => html.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");

const idsIn = (html: string): string[] =>
  [...html.matchAll(/name="session_id" value="([^"]+)"/g)].map(([, id = ""]) => id);

function session(id: string, more: Partial<ListedBrowser> = {}): ListedBrowser {
  const at = { created_at_ms: 1, last_used_at_ms: 1 };
  return { id, browser: null, place: null, current: false, ...at, ...more };
}

describe("groups of sessions", () => {
  it("sessions of the same browser and place are one group, with this browser first", () => {
    const groups = groupSessions([
      session("a", { browser: "Firefox", last_used_at_ms: 9 }),
      session("b", { browser: "Chrome", current: true }),
      session("c", { browser: "Firefox", place: "Lisbon", last_used_at_ms: 5 }),
      session("d", { browser: "Firefox", created_at_ms: 7 }),
      session("e", { browser: "Chrome" }),
    ]);
    expect(groups.map(({ sessions }) => sessions.map(({ id }) => id).join(""))).toEqual([
      "be",
      "ad",
      "c",
    ]);
    expect(groups[1]).toMatchObject({ signed_in_at_ms: 7, last_used_at_ms: 9, current: false });
  });

  it("the page of access shows three groups of browsers and folds the others", async () => {
    const ada = await signIn();
    for (let count = 0; count < 4; count += 1) await signIn();
    // Each session but Ada's own gets its own browser.
    await env.DIRECTORY.prepare(
      "update sessions set browser = id where id <> (select min(id) from sessions)",
    ).run();
    const { text } = await open(ada, "/account/access");
    const section = text.slice(text.indexOf('id="browsers"'));
    const [shown = "", folded = ""] = section.split("<details>");
    expect(shown.match(/<li>/g)).toHaveLength(3);
    expect(words(folded)).toContain("2 more browsers");
    expect(folded.split("</details>")[0]?.match(/<li>/g)).toHaveLength(2);
    expect(shown).toMatch(/data-shown="clock"/);
  });
});

describe("ending sessions", () => {
  it("the page asks before sessions end, and only names the person's own", async () => {
    const ada = await signIn();
    const elsewhere = [await signIn(), await signIn()];
    const bob = await signIn("bob@example.com");
    const ids = idsIn((await open(ada, "/account/access")).text);
    expect(ids).toHaveLength(2);
    const query = new URLSearchParams(ids.map((id) => ["session_id", id]));
    const asked = await open(ada, `/account/end-session?${query.toString()}`);
    expect(words(asked.text)).toContain("End 2 sessions?");
    expect(idsIn(asked.text)).toEqual(ids);
    for (const person of elsewhere) expect((await open(person, "/account")).status).toBe(200);
    const foreign = await open(bob, `/account/end-session?${query.toString()}`);
    expect(foreign.status).toBe(303);

    const body = new URLSearchParams(ids.map((id) => ["session_id", id]));
    const headers = { Cookie: ada.cookies, Origin: "http://passbook.localhost" };
    const ended = await send("POST", "/account/end-session", { headers, body });
    const notice = await open(ada, ended.headers.get("Location") ?? "");
    expect(words(notice.text)).toContain("That browser has to sign in again.");
    for (const person of elsewhere) expect((await open(person, "/account")).status).toBe(303);
  });

  it("the page offers to revoke a connection that was only connected again in the session that ends", async () => {
    const [ada, elsewhere] = [await signIn(), await signIn()];
    await connect(ada);
    await connect(elsewhere, { limits: null });
    const { sid } = decodeJwt<{ sid: string }>(elsewhere.token);
    const asked = await open(ada, `/account/end-session?session_id=${sid}`);
    expect(words(asked.text)).toContain("Also revoke 1 connection or token approved there");
  });

  it("a form with too many sessions is refused", async () => {
    const ada = await signIn();
    const body = new URLSearchParams(Array.from({ length: 51 }, (_, i) => ["session_id", `${i}`]));
    const headers = { Cookie: ada.cookies, Origin: "http://passbook.localhost" };
    expect((await send("POST", "/account/end-session", { headers, body })).status).toBe(400);
  });
});

describe("revoking a token", () => {
  it("the page asks before a token is revoked, and confirms it", async () => {
    const ada = await signIn();
    const token = await getToken(ada, { apps: ["demo"] }, { client_name: "Old <laptop>" });
    const personal_token_id = await tokenId(token);
    const path = `/account/access/revoke?id=${personal_token_id}`;
    const asked = await open(ada, path);
    expect(asked.text).toContain("Revoke “Old &lt;laptop&gt;”?");
    expect((await token.get("/api/wallet?app=demo")).status).toBe(200);
    const done = await postForm(ada, "/account/access/revoke", { id: personal_token_id });
    expect((await token.get("/api/wallet")).status).toBe(401);
    const page = await open(ada, done.headers.get("Location") ?? "");
    expect(words(page.text)).toContain("Revoked. It stopped here at once.");
    expect((await open(ada, path)).status).toBe(303);
  });

  it("the page that asks about a token of another person shows nothing of it", async () => {
    const ada = await signIn();
    const id = await tokenId(await getToken(ada, {}, { client_name: "Secret plan" }));
    const bob = await signIn("bob@example.com");
    const asked = await open(bob, `/account/access/revoke?id=${id}`);
    expect(asked.status).toBe(303);
    expect(asked.text).not.toContain("Secret plan");
  });
});
