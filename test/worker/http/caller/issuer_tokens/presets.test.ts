/** The tokens of each vendor: the app's are accepted, and the issuer's other tokens are not. */
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { APP_ORIGIN, openIssuer, trust, type TokenHeader } from "../../../support/issuer_double.ts";
import { send, type Answer } from "../../../support/passbook.ts";

const ISSUER = "https://vendor.test";
const NO_DEFAULTS = { azp: undefined, sid: undefined };

type Claims = Readonly<Record<string, unknown>>;

/** The entry, the claims of a vendor's own token, and the reasons why others are refused. */
const VENDORS: Readonly<
  Record<string, readonly [object, Claims, Readonly<Record<string, Claims>>, TokenHeader?]>
> = {
  clerk: [
    {},
    { azp: APP_ORIGIN, sid: "sess_1", sts: "active", v: 2 },
    {
      "of a JWT template": { sid: undefined },
      "of a session with a pending task": { sts: "pending" },
      "of an impersonator": { act: { sub: "user_admin" } },
      "of another origin": { azp: "https://evil.test" },
    },
  ],
  auth0: [
    { domain: "vendor.test", audience: "passbook", authorized_parties: ["app"] },
    { aud: ["passbook", `${ISSUER}/userinfo`], azp: "app", scope: "openid" },
    {
      "of another API": { aud: "other" },
      "of another application": { azp: "other" },
      "of a machine": { gty: "client-credentials" },
    },
  ],
  supabase: [
    { project_url: ISSUER },
    { aud: "authenticated", role: "authenticated", session_id: "s", is_anonymous: false },
    {
      "of an anonymous person": { is_anonymous: true },
      "of an OAuth client": { client_id: "9a8b" },
      "for nobody": { aud: "anon" },
      "that is an API key": { session_id: undefined },
    },
  ],
  firebase: [
    { project_id: "my-project" },
    { aud: "my-project", user_id: "person-1", firebase: { sign_in_provider: "password" } },
    {
      "of another project": { aud: "other-project" },
      "of an anonymous person": { firebase: { sign_in_provider: "anonymous" } },
    },
  ],
  cognito: [
    { region: "eu-central-1", user_pool_id: "pool", authorized_parties: ["app"] },
    { token_use: "access", client_id: "app", username: "ada" },
    {
      "that is an ID token": { token_use: "id", client_id: undefined, aud: "app" },
      "of another app client": { client_id: "other" },
    },
  ],
  workos: [
    { client_id: "client_01" },
    { sid: "session_01", jti: "01", org_id: "org_01" },
    {
      "of an impersonator": { act: { sub: "admin@example.com" } },
      "without a session": { sid: undefined },
    },
  ],
};

const call = (settings: object, token: string): Promise<Answer> =>
  send("GET", "/api/wallet", { headers: { Authorization: `Bearer ${token}` } }, settings);

describe.each(Object.keys(VENDORS))("the preset %s", (preset) => {
  const [fields, own, others] = VENDORS[preset] ?? [{}, {}, {}];

  async function open() {
    const double = await openIssuer(ISSUER, "RS256");
    const jwks_uri = `${ISSUER}/jwks.json`;
    const settings = trust([{ double, entry: { preset, jwks_uri, ...fields } }]);
    return { double, settings };
  }

  it("accepts the token that the vendor's library gives the app", async () => {
    const { double, settings } = await open();
    const token = await double.token({ ...NO_DEFAULTS, ...own });
    expect((await call(settings, token)).status).toBe(200);
  });

  it.each(Object.keys(others))("refuses a token %s", async (name) => {
    const { double, settings } = await open();
    const token = await double.token({ ...NO_DEFAULTS, ...own, ...others[name] });
    expect((await call(settings, token)).status).toBe(401);
  });
});

it("the preset clerk refuses an access token of an OAuth application", async () => {
  const double = await openIssuer(ISSUER);
  const settings = trust([{ double, entry: { preset: "clerk" } }]);
  expect((await call(settings, await double.token({}, { typ: "at+jwt" }))).status).toBe(401);
});

it("the address in a token of Supabase is never verified", async () => {
  const double = await openIssuer(ISSUER);
  const entry = { preset: "supabase", project_url: ISSUER };
  const settings = trust([{ double, entry }]);
  const token = await double.token({
    ...NO_DEFAULTS,
    aud: "authenticated",
    session_id: "s",
    email: "ada@example.com",
    email_verified: true,
    user_metadata: { email_verified: true, full_name: "Ada" },
  });
  const headers = { Authorization: `Bearer ${token}` };
  const me = await send("GET", "/api/me", { headers }, settings);
  expect(me.body).toMatchObject({ name: "Ada", email: "ada@example.com", email_verified: false });
});

it.each(["RS512", "PS256"])("a genuine signature of the algorithm %s is refused", async (alg) => {
  const double = await openIssuer(ISSUER);
  const settings = trust([{ double }]);
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: "plain" };
  double.respond(() => Response.json({ keys: [jwk] }));
  const token = await new SignJWT({ azp: APP_ORIGIN })
    .setProtectedHeader({ alg, kid: "plain" })
    .setIssuer(ISSUER)
    .setSubject("person-1")
    .setExpirationTime("5m")
    .sign(privateKey);
  expect((await call(settings, token)).status).toBe(401);
});
