import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { newEncryptionKeys } from "../../../../src/commands/development_settings.ts";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import { expectNobody, openBrowser, subjectOf, tokenOf } from "../../support/browser.ts";
import { send } from "../../support/passbook.ts";

const ADA = { sub: "ada", name: "Ada", email: "ada@example.com", email_verified: true };
const MALLORY = { sub: "mallory", email: "mallory@example.com", email_verified: true };

async function signInCount(): Promise<number> {
  const row = await env.DIRECTORY.prepare("select count(*) as n from sessions").first<{
    n: number;
  }>();
  return row?.n ?? 0;
}

describe("a callback that this browser did not start", () => {
  it("a callback without a flow cookie is refused, and its code is not redeemed", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const back = acme.approve(await openBrowser(settings).start("acme"), ADA);
    const victim = openBrowser(settings);
    const answer = await victim.get(back.href);
    await expectNobody(victim, answer.status);
    expect(acme.requests).toEqual([]);
  });

  it("a callback with the flow cookie of another flow is refused (login CSRF)", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const forged = acme.approve(await openBrowser(settings).start("acme"), MALLORY);
    const victim = openBrowser(settings);
    const own = await victim.start("acme");
    const answer = await victim.get(forged.href);
    await expectNobody(victim, answer.status);
    expect(acme.requests).toEqual([]);
    // The victim's own flow is still open: a forged response does not end it.
    expect((await victim.get(acme.approve(own, ADA).href)).status).toBe(303);
  });

  it("a callback with a forged state is refused", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    const back = acme.approve(await browser.start("acme"), ADA);
    back.searchParams.set("state", "forged");
    await expectNobody(browser, (await browser.get(back.href)).status);
  });

  it("a callback without a state is refused", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    const back = acme.approve(await browser.start("acme"), ADA);
    back.searchParams.delete("state");
    await expectNobody(browser, (await browser.get(back.href)).status);
  });

  it("a stolen code that is injected into another flow is refused (PKCE)", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const stolen = acme.approve(await openBrowser(settings).start("acme"), ADA);
    const attacker = openBrowser(settings);
    const own = acme.approve(await attacker.start("acme"), MALLORY);
    own.searchParams.set("code", stolen.searchParams.get("code") ?? "");
    await expectNobody(attacker, (await attacker.get(own.href)).status);
  });

  it("a replayed callback is refused", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    const back = acme.approve(await browser.start("acme"), ADA);
    const kept_flow = browser.cookies.get("passbook_signin") ?? "";
    expect((await browser.get(back.href)).status).toBe(303);
    expect((await browser.get(back.href)).status).toBe(400);
    // The old flow cookie does not help either, because the provider accepts a code only once.
    browser.cookies.set("passbook_signin", kept_flow);
    expect((await browser.get(back.href)).status).toBe(502);
    expect(await signInCount()).toBe(1);
  });

  it("a callback more than ten minutes after the start is refused", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    const back = acme.approve(await browser.start("acme"), ADA);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11 * 60 * 1000 });
    const answer = await browser.get(back.href);
    expect(answer.text).toContain("ten minutes");
    await expectNobody(browser, answer.status);
  });
});

describe("a flow cookie", () => {
  it("an altered flow cookie is not accepted", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    const back = acme.approve(await browser.start("acme"), ADA);
    const flow = browser.cookies.get("passbook_signin") ?? "";
    const middle = flow.length - 40;
    const other = flow[middle] === "A" ? "B" : "A";
    browser.cookies.set("passbook_signin", flow.slice(0, middle) + other + flow.slice(middle + 1));
    await expectNobody(browser, (await browser.get(back.href)).status);
  });

  it("a flow cookie does not reveal its contents", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    const authorization_url = new URL(await browser.start("acme"));
    const flow = browser.cookies.get("passbook_signin") ?? "";
    const readable = flow
      .split(".")
      .map((part) => atob(part.replaceAll("-", "+").replaceAll("_", "/")));
    for (const secret of ["state", "nonce"]) {
      expect(readable.join()).not.toContain(authorization_url.searchParams.get(secret));
    }
  });

  it("a flow cookie is accepted only for the base URL that it was made for", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const elsewhere = openBrowser({ ...settings, BASE_URL: "http://staging.localhost" });
    const back = acme.approve(await elsewhere.start("acme"), ADA);
    const browser = openBrowser(settings);
    browser.cookies.set("passbook_signin", elsewhere.cookies.get("passbook_signin") ?? "");
    const answer = await browser.get(`/signin/callback/acme${back.search}`);
    await expectNobody(browser, answer.status);
    expect(acme.requests).toEqual([]);
  });

  it("under https, a flow cookie that a sibling subdomain set is not read", async () => {
    const acme = openProviderDouble("acme");
    const settings = { ...connect(acme), DEV_SIGNIN: "false", BASE_URL: "https://id.family.test" };
    const attacker = openBrowser(settings);
    const back = acme.approve(await attacker.start("acme"), MALLORY);
    const flow = attacker.cookies.get("__Host-passbook_signin") ?? "";
    const victim = openBrowser(settings);
    // A sibling host can set any cookie name except those with the __Host- prefix.
    victim.cookies.set("passbook_signin", flow);
    await expectNobody(victim, (await victim.get(back.href)).status);
  });

  it("a flow cookie is valid after a key rotation only while the old key is kept", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const [fresh] = JSON.parse(newEncryptionKeys()).keys;
    const old = JSON.parse(env.ENCRYPTION_KEYS).keys;
    for (const [keys, status] of [
      [[fresh], 400],
      [[fresh, ...old], 303],
    ] as const) {
      const before = openBrowser(settings);
      const back = acme.approve(await before.start("acme"), ADA);
      const after = openBrowser({ ...settings, ENCRYPTION_KEYS: JSON.stringify({ keys }) });
      after.cookies.set("passbook_signin", before.cookies.get("passbook_signin") ?? "");
      expect((await after.get(back.href)).status).toBe(status);
    }
  });

  it("a flow cookie is not accepted as a session, nor a session cookie as a flow", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const browser = openBrowser(settings);
    const back = acme.approve(await browser.start("acme"), ADA);
    const flow = browser.cookies.get("passbook_signin") ?? "";
    const headers = { Authorization: `Bearer ${flow}` };
    expect((await send("GET", "/api/wallet", { headers }, settings)).status).toBe(401);
    const landed = await browser.get(back.href);
    const other = openBrowser(settings);
    other.cookies.set("passbook_signin", tokenOf(landed) ?? "");
    await expectNobody(other, (await other.get(back.href)).status);
  });
});

