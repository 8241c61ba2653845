/** What a client learns of the limits that the person gave it (RFC 9396, section 7), and what it cannot get without them. */
import { beforeEach, describe, expect, it } from "vitest";
import { connectToResource, openChargingApp } from "../../support/charging.ts";
import { registerApp } from "../../support/directory_outage.ts";
import { connect, post, refresh, RESOURCE, withToken } from "../../support/oauth_clients.ts";
import { openResource, registerClient } from "../../support/registrations.ts";
import { forgetEnvironments, signIn, type SignedIn } from "../../support/passbook.ts";

const HOUR_S = 3600;
const caps = [{ credits: 40, period: "month" }] as const;
let ada: SignedIn;

beforeEach(async () => {
  ada = await signIn();
});

const limits = (more: object = {}) => ({
  app_slugs: ["demo"],
  caps,
  expires_at_ms: Date.now() + HOUR_S * 1000,
  ...more,
});

describe("the authorization_details of a token response", () => {
  it("a client learns its caps, its apps and how long they last, with each response", async () => {
    const tokens = await connect(ada, { limits: limits() });
    const renewed = await refresh(tokens.refresh_token);
    for (const body of [tokens, renewed.body]) {
      const [details, ...more] = (body as unknown as { authorization_details: object[] })
        .authorization_details;
      expect(more).toEqual([]);
      expect(details).toEqual({
        type: "passbook_spending",
        caps,
        apps: ["demo"],
        expires_in: expect.any(Number),
      });
      const { expires_in } = details as { expires_in: number };
      expect(Math.round(expires_in / 60)).toBe(60);
    }
  });

  it("a client without a limit learns that it has none, and may use all apps", async () => {
    const { authorization_details } = (await connect(ada, {
      limits: limits({ app_slugs: null, caps: [] }),
    })) as unknown as { authorization_details: object[] };
    expect(authorization_details).toEqual([
      { type: "passbook_spending", caps: [], expires_in: expect.any(Number) },
    ]);
  });

  it("an exchanged token has the details of its own, narrower limits", async () => {
    const { refresh_token } = await connect(ada, { limits: limits() });
    const child = await post("/oauth/token", {
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: refresh_token,
      subject_token_type: "urn:ietf:params:oauth:token-type:refresh_token",
      client_id: "https://client.example.com/oauth.json",
      authorization_details: JSON.stringify([
        { type: "passbook_spending", caps: [{ credits: 5, period: "total" }], expires_in: 60 },
      ]),
    });
    expect(child.body.authorization_details).toMatchObject([
      { caps: [{ credits: 5, period: "total" }], apps: ["demo"] },
    ]);
    expect(child.body.authorization_details[0].expires_in).toBeLessThanOrEqual(60);
  });

  it("a connection whose resource charges has them with each response, unless a token may not charge", async () => {
    await openChargingApp();
    const tokens = await connectToResource(ada, 50);
    const renewed = await refresh(tokens.refresh_token);
    for (const body of [tokens, renewed.body]) {
      expect(body).toMatchObject({
        authorization_details: [
          {
            caps: [{ credits: 50, period: "total" }],
            apps: ["sketch"],
            expires_in: expect.any(Number),
          },
        ],
      });
    }
    const narrower = await refresh(renewed.body.refresh_token, { scope: "tools" });
    expect(narrower.body).toMatchObject({ scope: "tools" });
    expect(narrower.body).not.toHaveProperty("authorization_details");
  });

  it("a token that can only sign people in, or is for another resource, has none", async () => {
    await openResource(RESOURCE);
    for (const request of [{ scopes: ["openid"] }, { scopes: ["tools"], resource: RESOURCE }]) {
      expect(await connect(ada, request)).not.toHaveProperty("authorization_details");
    }
  });
});

describe("starter credits", () => {
  it("a client that nobody registered neither gets nor triggers them, also by an exchanged token; the person still does", async () => {
    await registerApp("demo", { starter_credits: 100 });
    forgetEnvironments();
    const { access_token } = await connect(ada, { limits: limits({ caps: [] }) });
    const child = await post("/oauth/token", {
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: access_token,
      subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
      client_id: "https://client.example.com/oauth.json",
      authorization_details: JSON.stringify([
        { type: "passbook_spending", caps: [{ credits: 5, period: "total" }] },
      ]),
    });
    for (const token of [access_token, child.body.access_token]) {
      const session = await withToken(token, "GET", "/api/sessionToken");
      for (const by of [token, session.body.token]) {
        const { body } = await withToken(by, "GET", "/api/wallet?app=demo");
        expect(body).toMatchObject({ account: { credits: 0 }, app_grant: { granted: false } });
      }
    }
    expect((await ada.get("/api/wallet?app=demo")).body).toMatchObject({
      account: { credits: 100 },
      app_grant: { granted: true },
    });
  });

  it("a registered client's first use of the wallet takes them", async () => {
    await registerApp("demo", { starter_credits: 100 });
    await registerClient("demo", "web", { public: 1 });
    forgetEnvironments();
    const { access_token } = await connect(ada, {
      client_id: "demo~web",
      client_host: null,
      limits: limits(),
    });
    const { body } = await withToken(access_token, "GET", "/api/wallet?app=demo");
    expect(body).toMatchObject({ account: { credits: 100 } });
  });
});
