import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, importJWK } from "jose";
import { describe, expect, it, vi } from "vitest";
import { createKeyRing, type SigningKey } from "../../../src/keys/signing.ts";
import { checkKeys, createSessionTokens } from "../../../src/tokens/session_token.ts";
import { forge, HERE, type Genuine } from "./forger.ts";

const NOW_MS = 2_000_000_000_000;
const { privateKey } = await generateKeyPair("EdDSA", { extractable: true });
const jwk = { ...(await exportJWK(privateKey)), kid: "first" } as SigningKey;
/** Without a cache of other tests. */
const open = () => createSessionTokens(createKeyRing([jwk]));

const SESSION = { kind: "session", session_id: "session 1", azp: "https://app.example" } as const;
const OF_TOKEN = {
  kind: "personal_token",
  credential: { kind: "allowance", allowance_id: "allowance 1" },
} as const;
const OF_CONNECTION = {
  kind: "connection",
  credential: { kind: "family", family_id: "f1", generation: 3, scopes: ["read", "write"] },
  client_id: "demo~web",
} as const;
const OF_EXCHANGED = { ...OF_CONNECTION, credential: OF_TOKEN.credential };

const genuine = async (typ: string, claims: object): Promise<Genuine> => ({
  key: await importJWK({ ...jwk }, "EdDSA"),
  header: { alg: "EdDSA", kid: "first", typ },
  claims: { sub: "ada", ...claims },
});
const session = () => genuine("session+jwt", { sid: "session 1", azp: HERE });
const ofToken = () => genuine("personal-session+jwt", { pat: "allowance 1" });
const ofConnection = () =>
  genuine("personal-session+jwt", { family: "f1", generation: 3, scope: "", client_id: "c" });

