import { describe, expect, it } from "vitest";
import { send } from "../../support/passbook.ts";

const METADATA = "/.well-known/oauth-authorization-server";
const PRODUCTION = {
  DEV_SIGNIN: "false",
  BASE_URL: "https://passbook.example",
  DEFAULT_STARTER_CREDITS: undefined,
};

const register = (body: unknown, settings: object = {}, path = "/oauth/register") => {
  const headers = { "Content-Type": "application/json", Origin: "http://localhost:6274" };
  return send("POST", path, { headers, body: JSON.stringify(body) }, settings);
};

describe("dynamic client registration in development", () => {
  it("a client registers itself, and its id is the address of its document", async () => {
    const redirect_uris = ["http://localhost:6274/oauth/callback", "cursor://x/callback"];
    const sent = { client_name: "Inspector", redirect_uris, token_endpoint_auth_method: "none" };
    const registered = await register(sent);
    expect(registered.status).toBe(201);
    expect(registered.headers.get("Access-Control-Allow-Origin")).toBe("*");
    const { client_id } = registered.body as { client_id: string };
    expect(registered.body).toMatchObject({
      client_name: "Inspector",
      redirect_uris: ["http://localhost:6274/oauth/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    });
    const document = await send("GET", new URL(client_id).pathname);
    expect(document.body).toEqual(registered.body);
    const { registration_endpoint, issuer } = (await send("GET", METADATA)).body;
    expect(registration_endpoint).toBe(`${issuer}/oauth/register`);
    expect((await register(sent)).body).toEqual(registered.body);
  });

  it("a client without a redirect address that can be used is refused, and one with too many too", async () => {
    for (const body of [null, 7, {}, { redirect_uris: "x" }, { redirect_uris: ["cursor://x/y"] }]) {
      const refused = await register(body);
      expect(refused).toMatchObject({ status: 400, body: { error: "invalid_redirect_uri" } });
    }
    const redirect_uris = [`http://localhost/${"x".repeat(400)}`];
    const refused = await register({ redirect_uris });
    expect(refused).toMatchObject({ status: 400, body: { error: "invalid_client_metadata" } });
    expect((await send("GET", "/oauth/clients/development/e30")).status).toBe(404);
    expect((await send("GET", "/oauth/clients/development/%25")).status).toBe(404);
  });

  it("a service in production has no registration and says what to do instead, also at the path that clients guess", async () => {
    const registered = await register({ redirect_uris: ["http://localhost:6274/callback"] });
    const { pathname } = new URL((registered.body as { client_id: string }).client_id);
    for (const path of ["/oauth/register", "/register"]) {
      const production = await register(
        { redirect_uris: ["http://localhost/x"] },
        PRODUCTION,
        path,
      );
      expect(production.status).toBe(404);
      expect(production.body["error_description"]).toContain("Publish a client metadata document");
    }
    expect((await send("GET", pathname, {}, PRODUCTION)).status).toBe(404);
    expect((await send("GET", METADATA, {}, PRODUCTION)).body).not.toHaveProperty(
      "registration_endpoint",
    );
  });
});
