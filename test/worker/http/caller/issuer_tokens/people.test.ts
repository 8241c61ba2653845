/** The person behind a token of a trusted issuer: the same one who signs in on our pages with the same issuer. */
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { openBrowser, subjectOf, tokenOf } from "../../../support/browser.ts";
import { openIssuer, trust } from "../../../support/issuer_double.ts";
import { openProviderDouble } from "../../../support/provider_double.ts";
import { operatorOnPages, SETTINGS, signInOperator } from "../../api/admin/operators.ts";
import { forgetEnvironments, send, type Answer } from "../../../support/passbook.ts";

const ACME = "https://acme.test";
const ADA = { sub: "ada", name: "Ada", email: "ada@example.com", email_verified: true };

const call = (settings: object, token: string, path: string, method = "GET"): Promise<Answer> =>
  send(method, path, { headers: { Authorization: `Bearer ${token}` } }, settings);

async function identityOf(settings: object, token: string): Promise<string> {
  const wallet = await call(settings, token, "/api/wallet?app=demo");
  expect(wallet.status).toBe(200);
  return wallet.body.account.identity_id;
}

async function open(entry: object = {}) {
  const double = await openIssuer(ACME);
  const acme = openProviderDouble("acme");
  const zeta = openProviderDouble("zeta");
  const settings = trust([{ double, entry }], [acme, zeta]);
  return { double, acme, zeta, settings };
}

async function deleteAccount(browser: Browser): Promise<void> {
  const deleted = await browser.post("/account/delete", { confirmation: "delete" });
  expect(deleted.status).toBeLessThan(400);
}
type Browser = ReturnType<typeof openBrowser>;

describe("the person of a token", () => {
  it("a token after a sign-in with the same issuer is of the same person", async () => {
    const { double, acme, settings } = await open();
    const signed_in = subjectOf(tokenOf(await openBrowser(settings).signIn(acme, ADA)));
    expect(await identityOf(settings, await double.token({ sub: "ada" }))).toBe(signed_in);
  });

  it("a sign-in after a token of the same issuer is of the same person", async () => {
    const { double, acme, settings } = await open();
    const identity_id = await identityOf(settings, await double.token({ sub: "ada" }));
    const signed_in = await openBrowser(settings).signIn(acme, ADA);
    expect(subjectOf(tokenOf(signed_in))).toBe(identity_id);
  });

  it("a sign-in with a provider that was added later, under any id, is of the same person", async () => {
    const double = await openIssuer(ACME);
    const before = trust([{ double, entry: { preset: "clerk" } }]);
    const identity_id = await identityOf(before, await double.token({ sub: "ada" }));
    const acme = openProviderDouble("acme");
    const after = trust([{ double, entry: { preset: "clerk" } }], [acme]);
    const browser = openBrowser(after);
    expect(subjectOf(tokenOf(await browser.signIn(acme, ADA)))).toBe(identity_id);
    expect((await browser.get("/account")).status).toBe(200);
    expect(await identityOf(after, await double.token({ sub: "ada", sid: "s2" }))).toBe(
      identity_id,
    );
  });

  it("a provider with another issuer has the same people if the entry names it", async () => {
    const double = await openIssuer("https://tokens.acme.test");
    const acme = openProviderDouble("acme");
    const settings = trust([{ double, entry: { provider: "acme" } }], [acme]);
    const signed_in = subjectOf(tokenOf(await openBrowser(settings).signIn(acme, ADA)));
    expect(await identityOf(settings, await double.token({ sub: "ada" }))).toBe(signed_in);
  });

  it("an equal subject of another issuer is another person", async () => {
    const first = await openIssuer(ACME);
    const second = await openIssuer("https://other.test");
    const settings = trust([{ double: first }, { double: second }]);
    expect(await identityOf(settings, await first.token())).not.toBe(
      await identityOf(settings, await second.token()),
    );
  });

  it("the tokens of a linked identity open the account that it was linked to", async () => {
    const { double, acme, zeta, settings } = await open();
    const browser = openBrowser(settings);
    const zoe_id = subjectOf(tokenOf(await browser.signIn(zeta, { sub: "zoe" })));
    const started = await browser.post("/account/link", { provider: "acme" });
    await browser.get(acme.approve(started.headers.get("Location") ?? "", ADA).href);
    expect(await identityOf(settings, await double.token({ sub: "ada" }))).toBe(zoe_id);
  });

  it("a token issued before its identity was unlinked is refused, and a later one is of another person", async () => {
    const { double, acme, zeta, settings } = await open();
    const browser = openBrowser(settings);
    const zoe_id = subjectOf(tokenOf(await browser.signIn(zeta, { sub: "zoe" })));
    const started = await browser.post("/account/link", { provider: "acme" });
    await browser.get(acme.approve(started.headers.get("Location") ?? "", ADA).href);
    const before = await double.token({ sub: "ada", iat: Math.floor(Date.now() / 1000) - 60 });
    await browser.post("/account/unlink", { provider: "acme" });
    const refused = await call({ ...settings }, before, "/api/wallet");
    expect(refused.status).toBe(401);
    expect(refused.body.error).toContain("deleted");
    const later = await double.token({ sub: "ada", iat: Math.floor(Date.now() / 1000) + 1 });
    const wallet = await call({ ...settings }, later, "/api/wallet?app=demo");
    expect(wallet.body.account.identity_id).not.toBe(zoe_id);
    // An identity that ever belonged to an account earns no starter credits again.
    expect(wallet.body.account.credits).toBe(0);
  });
});

