/** Keys are rotated without signing anyone out and without losing a token. */
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { exportJWK, generateKeyPair } from "jose";
import { describe, expect, it, vi } from "vitest";
import { connect, runOut, type Connected } from "../../support/connected.ts";
import { fakeUpstream, holdBackSealing } from "../../support/upstream.ts";
import { send, signIn } from "../../support/passbook.ts";

/** Long enough for a busy machine. No test measures the time. */
const PATIENCE = { timeout: 20_000 };

interface KeySet {
  readonly keys: readonly object[];
}

const now = (name: string): KeySet => JSON.parse(String(Reflect.get(env, name)));

async function newSigningKey(): Promise<object> {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  return { ...(await exportJWK(privateKey)), kid: crypto.randomUUID() };
}

function newEncryptionKey(): { kty: "oct"; kid: string; k: string } {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const k = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
  return { kty: "oct", kid: crypto.randomUUID(), k: k.replace("=", "") };
}

const setting = (name: string, keys: readonly object[]) => ({ [name]: JSON.stringify({ keys }) });

describe("rotating the signing keys", () => {
  const wallet = (token: string, settings: Record<string, unknown>) =>
    send("GET", "/api/wallet", { headers: { Authorization: `Bearer ${token}` } }, settings);

  it("after a signing key is added, session tokens of the older key stay valid as bearer and as cookie", async () => {
    const ada = await signIn();
    const rotated = setting("SIGNING_KEYS", [await newSigningKey(), ...now("SIGNING_KEYS").keys]);
    expect((await wallet(ada.token, rotated)).status).toBe(200);
    const by_cookie = { headers: { Cookie: ada.cookies } };
    const response = await send("GET", "/api/wallet", by_cookie, rotated);
    expect(response.status).toBe(200);
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  it("the first signing key signs, and the JWKS publishes all keys", async () => {
    const ada = await signIn();
    const fresh = await newSigningKey();
    const [old] = now("SIGNING_KEYS").keys;
    const rotated = setting("SIGNING_KEYS", [fresh, ...now("SIGNING_KEYS").keys]);
    const session_cookie = ada.cookies
      .split("; ")
      .filter((it) => it.includes("session"))
      .join();
    const by_cookie = { headers: { Cookie: session_cookie } };
    const response = await send("GET", "/api/wallet", by_cookie, rotated);
    const cookie = response.headers.getSetCookie().find((it) => it.startsWith("passbook_token="));
    const [header = ""] = cookie?.replace("passbook_token=", "").split(".") ?? [];
    expect(JSON.parse(atob(header))).toMatchObject({ kid: Reflect.get(fresh, "kid") });
    const jwks = await send("GET", "/.well-known/jwks.json", {}, rotated);
    const [id_token_key] = now("ID_TOKEN_KEYS").keys;
    expect(jwks.body.keys.map(({ kid }: { kid: string }) => kid)).toEqual(
      [fresh, old, id_token_key].map((key) => Reflect.get(key ?? {}, "kid")),
    );
    expect(jwks.text).not.toContain('"d"');
  });

  it("tokens of a removed signing key are refused, while the browser's session continues", async () => {
    const ada = await signIn();
    const retired = setting("SIGNING_KEYS", [await newSigningKey()]);
    expect((await wallet(ada.token, retired)).status).toBe(401);
    const by_cookie = { headers: { Cookie: ada.cookies } };
    expect((await send("GET", "/api/wallet", by_cookie, retired)).status).toBe(200);
  });
});

describe("rotating the encryption keys", () => {
  const keyIdOf = (person: Connected): Promise<unknown> =>
    runInDurableObject(
      env.ACCOUNT.getByName(person.identity_id),
      (_, { storage }) => storage.sql.exec("SELECT key_id FROM upstream_tokens").one()["key_id"],
    );

  it("an upstream token is sealed with the newer key when it is read, so that the older key can be removed", async () => {
    const upstream = fakeUpstream();
    const ada = await connect(upstream.grant(3600));
    const fresh = newEncryptionKey();
    const both = setting("ENCRYPTION_KEYS", [fresh, ...now("ENCRYPTION_KEYS").keys]);
    expect(await keyIdOf(ada)).not.toBe(fresh.kid);
    const token = { status: 200, body: { token: upstream.access_tokens[0] } };
    expect(await ada.oauthToken(both)).toMatchObject(token);
    expect(await keyIdOf(ada)).toBe(fresh.kid);
    expect(await ada.oauthToken(setting("ENCRYPTION_KEYS", [fresh]))).toMatchObject(token);
    expect(upstream.requests).toHaveLength(0);
  });

  it("a refreshed upstream token is sealed with the newer key", async () => {
    const upstream = fakeUpstream();
    const ada = await connect(upstream.grant(-1));
    const fresh = newEncryptionKey();
    const both = setting("ENCRYPTION_KEYS", [fresh, ...now("ENCRYPTION_KEYS").keys]);
    expect((await ada.oauthToken(both)).status).toBe(200);
    expect(await keyIdOf(ada)).toBe(fresh.kid);
    await runOut(ada);
    expect((await ada.oauthToken(setting("ENCRYPTION_KEYS", [fresh]))).status).toBe(200);
    expect(upstream.revoked).toBe(false);
  });

  it("sealing a token again does not overwrite the token of a sign-in at the same time", async () => {
    const upstream = fakeUpstream();
    const ada = await connect(upstream.grant(3600));
    const both = setting("ENCRYPTION_KEYS", [newEncryptionKey(), ...now("ENCRYPTION_KEYS").keys]);
    const sealing = holdBackSealing();
    const handed_out = ada.oauthToken(both);
    await vi.waitFor(() => expect(sealing.hasBegun()).toBe(true), PATIENCE);
    const newest = upstream.grant(3600);
    await ada.keep(newest);
    sealing.release();
    expect((await handed_out).status).toBe(200);
    expect((await ada.oauthToken(both)).body).toEqual({ token: newest.access_token });
  });

  it("after a key is removed too early, the user must reconnect until the key is restored", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const upstream = fakeUpstream();
    const ada = await connect(upstream.grant(3600));
    const fresh = newEncryptionKey();
    expect(await ada.oauthToken(setting("ENCRYPTION_KEYS", [fresh]))).toMatchObject({
      status: 404,
      body: { code: "reconnect_required" },
    });
    expect(log).toHaveBeenCalledOnce();
    const both = setting("ENCRYPTION_KEYS", [fresh, ...now("ENCRYPTION_KEYS").keys]);
    expect((await ada.oauthToken(both)).status).toBe(200);
  });

  it("a key with a known id but different bytes cannot open a sealed token", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await connect(fakeUpstream().grant(3600));
    const [old] = now("ENCRYPTION_KEYS").keys;
    const impostor = { ...old, k: newEncryptionKey().k };
    expect(await ada.oauthToken(setting("ENCRYPTION_KEYS", [impostor]))).toMatchObject({
      status: 404,
      body: { code: "reconnect_required" },
    });
  });
});
