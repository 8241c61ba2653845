/** The page on which the holder approves one job beyond a cap. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { RATE_LIMITS } from "../../../../src/domain/rate_limits.ts";
import { APPROVAL_TTL_MS } from "../../../../src/domain/job_approval.ts";
import { query } from "../../support/account_object.ts";
import {
  fromOwnPage,
  getToken,
  postForm,
  tokenId,
  type TokenHolder,
} from "../../support/device_logins.ts";
import { countedEnvironment } from "../../support/bindings.ts";
import { openBrowser } from "../../support/browser.ts";
import { earlyInAMinute } from "../../support/clock.ts";
import {
  BASE_URL,
  send,
  signIn,
  signInWithCredits,
  type SignedIn,
} from "../../support/passbook.ts";
import { openStripe, SELLING } from "../../payments/till.ts";

const JOB = { app: "demo", action: "render <b>a film</b>", cost_estimate: 30 };

let ada: SignedIn;
let agent: TokenHolder;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2027-02-10T12:00:00Z") });
  ada = await signInWithCredits("demo");
  agent = await getToken(ada, { caps: [{ credits: 20, period: "month" }] });
});

const ask = async (job: object = JOB) => {
  const { body } = await agent.post("/api/jobs", job);
  return { approval: body.approval as string, path: new URL(body.approval_url).pathname };
};

const open = (person: SignedIn, path: string, headers: Record<string, string> = {}) =>
  send("GET", path, { headers: { Cookie: person.cookies, Accept: "text/html", ...headers } });

const words = (html: string): string => html.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");

const decisions = () => query(ada.identity_id, "select state from approvals where state <> 'open'");

describe("the page of an approval", () => {
  it("the page shows the connection, the app, the action, the amount, the limit and the balance", async () => {
    await agent.post("/api/jobs", { ...JOB, cost_estimate: 12 });
    const { path } = await ask();
    const page = await open(ada, path);
    expect(page.status).toBe(200);
    expect(page.headers.get("Cache-Control")).toBe("no-store");
    expect(page.headers.get("Content-Security-Policy")).toContain("frame-ancestors 'none'");
    const text = words(page.text);
    for (const part of [
      "Approve this job?",
      "Demo",
      "&lt;b&gt;a film&lt;/b&gt;",
      "Costs at most 30 credits",
      "20 credits a month: 12 spent, 8 left",
      "Your balance 88 credits",
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain("not enough for this job");
    const { path: dear } = await ask({ ...JOB, cost_estimate: 89 });
    expect(words((await open(ada, dear)).text)).toContain("not enough for this job");
    expect(await decisions()).toEqual([]);
  });

  it("a person whose balance does not cover the job buys credits and returns to the page", async () => {
    const stripe = openStripe();
    const { path } = await ask({ ...JOB, action: "映".repeat(200), cost_estimate: 150 });
    const headers = { Cookie: ada.cookies, Accept: "text/html" };
    const page = await send("GET", path, { headers }, SELLING);
    expect(words(page.text)).toContain("50 credits short");
    const buy = /href="(\/account\?[^"]+)#buy"/.exec(page.text)?.[1] ?? "";
    const packages = await send("GET", buy, { headers }, SELLING);
    expect(words(packages.text)).toContain("Back to the approval");
    const return_to = /name="return_to" value="([^"]+)"/.exec(packages.text)?.[1] ?? "";
    const body = new URLSearchParams({ package: "small", return_to });
    const own = { Cookie: ada.cookies, Origin: BASE_URL };
    await send("POST", "/account/buy", { headers: own, body }, SELLING);
    const [session] = [...stripe.sessions.values()];
    for (const address of [session?.cancel_url, session?.success_url]) {
      const back = new URL((address ?? "").replace("{CHECKOUT_SESSION_ID}", "cs_1"));
      const paid = await send("GET", `${back.pathname}${back.search}`, { headers }, SELLING);
      expect(paid.text).toContain(`href="${BASE_URL}${path}">Back to the approval`);
    }
  });

  it("the page does not offer credits where nothing is for sale, or where the balance covers the job", async () => {
    const headers = { Cookie: ada.cookies, Accept: "text/html" };
    const { path: dear } = await ask({ ...JOB, cost_estimate: 150 });
    const unsold = await send("GET", dear, { headers });
    expect(words(unsold.text)).toContain("50 credits short");
    expect(unsold.text).not.toContain("#buy");
    const { path } = await ask();
    expect((await send("GET", path, { headers }, SELLING)).text).not.toContain("#buy");
  });

  it("a person who is not signed in signs in and returns to the page", async () => {
    const { path } = await ask();
    const browser = openBrowser();
    const sent = await browser.get(path);
    const signin = new URL(sent.headers.get("Location") ?? "");
    expect(sent.status).toBe(303);
    const back = new URL(signin.searchParams.get("redirect_to") ?? "");
    expect([signin.pathname, back.pathname]).toEqual(["/signin", path]);
    const posted = await browser.post(`${path}/approve`);
    const again = new URL(posted.headers.get("Location") ?? "").searchParams.get("redirect_to");
    expect(new URL(again ?? "").pathname).toBe(path);
    expect(await decisions()).toEqual([]);
  });

  it.each([
    ["approve", "You approved this job"],
    ["deny", "You denied this job"],
  ])(
    "a person who chooses %s sees what they decided, and cannot change it",
    async (choice, title) => {
      const { path } = await ask();
      const decided = await postForm(ada, `${path}/${choice}`, {});
      expect([decided.status, decided.headers.get("Location")]).toEqual([303, path]);
      const other = choice === "approve" ? "deny" : "approve";
      await postForm(ada, `${path}/${other}`, {});
      const page = await open(ada, path);
      expect(words(page.text)).toContain(title);
      expect(page.text).not.toContain('action="/approve');
      expect(await decisions()).toEqual([{ state: choice === "approve" ? "approved" : "denied" }]);
    },
  );

  it("a used approval says so and links to the jobs", async () => {
    const { path, approval } = await ask();
    await postForm(ada, `${path}/approve`, {});
    await agent.post("/api/jobs", { ...JOB, approval });
    const page = await open(ada, path);
    expect(words(page.text)).toContain("This approval was used");
    expect(page.text).toContain('href="/account/jobs"');
  });

  it("another account learns nothing of the request, and cannot decide it", async () => {
    const { path } = await ask();
    const bob = await signIn("bob@example.com");
    const page = await open(bob, path);
    expect(page.status).toBe(404);
    expect(words(page.text)).toContain("This request is for another account");
    expect(words(page.text)).toContain("You are signed in as bob@example.com.");
    expect(page.text).toContain("/signin?redirect_to=");
    for (const secret of ["film", "30 credits", "Demo"]) expect(page.text).not.toContain(secret);
    expect((await postForm(bob, `${path}/approve`, {})).status).toBe(404);
    expect(await decisions()).toEqual([]);
  });

  it("a link, an image and a form of another site approve nothing", async () => {
    const { path } = await ask();
    const foreign = { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" };
    expect((await open(ada, path, { "Sec-Fetch-Site": "cross-site" })).status).toBe(200);
    expect((await open(ada, `${path}/approve`, foreign)).status).toBe(405);
    for (const headers of [foreign, { Origin: "http://localhost:3000" }, {}]) {
      const posted = await send("POST", `${path}/approve`, {
        headers: { Cookie: ada.cookies, ...headers },
        body: new URLSearchParams(),
      });
      expect(posted.status).toBe(403);
    }
    const bearer = { Authorization: `Bearer ${ada.token}`, ...fromOwnPage(ada), Cookie: "" };
    const by_token = await send("POST", `${path}/approve`, { headers: bearer });
    expect(by_token.status).toBe(303);
    expect(by_token.headers.get("Location")).toContain("/signin?");
    expect(await decisions()).toEqual([]);
  });

  it("an expired request, an unknown link and an ended token have a page each with the next step", async () => {
    const { path } = await ask();
    const unknown = await open(ada, `${path.slice(0, -3)}AAA`);
    expect([
      unknown.status,
      words(unknown.text).includes("the link is incomplete or too old"),
    ]).toEqual([404, true]);
    vi.setSystemTime(Date.now() + APPROVAL_TTL_MS);
    for (const page of [await open(ada, path), await postForm(ada, `${path}/approve`, {})]) {
      expect([page.status, words(page.text).includes("This request has expired")]).toEqual([
        410,
        true,
      ]);
    }
    const { path: second } = await ask();
    await agent.revoke(await tokenId(agent));
    for (const page of [await open(ada, second), await postForm(ada, `${second}/approve`, {})]) {
      expect([page.status, words(page.text).includes("revoked or has expired")]).toEqual([
        410,
        true,
      ]);
    }
    expect(await decisions()).toEqual([]);
  });

  it("a suspended holder can neither open the page nor decide", async () => {
    const { path } = await ask();
    const account = (await import("cloudflare:workers")).env.ACCOUNT.getByName(ada.identity_id);
    await account.suspend();
    expect(words((await open(ada, path)).text)).toContain("suspended");
    expect((await postForm(ada, `${path}/approve`, {})).status).toBe(403);
    expect(await decisions()).toEqual([]);
  });

  it("a person who opens and decides too often gets 429", async () => {
    await earlyInAMinute();
    const { path } = await ask();
    const { count } = RATE_LIMITS.consent;
    for (let times = 0; times < count; times += 1) expect((await open(ada, path)).status).toBe(200);
    expect((await open(ada, path)).status).toBe(429);
    expect((await postForm(ada, `${path}/approve`, {})).status).toBe(429);
    expect(await decisions()).toEqual([]);
  });

  it("a job with an approval makes one object call, and no query, KV read or fetch", async () => {
    const { path, approval } = await ask();
    await postForm(ada, `${path}/approve`, {});
    const { environment, hops } = countedEnvironment();
    const headers = { Authorization: `Bearer ${agent.token}`, "Content-Type": "application/json" };
    await send("GET", "/api/wallet?app=demo", { headers }, environment);
    Object.assign(hops, { account: 0, d1: 0, kv: 0 });
    const body = JSON.stringify({ ...JOB, approval });
    expect((await send("POST", "/api/jobs", { headers, body }, environment)).status).toBe(200);
    expect(hops).toEqual({ account: 1, d1: 0, kv: 0 });
  });
});
