/** The way back from the pages that a 402 response names: docs/personal-tokens.md, "One job beyond the limit". */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { HOLDER } from "../../../../src/account/contract.ts";
import { registerApp } from "../../support/directory_outage.ts";
import { serveDocuments } from "../../support/authorizations.ts";
import { postForm } from "../../support/device_logins.ts";
import { CLIENT_ID, connect, REDIRECT_URI } from "../../support/oauth_clients.ts";
import {
  BASE_URL,
  forgetEnvironments,
  send,
  signInWithCredits,
  type Answer,
  type SignedIn,
} from "../../support/passbook.ts";
import { registerClient } from "../../support/registrations.ts";
import { openStripe, SELLING } from "../../payments/till.ts";

const DAY_MS = 86_400_000;
const JOB = { app: "demo", action: "render a film", cost_estimate: 30 };
const CAP = { credits: 20, period: "total" } as const;
const LIMITS = { app_slugs: null, caps: [CAP], expires_at_ms: Date.now() + 9_000 * DAY_MS };

let ada: SignedIn;
beforeEach(async () => {
  ada = await signInWithCredits("demo");
  await registerApp("demo", { origins_json: '["https://demo.example"]' });
  await registerApp("other", { origins_json: '["https://other.example"]' });
  await registerClient("demo", "cli", {
    public: 1,
    redirect_uris_json: '["http://127.0.0.1/callback","com.example.app:/done"]',
  });
  forgetEnvironments();
});

const words = (html: string): string => html.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");

/** The 402 of a connected client, by default the one that a document describes. */
async function refuse(client: object = {}, settings: object = {}): Promise<Answer> {
  const { access_token } = await connect(ada, { limits: LIMITS, ...client });
  const headers = { Authorization: `Bearer ${access_token}`, "Content-Type": "application/json" };
  const body = JSON.stringify(JOB);
  return send("POST", "/api/jobs", { headers, body }, settings);
}

const CLI = { client_id: "demo~cli", client_host: null };

async function approvalPath(return_to: string, client: object = {}): Promise<string> {
  const url = new URL((await refuse(client)).body.approval_url);
  url.searchParams.set("return_to", return_to);
  return url.pathname + url.search;
}

const open = (path: string, settings: object = {}): Promise<Answer> =>
  send("GET", path, { headers: { Cookie: ada.cookies, Accept: "text/html" } }, settings);

/** The address to which the page's form is sent. */
const formOf = (page: Answer, attribute: "action" | "formaction"): string =>
  (new RegExp(` ${attribute}="([^"]+)"`).exec(page.text)?.[1] ?? "").replaceAll("&amp;", "&");

const stateOf = (): Promise<string[]> =>
  import("../../support/account_object.ts").then(async ({ query }) =>
    (await query<{ state: string }>(ada.identity_id, "select state from approvals")).map(
      ({ state }) => state,
    ),
  );

describe("the way back from an approval", () => {
  it.each([
    ["the app's origin", "https://demo.example/studio?draft=7", {}],
    ["a loopback redirect address, on any port", "http://127.0.0.1:5123/anything", CLI],
    ["a redirect address with a scheme of its own", "com.example.app:/elsewhere", CLI],
  ])("an address on %s gets the person back with the decision", async (_, address, client) => {
    const path = await approvalPath(address, client);
    const page = await open(path);
    expect(page.status).toBe(200);
    const approved = await postForm(ada, formOf(page, "action"), {});
    expect(approved.status).toBe(303);
    const back = new URL(approved.headers.get("Location") ?? "");
    expect(back.searchParams.get("result")).toBe("approved");
    back.searchParams.delete("result");
    expect(back.href).toBe(address);
    expect((await open(path)).text).toContain("result=approved");
  });

  it("an address on the origin of a document client's redirect address gets the person back, also if they denied", async () => {
    serveDocuments([
      { client_id: CLIENT_ID, client_name: "A client", redirect_uris: [REDIRECT_URI] },
    ]);
    const page = await open(await approvalPath("https://client.example.com/jobs/7"));
    expect(words(page.text)).toContain("You return to client.example.com");
    const denied = await postForm(ada, formOf(page, "formaction"), {});
    expect(denied.headers.get("Location")).toBe("https://client.example.com/jobs/7?result=denied");
    expect(await stateOf()).toEqual(["denied"]);
  });

  it.each([
    "https://evil.example/film",
    "https://other.example/",
    "https://demo.example.evil.example/",
    "https://demo.example@evil.example/",
    "http://demo.example/",
    "https://demo.example:444/",
    "javascript:alert(1)",
    "com.example.other:/done",
    "http://localhost:5123/callback",
    `${BASE_URL}/account`,
    `https://demo.example/${"x".repeat(2_000)}`,
  ])(
    "a way back to %s is refused: the page shows nothing of the request, and nothing is decided",
    async (address) => {
      const path = await approvalPath(address, CLI);
      const page = await open(path);
      expect(page.status).toBe(400);
      expect(words(page.text)).toContain("This link leads back to an unknown address");
      for (const secret of ["render a film", "30 credits"]) expect(page.text).not.toContain(secret);
      expect(page.text).not.toContain(`href="${address}`);
      const posted = await postForm(ada, path.replace("?", "/approve?"), {});
      expect([posted.status, posted.headers.get("Location")]).toEqual([400, null]);
      expect(await stateOf()).toEqual(["open"]);
    },
  );

  it("a second decision leads to the page, which says what was decided first", async () => {
    const path = await approvalPath("https://demo.example/", CLI);
    const page = await open(path);
    await postForm(ada, formOf(page, "formaction"), {});
    const approved = await postForm(ada, formOf(page, "action"), {});
    expect(approved.headers.get("Location")).toBe(path);
    const shown = await open(path);
    expect(words(shown.text)).toContain("You denied this job");
    expect(shown.text).toContain('href="https://demo.example/?result=denied"');
  });

  it("the page says how much was approved beyond a limit that is used up", async () => {
    const { access_token } = await connect(ada, { limits: LIMITS });
    const headers = { Authorization: `Bearer ${access_token}`, "Content-Type": "application/json" };
    const create = (more: object) =>
      send("POST", "/api/jobs", { headers, body: JSON.stringify({ ...JOB, ...more }) });
    const { approval } = (await create({})).body;
    await env.ACCOUNT.getByName(ada.identity_id).decideApproval(HOLDER, approval, true);
    await env.ACCOUNT.getByName(ada.identity_id).adjustCredits(
      { amount: 100, note: "a reason", allow_negative: false },
      null,
    );
    expect((await create({ approval })).status).toBe(200);
    const next = (await create({ cost_estimate: 1 })).body;
    const page = await open(new URL(next.approval_url).pathname);
    expect(words(page.text)).toContain(
      "20 credits in total: 30 spent (30 of them approved beyond it), 0 left",
    );
  });
});