describe("session tokens", () => {
  it.each([
    ["a session", SESSION, "session+jwt", { sid: "session 1", azp: "https://app.example" }],
    ["a personal token", OF_TOKEN, "personal-session+jwt", { pat: "allowance 1" }],
    [
      "a connection",
      OF_CONNECTION,
      "personal-session+jwt",
      { family: "f1", generation: 3, scope: "read write", client_id: "demo~web" },
    ],
  ])(
    "a session token of %s names only what it is bound to, and for which issuer and how long",
    async (_, proof, typ, bound_to) => {
      vi.useFakeTimers({ toFake: ["Date"], now: NOW_MS });
      const tokens = open();
      const token = await tokens.sign(HERE, { identity_id: "ada", proof, binding: null });
      expect(decodeProtectedHeader(token)).toEqual({ alg: "EdDSA", kid: "first", typ });
      const iat = NOW_MS / 1000;
      const times = { iat, exp: iat + 900 };
      expect(decodeJwt(token)).toEqual({ iss: HERE, sub: "ada", ...times, ...bound_to });
      const expires_at_ms = NOW_MS + 900_000;
      const claims = { identity_id: "ada", proof, binding: null, expires_at_ms };
      expect(await tokens.verify(HERE, token)).toEqual(claims);
    },
  );

  it("a session token of an exchanged token is bound to its allowance, as that of a personal token, and names its client", async () => {
    const tokens = open();
    const about = { identity_id: "ada", proof: OF_EXCHANGED, binding: null };
    const read = await tokens.verify(HERE, await tokens.sign(HERE, about));
    expect(read?.proof).toEqual({ ...OF_TOKEN, client_id: OF_EXCHANGED.client_id });
    const changed = await forge(await ofToken(), { client_id: 7 });
    expect((await tokens.verify(HERE, changed))?.proof).toStrictEqual(OF_TOKEN);
  });

  it("a refresh token's session token has no scopes of its own", async () => {
    const tokens = open();
    const credential = { ...OF_CONNECTION.credential, scopes: "all" } as const;
    const proof = { ...OF_CONNECTION, credential };
    const token = await tokens.sign(HERE, { identity_id: "ada", proof, binding: null });
    expect(decodeJwt(token)["scope"]).toBe("");
    expect((await tokens.verify(HERE, token))?.proof).toMatchObject({ credential: { scopes: [] } });
  });

  it("a session token keeps the session cookie that it belongs to", async () => {
    const tokens = open();
    const about = { identity_id: "ada", proof: SESSION, binding: "cookie 1" };
    const token = await tokens.sign(HERE, about);
    expect(await tokens.verify(HERE, token)).toMatchObject(about);
    const changed = await forge(await session(), { session_binding: 7 });
    expect(await tokens.verify(HERE, changed)).toMatchObject({ binding: null });
  });

  it.each([
    ["sooner than usual", 60_500, 60],
    ["later than usual", 901_000, 900],
  ])(
    "a session token whose session ends %s expires with whichever comes first",
    async (_, ends_in_ms, expires_in) => {
      vi.useFakeTimers({ toFake: ["Date"], now: NOW_MS });
      const tokens = open();
      const about = { identity_id: "ada", proof: SESSION, binding: null };
      const { exp } = decodeJwt(await tokens.sign(HERE, about, NOW_MS + ends_in_ms));
      expect(exp).toBe(NOW_MS / 1000 + expires_in);
    },
  );

  it.each<[string, () => Promise<Genuine>, object, object?]>([
    ["of a session without a subject", session, { sub: undefined }],
    ["of a session with an empty subject", session, { sub: "" }],
    ["of a session with a number as its subject", session, { sub: 7 }],
    ["of a session without a session", session, { sid: undefined }],
    ["of a session without the origin that it was issued to", session, { azp: undefined }],
    ["of a session with an empty origin", session, { azp: "" }],
    ["of a session with a number as its origin", session, { azp: 7 }],
    ["of a session that also names a personal token", session, { pat: "allowance 1" }],
    ["of a session that also names a connection", session, { family: "f1" }],
    [
      "of a session with the type of a personal token's",
      session,
      {},
      { typ: "personal-session+jwt" },
    ],
    ["of a session with the type of an ID token", session, {}, { typ: "JWT" }],
    ["of a session for another issuer", session, { iss: "https://elsewhere.example" }],
    ["of a session without an expiry", session, { exp: undefined }],
    ["of a personal token that also names a session", ofToken, { sid: "session 1" }],
    ["of a personal token that also names a connection", ofToken, { family: "f1" }],
    [
      "of a personal token that names all of a connection",
      ofToken,
      { family: "f1", generation: 3, scope: "", client_id: "c" },
    ],
    ["of a personal token that is no text", ofToken, { pat: 7 }],
    ["of a personal token with a session's type", ofToken, {}, { typ: "session+jwt" }],
    ["of a personal token with a personal token's own type", ofToken, {}, { typ: "pat+jwt" }],
    [
      "of a personal token with a session's type and origin",
      ofToken,
      { azp: HERE },
      { typ: "session+jwt" },
    ],
    ["of nothing", ofToken, { pat: undefined }],
    ["of a connection that also names a session", ofConnection, { sid: "session 1" }],
    ["of a connection that also names an unreadable personal token", ofConnection, { pat: 7 }],
    ["of a connection with a number as its family", ofConnection, { family: 7 }],
    ["of a connection without a client", ofConnection, { client_id: undefined }],
    ["of a connection with a text as its generation", ofConnection, { generation: "3" }],
    ["of a connection without scopes", ofConnection, { scope: undefined }],
    ["of a connection with a session's type", ofConnection, {}, { typ: "session+jwt" }],
  ])("a session token %s is refused", async (_, get, changed, header) => {
    const one = await get();
    const tokens = open();
    expect(await tokens.verify(HERE, await forge(one))).not.toBeNull();
    expect(await tokens.verify(HERE, await forge(one, changed, header))).toBeNull();
  });

  it("the keys are ready only if a token that they sign also verifies", async () => {
    const tokens = open();
    await expect(checkKeys(tokens)).resolves.toBeUndefined();
    const verify = () => Promise.resolve(null);
    await expect(checkKeys({ ...tokens, verify })).rejects.toThrow("keys do not verify");
  });
});
