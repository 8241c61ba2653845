/** Upstream tokens of people whose app signs in with Clerk. */
import { describe, expect, it, vi } from "vitest";
import { openBrowser, subjectOf, tokenOf } from "../../../support/browser.ts";
import { CLERK_SECRET_KEY, openClerk } from "../../../support/clerk_double.ts";
import { openIssuer, trust } from "../../../support/issuer_double.ts";
import { openProviderDouble } from "../../../support/provider_double.ts";
import { send, type Answer } from "../../../support/passbook.ts";

const ISSUER = "https://clerk.test";
const ADA = { sub: "user_ada", name: "Ada" };

async function open(entry: object = { upstream: true }) {
  const double = await openIssuer(ISSUER);
  const clerk = openClerk();
  const provider = openProviderDouble("clerk");
  const zeta = openProviderDouble("zeta");
  const api = {
    origin: "https://api.clerk.com",
    handle: (request: Request) => clerk.handle(request),
  };
  const settings = {
    ...trust(
      [{ double, entry: { preset: "clerk", upstream_tokens: "clerk", ...entry } }],
      [provider, zeta],
      [api],
    ),
    CLERK_SECRET_KEY,
    SOCIAL_PROVIDER: "github",
  };
  clerk.connect("user_ada", "github", { kind: "token", token: "gho_ada" });
  return { double, clerk, provider, zeta, settings };
}

const call = (settings: object, token: string, path = "/api/oauthToken/github"): Promise<Answer> =>
  send("GET", path, { headers: { Authorization: `Bearer ${token}` } }, settings);

describe("upstream tokens from Clerk", () => {
  it("an app gets its person's token with a token of Clerk", async () => {
    const { double, settings } = await open();
    const token = await double.token({ sub: "user_ada" });
    expect(await call(settings, token)).toMatchObject({ status: 200, body: { token: "gho_ada" } });
    expect((await call(settings, token, "/api/socialToken")).body).toEqual({ token: "gho_ada" });
    const none = await call(settings, token, "/api/oauthToken/google");
    expect(none).toMatchObject({ status: 404, body: { code: "token_not_found" } });
  });

  it("a person who signed in on our pages with Clerk gets the same token", async () => {
    const { provider, settings } = await open({});
    const token = tokenOf(await openBrowser(settings).signIn(provider, ADA)) ?? "";
    expect((await call(settings, token)).body).toEqual({ token: "gho_ada" });
  });

  it("without upstream in the entry, a token of Clerk gets no upstream token, and Clerk is not asked", async () => {
    const { double, clerk, settings } = await open({});
    const refused = await call(settings, await double.token({ sub: "user_ada" }));
    expect(refused).toMatchObject({ status: 403, body: { code: "scope" } });
    expect(clerk.requests).toEqual([]);
  });

  it("a person without an identity at Clerk has no token there", async () => {
    const { clerk, zeta, settings } = await open();
    const token = tokenOf(await openBrowser(settings).signIn(zeta, { sub: "zoe" })) ?? "";
    expect((await call(settings, token)).body.code).toBe("token_not_found");
    expect(clerk.requests).toEqual([]);
  });

  it("after unlinking Clerk the person's tokens there are not read", async () => {
    const { clerk, provider, zeta, settings } = await open();
    const browser = openBrowser(settings);
    const zoe = tokenOf(await browser.signIn(zeta, { sub: "zoe" })) ?? "";
    const started = await browser.post("/account/link", { provider: "clerk" });
    await browser.get(provider.approve(started.headers.get("Location") ?? "", ADA).href);
    expect((await call(settings, zoe)).body).toEqual({ token: "gho_ada" });
    await browser.post("/account/unlink", { provider: "clerk" });
    const asked = clerk.requests.length;
    expect((await call(settings, zoe)).body.code).toBe("token_not_found");
    expect(clerk.requests).toHaveLength(asked);
    expect(subjectOf(zoe)).toMatch(/^user_/);
  });

  it("Clerk down is 502, and a connection that Clerk cannot renew is 404 reconnect_required", async () => {
    const { double, clerk, settings } = await open();
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const token = await double.token({ sub: "user_ada" });
    clerk.respond(() => new Response("down", { status: 500 }));
    const down = await call(settings, token);
    expect(down).toMatchObject({ status: 502, body: { code: "upstream_unavailable" } });
    clerk.respond(null);
    const code = "oauth_token_retrieval_error";
    clerk.connect("user_ada", "github", { kind: "cannot_renew", code });
    const over = await call(settings, token);
    expect(over).toMatchObject({ status: 404, body: { code: "reconnect_required" } });
  });
});