describe("topup_url", () => {
  it("both codes with status 402 have it where credits are for sale, and null elsewhere", async () => {
    openStripe();
    const budget = await refuse({}, SELLING);
    expect(budget.body).toMatchObject({ code: "token_budget_exceeded" });
    expect(budget.body.topup_url).toBe(
      `${BASE_URL}/account?client=${encodeURIComponent(CLIENT_ID)}#buy`,
    );
    expect((await refuse()).body.topup_url).toBeNull();
    const headers = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ ...JOB, cost_estimate: 1_000 });
    const balance = await send("POST", "/api/jobs", { headers, body }, SELLING);
    expect(balance).toMatchObject({
      status: 402,
      body: { code: "insufficient_credits", topup_url: `${BASE_URL}/account#buy` },
    });
    const batch = JSON.stringify({ jobs: [{ ...JOB, cost_estimate: 1_000 }] });
    const items = await send("POST", "/api/jobs/batch", { headers, body: batch }, SELLING);
    expect(items.body.results).toMatchObject([{ topup_url: `${BASE_URL}/account#buy` }]);
  });

  it("the pages keep the way back to a connected client through the purchase, and lead there with its result", async () => {
    const stripe = openStripe();
    const address = new URL((await refuse(CLI, SELLING)).body.topup_url);
    address.searchParams.set("return_to", "http://127.0.0.1:5123/jobs");
    const page = await open(address.pathname + address.search, SELLING);
    expect(words(page.text)).toContain("Back to 127.0.0.1:5123");
    const fields = Object.fromEntries(
      [...page.text.matchAll(/name="(return_to|client)" value="([^"]+)"/g)].map(
        ([, name, value]) => [name ?? "", value ?? ""],
      ),
    );
    expect(fields).toEqual({ return_to: "http://127.0.0.1:5123/jobs", client: "demo~cli" });
    const body = new URLSearchParams({ package: "small", ...fields });
    const own = { Cookie: ada.cookies, Origin: BASE_URL };
    await send("POST", "/account/buy", { headers: own, body }, SELLING);
    const [session] = [...stripe.sessions.values()];
    const { deliver } = await import("../../payments/till.ts");
    const waiting = new URL(
      (session?.success_url ?? "").replace("{CHECKOUT_SESSION_ID}", session?.id ?? ""),
    );
    const before = await open(waiting.pathname + waiting.search, SELLING);
    expect(before.text).not.toContain("result=bought");
    await deliver(stripe.completes(session?.id ?? ""));
    const after = await open(waiting.pathname + waiting.search, SELLING);
    expect(after.text).toContain('href="http://127.0.0.1:5123/jobs?result=bought"');
  });

  it("an address of a client that the person did not connect is refused", async () => {
    openStripe();
    const query = new URLSearchParams({
      return_to: "http://127.0.0.1:5123/jobs",
      client: "demo~cli",
    }).toString();
    const page = await open(`/account?${query}`, SELLING);
    expect(page.status).toBe(400);
    expect(page.text).not.toContain('href="http://127.0.0.1');
  });
});
