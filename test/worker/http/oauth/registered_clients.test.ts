import { decodeProtectedHeader } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { countedEnvironment } from "../../support/bindings.ts";
import {
  authorize,
  codeForm,
  oauthServices,
  post,
  refreshForm,
} from "../../support/oauth_clients.ts";
import { signIn } from "../../support/passbook.ts";
import { CLIENT_SECRET, registerClient } from "../../support/registrations.ts";
import { openAppServer } from "../caller/app_server.ts";

const CLIENT = "demo~web";
const REDIRECT_URI = "https://demo.example/callback";

describe("a registered client", () => {
  beforeEach(async () => {
    await openAppServer("demo");
    await registerClient("demo", "web", { pkce_optional: 1 });
    await registerClient("demo", "other", { pkce_optional: 1 });
    oauthServices().apps.forget();
  });

  const basic = (client_id = CLIENT, secret = CLIENT_SECRET) => ({
    Authorization: `Basic ${btoa(`${encodeURIComponent(client_id)}:${secret}`)}`,
  });

  /** A code of this client without PKCE, and the form that redeems it without the client's credentials. */
  async function newCode(client_id = CLIENT) {
    const request = {
      client_id,
      client_host: null,
      redirect_uri: REDIRECT_URI,
      code_challenge: null,
    };
    const code = await authorize(await signIn(), request);
    return codeForm(code, { client_id: "", code_verifier: "", redirect_uri: REDIRECT_URI });
  }

  it("a confidential client redeems a code with its secret in either form, and its ID token is signed with RS256", async () => {
    const by_basic = await post("/oauth/token", await newCode(), basic());
    expect(by_basic.status).toBe(200);
    expect(decodeProtectedHeader(by_basic.body.id_token).alg).toBe("RS256");
    const posted = { ...(await newCode()), client_id: CLIENT, client_secret: CLIENT_SECRET };
    expect((await post("/oauth/token", posted)).status).toBe(200);
  });

  it("with a wrong secret or without one a confidential client gets nothing, and its code still works", async () => {
    const form = await newCode();
    const wrong = await post("/oauth/token", form, basic(CLIENT, `pb_cs_${"a".repeat(43)}`));
    expect({ status: wrong.status, error: wrong.body.error }).toEqual({
      status: 401,
      error: "invalid_client",
    });
    expect(wrong.headers.get("WWW-Authenticate")).toMatch(/^Basic /);
    expect((await post("/oauth/token", { ...form, client_id: CLIENT })).status).toBe(401);
    expect((await post("/oauth/token", form, basic())).status).toBe(200);
  });

  it("another client of the same app cannot use a code or refresh token", async () => {
    const form = await newCode();
    expect((await post("/oauth/token", form, basic("demo~other"))).body.error).toBe(
      "invalid_grant",
    );
    const { body } = await post("/oauth/token", form, basic());
    const refreshing = refreshForm(body.refresh_token, { client_id: "" });
    expect((await post("/oauth/token", refreshing, basic("demo~other"))).body.error).toBe(
      "invalid_grant",
    );
    expect((await post("/oauth/token", refreshing, basic())).status).toBe(200);
  });

  it("once the registry is cached, a refresh with a secret makes one object call and no query", async () => {
    const { environment, hops } = countedEnvironment();
    const { body } = await post("/oauth/token", await newCode(), basic(), environment);
    Object.assign(hops, { account: 0, d1: 0, kv: 0 });
    const form = refreshForm(body.refresh_token, { client_id: "" });
    expect((await post("/oauth/token", form, basic(), environment)).status).toBe(200);
    expect(hops).toEqual({ account: 1, d1: 0, kv: 0 });
  });
});