describe("the profile of a token's person", () => {
  const person = async (settings: object, token: string) => {
    const { name, email, email_verified } = (await call(settings, token, "/api/me")).body;
    return { name, email, email_verified };
  };

  it("a new person has the name and the verified address of the token", async () => {
    const { double, settings } = await open();
    const token = await double.token({ ...ADA });
    expect(await person(settings, token)).toEqual({
      name: "Ada",
      email: "ada@example.com",
      email_verified: true,
    });
  });

  it.each([false, "true", 1, undefined])(
    "an address whose email_verified is %s is not verified",
    async (email_verified) => {
      const { double, settings } = await open();
      const token = await double.token({ ...ADA, email_verified });
      expect((await person(settings, token)).email_verified).toBe(false);
    },
  );

  it("an address in a claim of the operator's own is not verified by email_verified", async () => {
    const { double, settings } = await open({ email_claim: "https://acme.test/mail" });
    const token = await double.token({ ...ADA, "https://acme.test/mail": "eve@example.com" });
    expect(await person(settings, token)).toEqual({
      name: "Ada",
      email: "eve@example.com",
      email_verified: false,
    });
  });

  it("a token without a profile leaves the profile of a sign-in as it is", async () => {
    const { double, acme, settings } = await open();
    await openBrowser(settings).signIn(acme, ADA);
    const token = await double.token({ sub: "ada" });
    expect(await person(settings, token)).toMatchObject({ name: "Ada", email_verified: true });
  });

  it("a token that does not verify the address leaves the verification of a sign-in", async () => {
    const { double, acme, settings } = await open();
    await openBrowser(settings).signIn(acme, ADA);
    const token = await double.token({ sub: "ada", email: ADA.email });
    expect(await person(settings, token)).toMatchObject({ name: "Ada", email_verified: true });
  });

  it("a token with another address replaces the address and its verification", async () => {
    const { double, acme, settings } = await open();
    await openBrowser(settings).signIn(acme, ADA);
    const token = await double.token({ sub: "ada", email: "new@example.com" });
    expect(await person(settings, token)).toMatchObject({
      email: "new@example.com",
      email_verified: false,
    });
  });

  it("the address of a trusted issuer without a sign-in provider makes nobody an operator", async () => {
    const double = await openIssuer(ACME);
    const settings = {
      ...trust([{ double, entry: { preset: "clerk" } }]),
      OPERATORS: "ada@example.com,clerk:ada@example.com",
      DEV_SIGNIN: "false",
      BASE_URL: "https://passbook.test",
      DEFAULT_STARTER_CREDITS: undefined,
    };
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const token = await double.token({ ...ADA, azp: undefined });
    const me = await call(settings, token, "/api/me");
    expect(me.body).toMatchObject({ email_verified: true, operator: false });
  });
});

