/** If a provider's id is changed to another server, equal subjects there are different people. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { connect as connectVault, runOut } from "../../support/connected.ts";
import { fakeUpstream, PROVIDER } from "../../support/upstream.ts";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import { expectNobody, openBrowser, subjectOf, tokenOf } from "../../support/browser.ts";

const ADA = { sub: "4711", name: "Ada" };

let errors: unknown[][];
beforeEach(() => {
  errors = [];
  vi.spyOn(console, "error").mockImplementation((...values: { event?: string }[]) => {
    // Skips the entry that every failed request writes.
    if (values[0]?.event !== "request") errors.push(values);
  });
});

const serverNamed = (name: string) => openProviderDouble(name, { id: "acme" });
const enterprise = (overrides: object = {}) =>
  openProviderDouble("enterprise", { id: "acme", ...overrides });

/** Ada signs in while the id "acme" means acme. */
async function adaOfAcme() {
  const acme = openProviderDouble("acme");
  return subjectOf(tokenOf(await openBrowser(connect(acme)).signIn(acme, ADA)));
}

describe("signing in with a provider whose id named another issuer earlier", () => {
  it.each([
    ["an equal subject", ADA, "enterprise"],
    ["a subject of its own", { sub: "4712" }, "enterprise"],
    // The query searches for known issuers before and after the new one.
    ["a subject of its own, at a server earlier in the alphabet,", { sub: "4712" }, "aardvark"],
  ])(
    "a changed issuer with %s refuses the sign-in and tells the operator in the log",
    async (_, person, server) => {
      await adaOfAcme();
      const other = serverNamed(server);
      const browser = openBrowser(connect(other));
      const answer = await browser.signIn(other, person);
      expect(answer.status).toBe(500);
      expect(answer.text).toContain("not set up correctly");
      await expectNobody(browser, answer.status);
      expect(errors).toEqual([
        [
          {
            event: "provider_issuer_changed",
            provider: "acme",
            known_issuer: "https://acme.test",
            configured_issuer: `https://${server}.test`,
            remedy: expect.stringContaining("another id"),
          },
        ],
      ]);
      const count = await env.DIRECTORY.prepare("select count(*) as n from identities").first("n");
      expect(count).toBe(1);
    },
  );

  it("a changed issuer refuses linking", async () => {
    const ada_id = await adaOfAcme();
    const zeta = openProviderDouble("zeta");
    const other = enterprise();
    const browser = openBrowser(connect(zeta, other));
    const zoe_id = subjectOf(tokenOf(await browser.signIn(zeta, { sub: "zoe" })));
    expect(zoe_id).not.toBe(ada_id);
    const started = await browser.post("/account/link", { provider: "acme" });
    const back = other.approve(started.headers.get("Location") ?? "", { sub: "4712" });
    expect((await browser.get(back.href)).status).toBe(500);
    const rows = await env.DIRECTORY.prepare("select provider from identities where user_id = ?")
      .bind(zoe_id)
      .raw();
    expect(rows.flat()).toEqual(["zeta"]);
  });

  it("another issuer under its own id signs in its own people", async () => {
    const ada_id = await adaOfAcme();
    const other = openProviderDouble("enterprise");
    const landed = await openBrowser(connect(other)).signIn(other, ADA);
    expect(subjectOf(tokenOf(landed))).not.toBe(ada_id);
  });

  it("a new client of the same issuer signs in the same people", async () => {
    const ada_id = await adaOfAcme();
    const moved = openProviderDouble("acme", { client_id: "the-new-client" });
    const landed = await openBrowser(connect(moved)).signIn(moved, ADA);
    expect(subjectOf(tokenOf(landed))).toBe(ada_id);
    const row = await env.DIRECTORY.prepare("select issuer, client_id from identities").first();
    expect(row).toEqual({ issuer: "https://acme.test", client_id: "the-new-client" });
  });
});

describe("stored upstream tokens of a provider", () => {
  const elsewhere = {
    SIGNIN_PROVIDERS: JSON.stringify([
      { ...PROVIDER, issuer: "https://ghe.test", token_endpoint: "https://ghe.test/token" },
    ]),
  };
  const newClient = {
    SIGNIN_PROVIDERS: JSON.stringify([{ ...PROVIDER, client_id: "another" }]),
  };

  it("stored upstream tokens are neither returned for nor sent to another issuer under the same id", async () => {
    const upstream = fakeUpstream();
    const ada = await connectVault(upstream.grant(3600));
    const refused = { status: 404, body: { code: "reconnect_required" } };
    expect(await ada.oauthToken(elsewhere)).toMatchObject(refused);
    await runOut(ada);
    const requests_before = vi.mocked(globalThis.fetch).mock.calls.length;
    expect(await ada.oauthToken(elsewhere)).toMatchObject(refused);
    expect(vi.mocked(globalThis.fetch).mock.calls).toHaveLength(requests_before);
    expect(errors[0]?.[0]).toMatchObject({
      event: "upstream_tokens_of_another_issuer",
      provider: "acme",
      known_issuer: PROVIDER.issuer,
      configured_issuer: "https://ghe.test",
      remedy: expect.any(String),
    });
    // The tokens are still stored, and work again when the settings name the first server.
    expect((await ada.oauthToken()).status).toBe(200);
  });

  it("a stored access token is valid under a new client, but the new client does not renew it", async () => {
    const upstream = fakeUpstream();
    const ada = await connectVault(upstream.grant(3600));
    expect((await ada.oauthToken(newClient)).status).toBe(200);
    await runOut(ada);
    expect((await ada.oauthToken(newClient)).body.code).toBe("reconnect_required");
    expect(upstream.requests).toHaveLength(0);
    expect((await ada.oauthToken()).status).toBe(200);
  });

  it("a refresh token is not carried over to a sign-in with another issuer or client", async () => {
    const upstream = fakeUpstream();
    const ada = await connectVault(upstream.grant(-1));
    const { refresh_token: _, ...first } = upstream.grant(-1);
    await ada.keep({ ...first, refresh_token: null, client_id: "another" });
    expect((await ada.oauthToken(newClient)).body.code).toBe("reconnect_required");
    await ada.keep(upstream.grant(-1));
    await ada.keep({ ...first, refresh_token: null, issuer: "https://ghe.test" });
    expect((await ada.oauthToken(elsewhere)).body.code).toBe("reconnect_required");
    expect(upstream.requests).toHaveLength(0);
  });
});
