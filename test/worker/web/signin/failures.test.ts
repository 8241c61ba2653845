import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import { BACK, expectNobody, openBrowser } from "../../support/browser.ts";

const ADA = { sub: "ada", name: "Ada", email: "ada@example.com", email_verified: true };

describe("a sign-in that fails", () => {
  it("a cancelled sign-in says so and keeps the address to return to", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    const back = acme.approve(await browser.start("acme"), ADA);
    back.searchParams.delete("code");
    back.searchParams.set("error", "access_denied");
    const page = await browser.get(back.href);
    expect(page).toMatchObject({ status: 400, text: expect.stringContaining("was cancelled") });
    expect(page.text).toContain(`/signin/acme?redirect_to=${encodeURIComponent(BACK)}`);
  });

  it("an expired sign-in says that it took too long", async () => {
    const page = await openBrowser(connect(openProviderDouble("acme"))).get(
      "/signin/callback/acme?code=c&state=s",
    );
    expect(page).toMatchObject({ status: 400, text: expect.stringContaining("ten minutes") });
  });

  it.each([
    ["is down", () => new Response("down", { status: 503 })],
    ["cannot be reached", () => Promise.reject(new TypeError("connection refused"))],
    ["does not answer in time", () => Promise.reject(new DOMException("late", "TimeoutError"))],
  ])("a sign-in says that the provider %s, and the next attempt works", async (_case, answer) => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    acme.misbehave({ answer });
    const failed = await browser.signIn(acme, ADA);
    expect(failed).toMatchObject({
      status: 502,
      text: expect.stringContaining("is not responding"),
    });
    acme.misbehave({});
    expect((await browser.signIn(acme, ADA)).status).toBe(303);
  });

  it.each([null, ""])(
    "a callback with the code %j is refused without a request to the provider",
    async (code) => {
      const acme = openProviderDouble("acme");
      const browser = openBrowser(connect(acme));
      const back = acme.approve(await browser.start("acme"), ADA);
      if (code === null) back.searchParams.delete("code");
      else back.searchParams.set("code", code);
      const page = await browser.get(back.href);
      expect(page).toMatchObject({ status: 400, text: expect.stringContaining("couldn’t verify") });
      expect(acme.requests).toEqual([]);
    },
  );

  it("an error that a token endpoint sends with status 200, as GitHub does, is logged as an error", async () => {
    const log = vi.spyOn(console, "warn").mockReturnValue();
    const github = openProviderDouble("github-like", { scope: "read:user" });
    const browser = openBrowser(connect(github));
    github.misbehave({
      answer: (path) =>
        path === "/token" ? Response.json({ error: "bad_verification_code" }) : null,
    });
    const answer = await browser.signIn(github, ADA);
    await expectNobody(browser, answer.status);
    expect(log).toHaveBeenCalledWith({
      event: "signin_failed",
      provider: "github-like",
      failure: "provider_failed",
      reason: "bad_verification_code",
    });
  });

  it.each(["/token", "/jwks"])(
    "a failure of the provider at %s fails the sign-in",
    async (endpoint) => {
      const acme = openProviderDouble("acme");
      const browser = openBrowser(connect(acme));
      acme.misbehave({
        answer: (path) => (path === endpoint ? new Response("down", { status: 500 }) : null),
      });
      expect((await browser.signIn(acme, ADA)).status).toBe(502);
      acme.misbehave({});
      expect((await browser.signIn(acme, ADA)).status).toBe(303);
    },
  );

  it("an endless response of the provider is cut off", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    let sent_bytes = 0;
    acme.misbehave({
      answer: () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              sent_bytes += 65_536;
              controller.enqueue(new Uint8Array(65_536).fill(32));
            },
          }),
          { headers: { "Content-Type": "application/json" } },
        ),
    });
    expect((await browser.signIn(acme, ADA)).status).toBe(502);
    expect(sent_bytes).toBeLessThan(1_000_000);
  });

  it("a redirect of the token endpoint is not followed with the client's secret", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    acme.misbehave({ answer: () => Response.redirect("https://elsewhere.test/", 307) });
    expect((await browser.signIn(acme, ADA)).status).toBe(502);
    expect(acme.requests).toEqual([{ path: "/token", redirect: "manual" }]);
  });

  it("a failure of our own store is 503 and not blamed on the provider", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const browser = openBrowser(settings);
    const back = acme.approve(await browser.start("acme"), ADA);
    const DIRECTORY = new Proxy(env.DIRECTORY, {
      get: () => () => {
        throw new Error("D1_ERROR: no such place");
      },
    });
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const broken = openBrowser({ ...settings, DIRECTORY });
    broken.cookies.set("passbook_signin", browser.cookies.get("passbook_signin") ?? "");
    const page = await broken.get(back.href);
    expect(page).toMatchObject({
      status: 503,
      text: expect.stringContaining("temporarily unavailable"),
    });
    expect(page.text).not.toContain("D1_ERROR");
    expect(page.headers.get("Retry-After")).not.toBeNull();
  });
});