describe("new people of a trusted issuer", () => {
  const peopleOf = () => env.DIRECTORY.prepare("select count(*) as n from users").first("n");

  it("one network makes at most 30 people of an issuer in a minute, and known people still pass", async () => {
    const { double, settings } = await open();
    const tokens = await Promise.all(
      Array.from({ length: 40 }, (_, index) => double.token({ sub: `person-${index}` })),
    );
    const statuses: number[] = [];
    for (const token of tokens) statuses.push((await call(settings, token, "/api/me")).status);
    expect(statuses).toEqual([...Array(30).fill(200), ...Array(10).fill(429)]);
    expect(await peopleOf()).toBe(30);
    // Another isolate does not remember them, and finds them in the directory.
    forgetEnvironments();
    const known = await double.token({ sub: "person-0", sid: "s2" });
    expect((await call(settings, known, "/api/me")).status).toBe(200);
  });

  it("the limit of one issuer leaves the people of another one, and sign-ins, alone", async () => {
    const double = await openIssuer(ACME);
    const other = await openIssuer("https://other.test");
    const acme = openProviderDouble("acme");
    const limiter = {
      limit: async ({ key }: { key: string }) => ({ success: !key.includes(ACME) }),
    };
    const settings = {
      ...trust([{ double }, { double: other }], [acme]),
      LIMIT_ISSUER_PERSON: limiter,
    };
    const refused = await call(settings, await double.token(), "/api/wallet");
    expect([refused.status, refused.body.code]).toEqual([429, "rate_limited"]);
    expect((await call(settings, await other.token(), "/api/wallet")).status).toBe(200);
    expect(subjectOf(tokenOf(await openBrowser(settings).signIn(acme, ADA)))).toMatch(/^user_/);
  });

  it("a new person gets starter credits only if the issuer's entry says so", async () => {
    const { double, settings } = await open({ starter_credits: false });
    const { body } = await call(settings, await double.token(), "/api/wallet?app=demo");
    expect(body.account.credits).toBe(0);
    expect(body.app_grant.granted).toBe(false);
    const rich = await open({ starter_credits: true });
    const given = await call(
      rich.settings,
      await rich.double.token({ sub: "b" }),
      "/api/wallet?app=demo",
    );
    expect(given.body.account.credits).toBe(100);
  });

  it("a person who signed in first keeps their starter credits whatever the entry says", async () => {
    const { double, acme, settings } = await open({ starter_credits: false });
    await openBrowser(settings).signIn(acme, ADA);
    const token = await double.token({ sub: "ada" });
    const { body } = await call(settings, token, "/api/wallet?app=demo");
    expect(body.app_grant.granted).toBe(true);
  });
});

describe("an address in a token of a trusted issuer", () => {
  it("a claimed address does not make an operator's look-up of the person who proved it ambiguous", async () => {
    const double = await openIssuer("https://other.test");
    const acme = openProviderDouble("acme");
    const settings = trust([{ double }], [acme]);
    const ada = subjectOf(tokenOf(await openBrowser(settings).signIn(acme, ADA)));
    await identityOf(settings, await double.token({ ...ADA, sub: "mallory" }));
    const { person } = await signInOperator();
    const olga = operatorOnPages(person, { ...SETTINGS, ...settings });
    const found = await olga.get("/api/admin/accounts/ada@example.com");
    expect(found.status).toBe(200);
    expect(found.body.account.identity_id).toBe(ada);
  });
});

