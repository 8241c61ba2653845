import { describe, expect, it, vi } from "vitest";
import { getToken } from "../support/device_logins.ts";
import { dump } from "../support/account_object.ts";
import { earlyInAMinute } from "../support/clock.ts";
import { connect } from "../support/oauth_clients.ts";
import { send, signIn } from "../support/passbook.ts";
import { SETTINGS, signInOperator } from "../http/api/admin/operators.ts";
import { openAppServer } from "../http/caller/app_server.ts";
import { SECRET_KEY } from "./stripe_double.ts";
import { checkout, deliver, openCheckout, openStripe, RETURN_URL, SELLING } from "./till.ts";

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe("a checkout", () => {
  it("a checkout returns Stripe's address and tells Stripe the buyer, the package and the return address", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const answer = await checkout(ada);
    expect(answer.status).toBe(200);
    const [session] = stripe.sessions.values();
    expect(answer.body).toEqual({ url: session?.["url"] });
    const marks = {
      passbook_service: expect.stringMatching(/^[\w-]{43}$/),
      passbook_identity_id: ada.identity_id,
    };
    expect(session).toMatchObject({
      client_reference_id: ada.identity_id,
      price: "price_small",
      metadata: { ...marks, passbook_package: "small" },
      payment_intent_metadata: marks,
      success_url: `${RETURN_URL}&checkout=success&checkout_session={CHECKOUT_SESSION_ID}`,
      cancel_url: `${RETURN_URL}&checkout=cancelled`,
    });
    const [asked] = stripe.asked;
    expect(asked?.headers.get("Idempotency-Key")).toMatch(/^[\w-]{36,}$/);
  });

  it("opening a checkout changes nothing in the account", async () => {
    openStripe();
    const ada = await signIn();
    await ada.get("/api/wallet");
    const before = await dump(ada.identity_id);
    await checkout(ada);
    expect(await dump(ada.identity_id)).toBe(before);
  });

  it("one idempotency key opens one checkout, and the same key of another person another one", async () => {
    const stripe = openStripe();
    const [ada, bob] = [await signIn(), await signIn("bob@example.com")];
    const headers = { "Idempotency-Key": "once" };
    const first = await checkout(ada, {}, { headers });
    expect((await checkout(ada, {}, { headers })).body).toEqual(first.body);
    expect(stripe.sessions.size).toBe(1);
    const other = await checkout(ada, { package: "large" }, { headers });
    expect([other.status, other.body.code]).toEqual([422, "idempotency_key_reused"]);
    expect((await checkout(bob, {}, { headers })).status).toBe(200);
    expect(stripe.sessions.size).toBe(2);
  });

  it.each([
    ["an unknown package", { package: "huge" }, "package_unknown"],
    ["a foreign return address", { return_to: "https://evil.example/x" }, "return_to_not_allowed"],
    ["no address", { return_to: "javascript:alert(1)" }, "return_to_not_allowed"],
    ["no package", { package: undefined }, "invalid_request"],
  ])("a checkout with %s is refused before Stripe is called", async (_, body, code) => {
    const stripe = openStripe();
    const answer = await checkout(await signIn(), body);
    expect([answer.status, answer.body.code]).toEqual([400, code]);
    expect(stripe.asked).toEqual([]);
  });

  it("a checkout with a cookie from another site is refused", async () => {
    const stripe = openStripe();
    const { cookies } = await signIn();
    const headers = { Cookie: cookies, Origin: "https://evil.example" };
    const body = JSON.stringify({ package: "small", return_to: RETURN_URL });
    const init = { headers: { ...headers, "Content-Type": "application/json" }, body };
    expect((await send("POST", "/api/checkout", init, SELLING)).status).toBe(403);
    expect(stripe.asked).toEqual([]);
  });

  it.each([
    ["limited to an app", { apps: ["demo"] }, 403],
    ["with a cap", { caps: [{ credits: 5, period: "total" }] }, 403],
    ["that may only read", { scopes: ["read"] }, 403],
    ["without limits", {}, 200],
  ])("a personal token %s that opens a checkout gets %s", async (_, limits, status) => {
    const stripe = openStripe();
    const ada = await signIn();
    const { token } = await getToken(ada, limits);
    const answer = await checkout({ token });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.code).toBe("scope");
    expect(stripe.sessions.size).toBe(status === 200 ? 1 : 0);
  });

  it("a connection opens no checkout, because no consent page lists this right", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const { access_token: token } = await connect(ada);
    expect(await checkout({ token })).toMatchObject({ status: 403, body: { code: "scope" } });
    expect(stripe.sessions.size).toBe(0);
  });

  it("checkouts are limited for each person, with any credential", async () => {
    await earlyInAMinute();
    const stripe = openStripe();
    const [ada, bob] = [await signIn(), await signIn("bob@example.com")];
    for (let time = 0; time < 10; time += 1) expect((await checkout(ada)).status).toBe(200);
    expect((await checkout(ada)).body.code).toBe("rate_limited");
    const headers = { Cookie: ada.cookies, Origin: "http://passbook.localhost" };
    const body = new URLSearchParams({ package: "large" });
    expect((await send("POST", "/account/buy", { headers, body }, SELLING)).status).toBe(429);
    expect(stripe.sessions.size).toBe(10);
    expect((await checkout(bob)).status).toBe(200);
  });

  it("a checkout gets 503 if Stripe fails and 502 if Stripe refuses, without Stripe's reason", async () => {
    const stripe = openStripe();
    const spies = [vi.spyOn(console, "warn"), vi.spyOn(console, "error")];
    for (const spy of spies) spy.mockReturnValue();
    const ada = await signIn();
    vi.spyOn(stripe, "answer").mockRejectedValueOnce(new TypeError("broken"));
    const broken = await checkout(ada);
    expect([broken.status, broken.body.code]).toEqual([503, "payments_unavailable"]);
    expect(broken.headers.get("Retry-After")).toBe("5");
    for (const [theirs, ours] of [
      [500, 503],
      [429, 503],
      [409, 503],
      [302, 503],
    ] as const) {
      vi.spyOn(stripe, "answer").mockResolvedValueOnce(new Response("{}", { status: theirs }));
      expect((await checkout(ada)).status).toBe(ours);
    }
    delete stripe.prices["price_small"];
    const refused = await checkout(ada);
    expect([refused.status, refused.body.code]).toEqual([502, "payments_refused"]);
    const settings = { ...SELLING, STRIPE_SECRET_KEY: "sk_test_withdrawn" };
    const withdrawn = await checkout(ada, {}, { settings });
    expect([withdrawn.status, withdrawn.body.code]).toEqual([502, "payments_refused"]);
    const log = JSON.stringify(spies.map((spy) => spy.mock.calls));
    expect(log).toContain("resource_missing");
    for (const secret of [SECRET_KEY, "sk_test_", "gone"]) expect(log).not.toContain(secret);
  });

  it("a checkout never redirects to an address that is not http or https", async () => {
    const stripe = openStripe();
    vi.spyOn(console, "error").mockReturnValue();
    for (const origin of ["http://pay.example.com", "no address"]) {
      stripe.checkout_origin = origin;
      const answer = await checkout(await signIn());
      expect([answer.status, answer.body.code]).toEqual([503, "payments_unavailable"]);
    }
  });
});

