import { env } from "cloudflare:workers";
import { createExecutionContext } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import worker from "../../../../src/worker.ts";
import { DAY_MS } from "../../../../src/domain/calendar.ts";
import { passTime } from "../../support/clock.ts";
import { BASE_URL, signIn, type SignedIn } from "../../support/passbook.ts";
import { signInOperator } from "../../http/api/admin/operators.ts";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0";
const SAFARI =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 " +
  "(KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
const LISBON = { city: "Lisbon", country: "PT" };

interface BrowserSomewhere {
  /** The same cookies in another browser. */
  elsewhere(user_agent: string, cf: object): BrowserSomewhere;
  get(path: string): Promise<string>;
  post(path: string, form: Record<string, string>): Promise<string>;
  signIn(): Promise<string>;
}

/** A browser at a location, with the cookies that it was given. */
function openBrowserAt(user_agent: string | null, cf: object, carried = ""): BrowserSomewhere {
  let cookies = carried;
  const go = async (path: string, init: RequestInit = {}): Promise<string> => {
    const headers = new Headers(init.headers);
    headers.set("Accept", "text/html");
    headers.set("Origin", BASE_URL);
    if (cookies !== "") headers.set("Cookie", cookies);
    if (user_agent !== null) headers.set("User-Agent", user_agent);
    const request = new Request(BASE_URL + path, {
      ...init,
      headers,
      cf,
      redirect: "manual",
    } as RequestInit);
    const answer = await worker.fetch(request, env, createExecutionContext());
    const set = answer.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
    if (set.length > 0) cookies = set.join("; ");
    return answer.text();
  };
  return {
    elsewhere: (other: string, there: object) => openBrowserAt(other, there, cookies),
    get: (path: string) => go(path),
    post: (path: string, form: Record<string, string>) =>
      go(path, { method: "POST", body: new URLSearchParams(form) }),
    signIn: () =>
      go("/signin/dev", {
        method: "POST",
        body: new URLSearchParams({ email: "ada@example.com" }),
      }),
  };
}

const rows = async () =>
  (await env.DIRECTORY.prepare("select * from sessions order by created_at_ms").all()).results;

/** The text of each signed-in browser on a page. */
function listed(page: string): string[] {
  const [, list = ""] = /id="browsers".*?<ul[^>]*>(.*?)<\/ul>/s.exec(page) ?? [];
  return [...list.matchAll(/<li>(.*?)<\/li>/gs)].map(([, item = ""]) =>
    item
      .replace(/<form.*/s, "")
      .replace(/<[^>]+>/g, " ")
      .replace(/\s+/g, " ")
      .trim(),
  );
}

describe("signed-in browsers", () => {
  it("signed-in browsers are listed with name and location, and each can be ended", async () => {
    const laptop = openBrowserAt(FIREFOX, LISBON);
    await laptop.signIn();
    const phone = openBrowserAt(SAFARI, { city: null, country: "DE" });
    await phone.signIn();
    const browsers = listed(await laptop.get("/account/access"));
    expect(browsers).toHaveLength(2);
    expect(browsers.find((it) => it.startsWith("Firefox on Linux this browser"))).toContain(
      "Lisbon, Portugal",
    );
    expect(browsers.find((it) => it.startsWith("Safari on iOS"))).toContain("Germany");
    const [, other] = await rows();
    await laptop.post("/account/end-session", { session_id: String(other?.["id"]) });
    expect(listed(await laptop.get("/account/access"))).toHaveLength(1);
    expect(await phone.get("/account")).toBe("");
  });

  it("an unknown browser is listed as 'A browser'", async () => {
    await openBrowserAt(null, {}).signIn();
    const laptop = openBrowserAt(FIREFOX, {});
    await laptop.signIn();
    const browsers = listed(await laptop.get("/account/access"));
    expect(browsers.find((it) => it.startsWith("A browser"))).toMatch(
      /^A browser signed in \d+ \w+, \d\d:\d\d$/,
    );
  });

  it("the last use of a session is written at most once a day", async () => {
    const laptop = openBrowserAt(FIREFOX, LISBON);
    await laptop.signIn();
    const [before] = await rows();
    // The same cookie in another place, which its person should notice.
    const thief = laptop.elsewhere(SAFARI, { city: "Elsewhere", country: "FR" });
    await thief.get("/account");
    expect(await rows()).toEqual([before]);
    passTime(DAY_MS);
    await thief.get("/account");
    expect(await rows()).toMatchObject([
      { id: before?.["id"], browser: "Safari on iOS", city: "Elsewhere", country: "FR" },
    ]);
  });

  it("only the parsed name of a User-Agent is stored, and the data download contains it", async () => {
    const laptop = openBrowserAt(`${FIREFOX} for ada's own eyes`, LISBON);
    await laptop.signIn();
    const dump = JSON.stringify(await rows());
    for (const more of ["142.0", "Gecko", "eyes", "x86"]) expect(dump).not.toContain(more);
    const data = JSON.parse(await laptop.get("/account/data.json"));
    expect(data.sessions).toMatchObject([{ browser: "Firefox on Linux", ...LISBON }]);
  });

  it("operators see the same names of browsers", async () => {
    const olga = await signInOperator();
    const laptop = openBrowserAt(FIREFOX, LISBON);
    await laptop.signIn();
    const ada: SignedIn = await signIn();
    const { body } = await olga.get(`/api/admin/accounts/${ada.identity_id}`);
    const shown = body.sessions.map((it: { browser: string | null; place: string | null }) => [
      it.browser,
      it.place,
    ]);
    expect(shown).toContainEqual(["Firefox on Linux", "Lisbon, Portugal"]);
  });
});