describe("a token of a person who may not use the service", () => {
  it("a suspended person gets 403 suspended", async () => {
    const { double, acme, settings } = await open();
    const browser = openBrowser(settings);
    const identity_id = subjectOf(tokenOf(await browser.signIn(acme, ADA)));
    const token = await double.token({ sub: "ada" });
    await identityOf(settings, token);
    await env.ACCOUNT.getByName(identity_id).suspend();
    for (const path of ["/api/wallet", "/api/sessionToken", "/api/me"]) {
      const refused = await call(settings, token, path);
      expect(refused.body.code, path).toBe("suspended");
    }
  });

  it("a token issued before its person deleted the account is 401 in every isolate", async () => {
    const { double, acme, settings } = await open();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    const token = await double.token({ sub: "ada" });
    const identity_id = await identityOf(settings, token);
    await deleteAccount(browser);
    expect((await call(settings, token, "/api/wallet")).status).toBe(401);
    // An isolate that never saw the person.
    const elsewhere = { ...settings };
    expect((await call(elsewhere, token, "/api/wallet")).status).toBe(401);
    expect((await call(elsewhere, token, "/api/sessionToken")).body.signin_url).toBeDefined();
    expect(await env.DIRECTORY.prepare("select count(*) as n from identities").first("n")).toBe(0);
    const later = await double.token({ sub: "ada", iat: Math.floor(Date.now() / 1000) + 1 });
    const wallet = await call({ ...settings }, later, "/api/wallet?app=demo");
    expect(wallet.body.account.identity_id).not.toBe(identity_id);
    expect(wallet.body.account.credits).toBe(0);
  });

  it("a token issued between two deletions of a person's accounts is 401 after the second", async () => {
    const { double, acme, settings } = await open();
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now });
    for (const at_ms of [now, now + 600_000]) {
      vi.setSystemTime(at_ms);
      const browser = openBrowser(settings);
      await browser.signIn(acme, ADA);
      await deleteAccount(browser);
    }
    const iat = Math.floor(now / 1000) + 300;
    const between = await double.token({ sub: "ada", iat, nbf: iat, exp: iat + 3_600 });
    expect((await call({ ...settings }, between, "/api/wallet")).status).toBe(401);
    vi.useRealTimers();
  });

  it("a token issued before a deletion does not open the account of the person who returned", async () => {
    const { double, acme, settings } = await open();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    const before = await double.token({ sub: "ada" });
    await identityOf(settings, before);
    await deleteAccount(browser);
    const returned = openBrowser(settings);
    const identity_id = subjectOf(tokenOf(await returned.signIn(acme, ADA)));
    const elsewhere = { ...settings };
    expect((await call(elsewhere, before, "/api/wallet")).status).toBe(401);
    const iat = Math.floor(Date.now() / 1000) + 1;
    const later = await double.token({ sub: "ada", iat });
    expect(await identityOf(elsewhere, later)).toBe(identity_id);
    expect((await call(elsewhere, before, "/api/wallet")).status).toBe(401);
  });

  it("a person who deleted the account has no starter credits under an id that the issuer got later", async () => {
    const double = await openIssuer(ACME);
    const acme = openProviderDouble("acme");
    const entry = { preset: "clerk" };
    const alone = trust([{ double, entry }]);
    const identity_id = await identityOf(alone, await double.token({ sub: "ada" }));
    const operator = await signInOperator();
    const request = { confirm: identity_id, reason: "requested" };
    const deleted = await operator.send("DELETE", `/api/admin/accounts/${identity_id}`, request);
    expect(deleted.status).toBe(200);
    const both = trust([{ double, entry }], [acme]);
    const browser = openBrowser(both);
    const signed_in = tokenOf(await browser.signIn(acme, ADA));
    const wallet = await call(both, signed_in ?? "", "/api/wallet?app=demo");
    expect(wallet.body.account.credits).toBe(0);
  });

  it("signing out everywhere leaves the token valid, because the app's own service ends its sessions", async () => {
    const { double, acme, settings } = await open();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    const token = await double.token({ sub: "ada" });
    await identityOf(settings, token);
    await browser.post("/account/signout-everywhere", {});
    expect((await call(settings, token, "/api/wallet")).status).toBe(200);
  });

  it("an identity under an id that names another issuer now is refused and reported", async () => {
    const { double, acme, settings } = await open();
    await openBrowser(settings).signIn(acme, ADA);
    const errors = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const moved = await openIssuer("https://moved.test");
    const other = openProviderDouble("acme", { issuer: "https://moved.test" });
    const now = trust([{ double, entry: { preset: "clerk" } }, { double: moved }], [other]);
    forgetEnvironments();
    const refused = await call(now, await moved.token({ sub: "ada" }), "/api/wallet");
    expect(refused.status).toBe(401);
    expect(errors).toHaveBeenCalledWith(
      expect.objectContaining({ event: "provider_issuer_changed" }),
    );
  });
});

describe("the sign-in page", () => {
  it("a person of an issuer without a sign-in provider is told what to do", async () => {
    const double = await openIssuer(ACME);
    const warnings = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const settings = trust([{ double, entry: { preset: "clerk" } }]);
    const page = await send("GET", "/signin", { headers: { Accept: "text/html" } }, settings);
    expect(page.text).toContain("signs you in with Clerk");
    expect(warnings).toHaveBeenCalledWith(
      expect.objectContaining({ event: "trusted_issuer_incomplete", issuer: ACME }),
    );
  });

  it("an issuer with a sign-in provider is not mentioned", async () => {
    const { settings } = await open();
    const page = await send("GET", "/signin", { headers: { Accept: "text/html" } }, settings);
    expect(page.text).not.toContain("signs you in with");
  });
});