describe("while nothing is for sale", () => {
  it.each([
    ["POST", "/api/checkout"],
    ["POST", "/webhooks/stripe"],
    ["POST", "/account/buy"],
    ["GET", "/account/paid"],
  ])("%s %s does not exist while nothing is for sale", async (method, path) => {
    const { token, cookies } = await signIn();
    for (const headers of [{}, { Authorization: `Bearer ${token}` }, { Cookie: cookies }]) {
      const answer = await send(method, path, { headers });
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    }
  });

  it("the account page offers no credits while nothing is for sale", async () => {
    const { cookies } = await signIn();
    const page = await send("GET", "/account", { headers: { Cookie: cookies } });
    expect(page.text).not.toContain("Buy credits");
  });
});

describe("the account page while credits are for sale", () => {
  it("the account page leads to the checkout and back to a page that shows only what was credited", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const headers = { Cookie: ada.cookies, Origin: "http://passbook.localhost" };
    const page = await send("GET", "/account", { headers }, SELLING);
    expect(page.text).toContain("Buy credits");
    const body = new URLSearchParams({ package: "large" });
    const left = await send("POST", "/account/buy", { headers, body }, SELLING);
    const [session] = stripe.sessions.values();
    expect([left.status, left.headers.get("Location")]).toEqual([303, session?.["url"]]);
    expect(session?.success_url).toMatch(/^http:\/\/passbook\.localhost\/account\/paid\?checkout=/);
    const back = session?.success_url.replace("{CHECKOUT_SESSION_ID}", session.id) ?? "";
    const paid = () => send("GET", back, { headers }, SELLING).then(({ text }) => text);
    expect(await paid()).toContain("Waiting for your payment");
    const cancelled = await send("GET", session?.cancel_url ?? "", { headers }, SELLING);
    expect(cancelled.text).toContain("Checkout cancelled");
    await deliver(stripe.completes(session?.id ?? ""));
    expect(await paid()).toContain("Thank you");
    const stranger = await signIn("eve@example.com");
    const theirs = await send("GET", back, { headers: { Cookie: stranger.cookies } }, SELLING);
    expect(theirs.text).toContain("Waiting for your payment");
  });

  it("the statement shows what was bought, taken back and returned", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const id = await openCheckout(ada, "large");
    await deliver(stripe.completes(id));
    const about = { amount: 3_333, status: "needs_response" };
    await deliver(stripe.disputes(id, "created", about));
    await deliver(stripe.disputes(id, "closed", { ...about, status: "won" }));
    const headers = { Cookie: ada.cookies };
    const { text } = await send("GET", "/account/statement.csv", { headers });
    const lines = text.split("\r\n").map((line) => line.split(",").slice(2, 4).join());
    expect(lines.slice(1, 4)).toEqual([
      '"Purchase restored","Large"',
      '"Purchase refunded","Large"',
      '"Credits bought","Large"',
    ]);
  });

  it("the purchase form is accepted only from its own page", async () => {
    const stripe = openStripe();
    const { cookies } = await signIn();
    const headers = { Cookie: cookies, Origin: "https://evil.example" };
    const body = new URLSearchParams({ package: "small" });
    const answer = await send("POST", "/account/buy", { headers, body }, SELLING);
    expect(answer.status).toBe(403);
    expect(stripe.asked).toEqual([]);
  });
});

it("the return address contains the checkout's id", async () => {
  openStripe();
  expect(await openCheckout(await signIn())).toBe("cs_test_1");
});

it("an app key opens no checkout, also in a suspended account, and counts towards nobody's limit", async () => {
  const stripe = openStripe();
  const operator = await signInOperator();
  const selling = { ...operator, settings: { ...SELLING, ...SETTINGS } };
  const server = await openAppServer("demo", {}, selling);
  const ada = await signIn();
  await send("GET", "/api/wallet?app=demo", { headers: bearer(ada.token) }, selling.settings);
  const headers = {
    Authorization: `Bearer ${server.key}`,
    "Passbook-Identity": ada.identity_id,
    "Content-Type": "application/json",
  };
  const body = JSON.stringify({ package: "small", return_to: RETURN_URL });
  for (let attempt = 0; attempt < 30; attempt += 1) {
    const answer = await send("POST", "/api/checkout", { headers, body }, selling.settings);
    expect([answer.status, answer.body.code]).toEqual([403, "scope"]);
  }
  expect(stripe.sessions.size).toBe(0);
  expect((await checkout(ada)).status).toBe(200);
});
