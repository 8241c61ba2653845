import { env } from "cloudflare:workers";
import { createLocalJWKSet, decodeProtectedHeader, importJWK, jwtVerify, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { getToken, holderOf, tokenId } from "../../../support/device_logins.ts";
import { send, signIn } from "../../../support/passbook.ts";

const BASE_URL = "http://passbook.localhost";

async function tokensOfBothKinds() {
  const ada = await signIn();
  const personal = await getToken(ada, { scopes: ["read"] });
  const { token } = (await personal.get("/api/sessionToken")).body;
  return { ada, personal, limited: String(token) };
}

describe("the JWT that a personal access token gets", () => {
  it("the JWT that a personal token gets has a typ of its own, which apps do not accept as a full session", async () => {
    const { ada, limited } = await tokensOfBothKinds();
    expect(decodeProtectedHeader(ada.token).typ).toBe("session+jwt");
    expect(decodeProtectedHeader(limited).typ).toBe("personal-session+jwt");
    const jwks = createLocalJWKSet((await send("GET", "/.well-known/jwks.json")).body);
    const asTheReadmeSays = { issuer: BASE_URL, typ: "session+jwt" };
    await expect(jwtVerify(ada.token, jwks, asTheReadmeSays)).resolves.toBeDefined();
    await expect(jwtVerify(limited, jwks, asTheReadmeSays)).rejects.toThrow();
  });

  it("the JWT that a personal token gets keeps its typ and limits when it renews itself", async () => {
    const { limited } = await tokensOfBothKinds();
    const again = (await holderOf(limited).get("/api/sessionToken")).body.token;
    expect(decodeProtectedHeader(again).typ).toBe("personal-session+jwt");
    const job = { app: "demo", action: "draw", cost_estimate: 0 };
    expect((await holderOf(again).post("/api/jobs", job)).status).toBe(403);
  });

  it("a JWT whose typ and claims do not match is refused", async () => {
    const { ada, personal } = await tokensOfBothKinds();
    const [jwk] = JSON.parse(env.SIGNING_KEYS).keys;
    const key = await importJWK(jwk, "EdDSA");
    const sid = JSON.parse(atob(ada.token.split(".")[1] ?? "")).sid;
    const pat = await tokenId(personal);
    const sign = (typ: string, claims: Record<string, string>) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "EdDSA", kid: jwk.kid, typ })
        .setIssuer(BASE_URL)
        .setSubject(ada.identity_id)
        .setIssuedAt()
        .setExpirationTime("5m")
        .sign(key);
    const status = async (typ: string, claims: Record<string, string>) =>
      (await holderOf(await sign(typ, claims)).get("/api/wallet")).status;
    const azp = BASE_URL;
    expect(await status("session+jwt", { sid, azp })).toBe(200);
    expect(await status("session+jwt", { sid })).toBe(401);
    expect(await status("session+jwt", { sid, azp: "" })).toBe(401);
    expect(await status("personal-session+jwt", { pat })).toBe(200);
    expect(await status("session+jwt", { pat, azp })).toBe(401);
    expect(await status("personal-session+jwt", { sid })).toBe(401);
    expect(await status("session+jwt", { sid, pat, azp })).toBe(401);
    expect(await status("personal-session+jwt", { sid, pat })).toBe(401);
  });
});