describe("a response from the wrong provider", () => {
  it("a callback whose iss names another issuer is refused", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    const back = acme.approve(await browser.start("acme"), ADA);
    back.searchParams.set("iss", "https://evil.test");
    const answer = await browser.get(back.href);
    expect(answer.text).toContain("couldn’t verify");
    await expectNobody(browser, answer.status);
    expect(acme.requests).toEqual([]);
  });

  it("a callback without iss is refused for a provider that always sends it", async () => {
    const acme = openProviderDouble("acme", {
      authorization_response_iss_parameter_supported: true,
    });
    const browser = openBrowser(connect(acme));
    const back = acme.approve(await browser.start("acme"), ADA);
    back.searchParams.delete("iss");
    await expectNobody(browser, (await browser.get(back.href)).status);
    expect(acme.requests).toEqual([]);
  });

  it("a callback without iss is accepted for a provider that does not promise it", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    const back = acme.approve(await browser.start("acme"), ADA);
    back.searchParams.delete("iss");
    expect((await browser.get(back.href)).status).toBe(303);
  });

  it("a response at another provider's callback is refused (mix-up)", async () => {
    const acme = openProviderDouble("acme");
    const evil = openProviderDouble("evil");
    const browser = openBrowser(connect(acme, evil));
    const back = acme.approve(await browser.start("acme"), ADA);
    back.searchParams.delete("iss");
    const answer = await browser.get(`/signin/callback/evil${back.search}`);
    await expectNobody(browser, answer.status);
    expect(evil.requests).toEqual([]);
  });
});

describe("an ID token", () => {
  const flip = (token: string, part: 1 | 2): string => {
    const parts = token.split(".");
    const text = parts[part] ?? "";
    parts[part] = text.slice(0, 10) + (text[10] === "A" ? "B" : "A") + text.slice(11);
    return parts.join(".");
  };
  const forge = (token: string, change: object, header?: object): string => {
    const [head = "", payload = "", signature = ""] = token.split(".");
    const decode = (part: string) =>
      JSON.parse(atob(part.replaceAll("-", "+").replaceAll("_", "/")));
    const encode = (value: object) =>
      btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    const new_head = header === undefined ? head : encode({ ...decode(head), ...header });
    return [new_head, encode({ ...decode(payload), ...change }), header ? "" : signature].join(".");
  };

  it.each([
    ["another subject", { id_token: (token: string) => forge(token, { sub: "admin" }) }],
    ["an altered signature", { id_token: (token: string) => flip(token, 2) }],
    ["no signature", { id_token: (token: string) => forge(token, {}, { alg: "none" }) }],
    ["another nonce", { claims: (claims: object) => ({ ...claims, nonce: "of-another-flow" }) }],
    ["another audience", { claims: (claims: object) => ({ ...claims, aud: "another-client" }) }],
    ["another issuer", { claims: (claims: object) => ({ ...claims, iss: "https://evil.test" }) }],
    ["an end long past", { claims: (claims: object) => ({ ...claims, iat: 1, exp: 2 }) }],
    ["no subject", { claims: (claims: object) => ({ ...claims, sub: "" }) }],
  ])("an ID token with %s signs no one in", async (_case, misbehaviour) => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    acme.misbehave(misbehaviour);
    await expectNobody(browser, (await browser.signIn(acme, ADA)).status);
    expect(await signInCount()).toBe(0);
  });

  it("a missing ID token is refused if the scope openid was requested", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    acme.misbehave({
      answer: (path) =>
        path === "/token"
          ? Response.json({ access_token: "a", token_type: "Bearer", expires_in: 60 })
          : null,
    });
    await expectNobody(browser, (await browser.signIn(acme, ADA)).status);
  });

  it("an ID token and a user-info response about different people are refused", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    acme.misbehave({
      claims: ({ email: _email, ...claims }) => claims,
      answer: (path) => (path === "/userinfo" ? Response.json(MALLORY) : null),
    });
    await expectNobody(browser, (await browser.signIn(acme, ADA)).status);
  });
});

describe("an e-mail address", () => {
  it.each(["true", "false", 1, {}, null])(
    "email_verified: %j does not verify an e-mail address",
    async (email_verified) => {
      const acme = openProviderDouble("acme");
      await openBrowser(connect(acme)).signIn(acme, { ...ADA, email_verified });
      const row = await env.DIRECTORY.prepare("select email, email_verified from users").first();
      expect(row).toEqual({ email: "ada@example.com", email_verified: 0 });
    },
  );

  it("the same e-mail address at two providers does not join two people", async () => {
    const acme = openProviderDouble("acme");
    const evil = openProviderDouble("evil");
    const settings = connect(acme, evil);
    const ada = await openBrowser(settings).signIn(acme, ADA);
    const other = await openBrowser(settings).signIn(evil, ADA);
    expect(subjectOf(tokenOf(other))).not.toBe(subjectOf(tokenOf(ada)));
  });
});
