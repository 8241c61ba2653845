import { env } from "cloudflare:workers";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from "jose";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createClientAuthentication } from "../../../src/authorization/authentication.ts";
import { createClients } from "../../../src/authorization/clients.ts";
import { createPublicJson, type CountFetch } from "../../../src/authorization/public_json.ts";
import { AppRecords } from "../../../src/directory/app_records.ts";
import { AppRegistry } from "../../../src/directory/apps.ts";
import type { SentCredentials } from "../../../src/domain/client_credentials.ts";
import { CHATGPT, CLAUDE } from "../support/client_documents.ts";
import { passTime } from "../support/clock.ts";
import { json, MemoryCopies, serveDocuments } from "../support/client_servers.ts";
import { registerApp } from "../support/directory_outage.ts";
import { CLIENT_SECRET as secret, registerClient } from "../support/registrations.ts";

const ISSUER = "https://passbook.example";
const AUDIENCE = { issuer: ISSUER, token_endpoint: `${ISSUER}/oauth/token` };
const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const anyNumber: CountFetch = async () => true;

const open = () => {
  const apps = new AppRegistry({
    database: env.DIRECTORY,
    keepOwned: async (origins) => origins,
    default_starter_credits: 0,
  });
  const public_json = createPublicJson({ copies: kept.namespace, keeps_copies: true });
  const clients = createClients({
    findClient: (client_id) => apps.findClient(client_id),
    json: public_json,
    allows_loopback: false,
  });
  return createClientAuthentication({
    clients,
    json: public_json,
    checkClientSecret: (client_id, given) => apps.checkClientSecret(client_id, given),
  });
};

const NOTHING: SentCredentials = {
  authorization: null,
  client_id: null,
  client_secret: null,
  client_assertion: null,
  client_assertion_type: null,
};

const authenticate = (sent: Partial<SentCredentials>, count: CountFetch | null = anyNumber) =>
  open().authenticate({ ...NOTHING, ...sent }, AUDIENCE, count);

const basic = (id: string, secret: string): string =>
  `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`;

async function addKey(slug: string): Promise<string> {
  const made = await new AppRecords(env.DIRECTORY, {
    changed: () => undefined,
    is_development: false,
  }).addKey(slug, "x", null);
  if (!made.ok || made.value.key === null) throw new Error("no key");
  return made.value.key;
}

let kept: MemoryCopies;
beforeEach(async () => {
  kept = new MemoryCopies();
  vi.spyOn(console, "warn").mockReturnValue();
  await registerApp("demo", {});
  await registerApp("other", {});
  await registerClient("demo", "web");
  await registerClient("demo", "spa", { public: 1 });
});

const REFUSED = { ok: false, refusal: "invalid" };

describe("a confidential client", () => {
  it("a confidential client authenticates with its secret in the header or in the body", async () => {
    const headers = [
      basic("demo~web", secret),
      `Basic ${btoa(`demo~web:${secret}`)}`,
      `basic ${btoa(`demo%7Eweb:${secret}`)}`,
    ];
    for (const authorization of headers) {
      const result = await authenticate({ authorization });
      expect(result).toMatchObject({ ok: true, value: { client_id: "demo~web" } });
    }
    const posted = await authenticate({ client_id: "demo~web", client_secret: secret });
    expect(posted).toMatchObject({
      ok: true,
      value: { kind: "registered", client_id: "demo~web" },
    });
  });

  it.each([
    ["no secret", async () => ({ client_id: "demo~web" })],
    ["a wrong secret", async () => ({ authorization: basic("demo~web", `${secret}x`) })],
    ["a key of its app", async () => ({ authorization: basic("demo~web", await addKey("demo")) })],
    ["an unknown client_id", async () => ({ authorization: basic("demo~none", secret) })],
    [
      "an assertion",
      async () => ({
        client_assertion: await unsigned("demo~web"),
        client_assertion_type: ASSERTION_TYPE,
      }),
    ],
  ])("with %s is refused", async (_, sent) => {
    expect(await authenticate(await sent())).toEqual(REFUSED);
  });

  it("a confidential client is refused after it was deleted", async () => {
    await env.DIRECTORY.exec("delete from oauth_clients");
    expect(await authenticate({ authorization: basic("demo~web", secret) })).toEqual(REFUSED);
  });

  it("a confidential client is not refused as unknown while D1 is unavailable", async () => {
    vi.spyOn(env.DIRECTORY, "prepare").mockImplementation(() => {
      throw new Error("D1_ERROR: out of reach");
    });
    const result = await authenticate({ authorization: basic("demo~web", secret) });
    expect(result).toEqual({ ok: false, refusal: "unreadable" });
  });
});

describe("a public client", () => {
  it("a public client names itself and proves nothing", async () => {
    const result = await authenticate({ client_id: "demo~spa" });
    expect(result).toMatchObject({
      ok: true,
      value: { client_id: "demo~spa", client: { public: true } },
    });
  });

  it("a public client is refused with a secret, even one of its app", async () => {
    expect(await authenticate({ authorization: basic("demo~spa", secret) })).toEqual(REFUSED);
    expect(await authenticate({ client_id: "demo~spa", client_secret: secret })).toEqual(REFUSED);
  });

  it("an empty secret counts as not sent", async () => {
    expect((await authenticate({ client_id: "demo~spa", client_secret: "" })).ok).toBe(true);
  });
});

describe("a request", () => {
  it.each([
    ["no client", {}, "missing"],
    ["an empty client_id", { client_id: "" }, "missing"],
    ["a header of another scheme", { authorization: "Bearer x" }, "malformed"],
    ["a header without a colon", { authorization: `Basic ${btoa("demo")}` }, "malformed"],
    ["a header that is not base64", { authorization: "Basic ä" }, "malformed"],
    ["a wrong escape", { authorization: `Basic ${btoa("demo%zz:x")}` }, "malformed"],
    [
      "another client_id in the body",
      { authorization: basic("demo~web", "x"), client_id: "demo~spa" },
      "malformed",
    ],
    ["an assertion without its type", { client_id: "a", client_assertion: "a.b.c" }, "malformed"],
    [
      "a type without its assertion",
      { client_id: "a", client_assertion_type: ASSERTION_TYPE },
      "malformed",
    ],
    [
      "an assertion of another type",
      { client_assertion: "a.e30.c", client_assertion_type: "saml" },
      "malformed",
    ],
    [
      "an assertion that is not a JWT",
      { client_assertion: "x", client_assertion_type: ASSERTION_TYPE },
      "malformed",
    ],
    [
      "a header and a secret",
      { authorization: basic("demo~web", "x"), client_id: "demo~web", client_secret: "x" },
      "two_methods",
    ],
    [
      "a header and an assertion",
      {
        authorization: basic("demo~web", "x"),
        client_assertion: "a.b.c",
        client_assertion_type: ASSERTION_TYPE,
      },
      "two_methods",
    ],
    [
      "a secret and an assertion",
      {
        client_id: "a",
        client_secret: "x",
        client_assertion: "a.b.c",
        client_assertion_type: ASSERTION_TYPE,
      },
      "two_methods",
    ],
  ])("with %s is refused", async (_, sent, problem) => {
    expect(await authenticate(sent)).toEqual({ ok: false, refusal: problem });
  });
});

const unsigned = async (sub: string): Promise<string> => {
  const encode = (value: object): string => btoa(JSON.stringify(value)).replaceAll("=", "");
  return `${encode({ alg: "none" })}.${encode({ sub, iss: sub, aud: ISSUER, exp: nowSeconds() + 60 })}.`;
};

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

describe("a client that a document describes", () => {
  interface Signer {
    readonly alg: string;
    readonly kid: string;
    readonly privateKey: CryptoKey;
    readonly jwk: object;
  }

  async function createSigner(alg: string, kid = "one"): Promise<Signer> {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), alg, kid } };
  }

  const CLAIMS = {
    iss: CHATGPT.client_id,
    sub: CHATGPT.client_id,
    aud: ISSUER,
  } satisfies JWTPayload;

  const sign = ({ alg, kid, privateKey }: Signer, claims: JWTPayload = {}): Promise<string> =>
    new SignJWT({ ...CLAIMS, exp: nowSeconds() + 60, ...claims })
      .setProtectedHeader({ alg, kid })
      .sign(privateKey);

  const serve = (...signers: readonly Signer[]): string[] =>
    serveDocuments({
      [CHATGPT.client_id]: () => json(CHATGPT),
      [CHATGPT.jwks_uri]: () => json({ keys: signers.map(({ jwk }) => jwk) }),
    });

  const assert = (client_assertion: string, count: CountFetch | null = anyNumber) =>
    authenticate({ client_assertion, client_assertion_type: ASSERTION_TYPE }, count);

  const ASSERTED = {
    ok: true,
    value: { kind: "document", client_id: CHATGPT.client_id, asserted: true },
  };

  it("a client with a document names itself, and the account learns that it proved nothing", async () => {
    const fetched = serve();
    const result = await authenticate({ client_id: CLAUDE.client_id }, null);
    const value = { kind: "document", client_id: CLAUDE.client_id, asserted: false };
    expect([result, fetched]).toEqual([{ ok: true, value }, []]);
  });

  it("a client with a document cannot have a secret", async () => {
    const client_id = CLAUDE.client_id;
    expect(await authenticate({ client_id, client_secret: secret })).toEqual(REFUSED);
    expect(await authenticate({ authorization: basic(client_id, secret) })).toEqual(REFUSED);
  });

  it.each(["RS256", "ES256", "EdDSA"])(
    "a client with a document proves itself with an assertion of %s",
    async (alg) => {
      const signer = await createSigner(alg);
      serve(signer);
      expect(await assert(await sign(signer))).toEqual(ASSERTED);
    },
  );

  it.each(["PS256", "RS512", "ES384"])(
    "a client with a document is refused with an assertion of %s, which the metadata does not list",
    async (alg) => {
      const signer = await createSigner(alg);
      serve(signer);
      expect(await assert(await sign(signer))).toEqual(REFUSED);
    },
  );

  it("a client with a document may address an assertion to the token endpoint", async () => {
    const signer = await createSigner("ES256");
    serve(signer);
    const aud = AUDIENCE.token_endpoint;
    expect(await assert(await sign(signer, { aud }))).toEqual(ASSERTED);
    expect(await assert(await sign(signer, { aud: [aud] }))).toEqual(ASSERTED);
  });

  it.each<readonly [string, JWTPayload]>([
    ["another audience", { aud: "https://other.example" }],
    ["two audiences", { aud: [ISSUER, "https://other.example"] }],
    ["no audience", { aud: [] }],
    ["an audience with a slash more", { aud: `${ISSUER}/` }],
    ["another issuer", { iss: CLAUDE.client_id }],
    ["an expiry that is over", { exp: nowSeconds() - 31 }],
    ["an expiry in six minutes", { exp: nowSeconds() + 360 }],
    ["a start in the future", { nbf: nowSeconds() + 120 }],
  ])("is refused with an assertion that has %s", async (_, claims) => {
    const signer = await createSigner("ES256");
    serve(signer);
    expect(await assert(await sign(signer, claims))).toEqual(REFUSED);
  });

  it("a client with a document is refused with an assertion without an expiry", async () => {
    const signer = await createSigner("ES256");
    serve(signer);
    const assertion = await new SignJWT(CLAIMS)
      .setProtectedHeader({ alg: "ES256", kid: "one" })
      .sign(signer.privateKey);
    expect(await assert(assertion)).toEqual(REFUSED);
  });

  it("a client with a document is refused with an assertion without a signature, or with that of another key", async () => {
    serve(await createSigner("ES256"));
    expect(await assert(await sign(await createSigner("ES256")))).toEqual(REFUSED);
    expect(await assert(await unsigned(CHATGPT.client_id))).toEqual(REFUSED);
  });

  it("a client with a document is refused with an assertion that is signed with a symmetric key, even its own", async () => {
    const key = crypto.getRandomValues(new Uint8Array(32));
    const k = btoa(String.fromCharCode(...key))
      .replaceAll("+", "-")
      .replaceAll("/", "_");
    serveDocuments({
      [CHATGPT.client_id]: () => json(CHATGPT),
      [CHATGPT.jwks_uri]: () =>
        json({ keys: [{ kty: "oct", kid: "one", alg: "HS256", k: k.replaceAll("=", "") }] }),
    });
    const assertion = await new SignJWT({ ...CLAIMS, exp: nowSeconds() + 60 })
      .setProtectedHeader({ alg: "HS256", kid: "one" })
      .sign(key);
    expect(await assert(assertion)).toEqual(REFUSED);
  });

  it("a client with a document is refused with an assertion if its document does not offer that method", async () => {
    const signer = await createSigner("ES256");
    const document = { ...CHATGPT, token_endpoint_auth_method: "none" };
    const methods = { token_endpoint_auth_methods_supported: ["none"] };
    serveDocuments({
      [CHATGPT.client_id]: () => json({ ...document, ...methods }),
      [CHATGPT.jwks_uri]: () => json({ keys: [signer.jwk] }),
    });
    expect(await assert(await sign(signer))).toEqual(REFUSED);
  });

  it("for a request without a code or token of ours, nothing is fetched", async () => {
    const signer = await createSigner("ES256");
    const fetched = serve(signer);
    expect(await assert(await sign(signer), null)).toEqual(REFUSED);
    expect(fetched).toEqual([]);
  });

  it("the keys of a client with a document are fetched once, and again when it has a new key", async () => {
    const old = await createSigner("ES256", "old");
    const first = serve(old);
    await assert(await sign(old));
    expect(await assert(await sign(old))).toEqual(ASSERTED);
    expect(first).toEqual([CHATGPT.client_id, CHATGPT.jwks_uri]);
    const renewed = await createSigner("ES256", "new");
    const second = serve(old, renewed);
    expect(await assert(await sign(renewed))).toEqual(ASSERTED);
    expect(second).toEqual([CHATGPT.client_id, CHATGPT.jwks_uri]);
  });

  it("a client with a document may have its keys in its document", async () => {
    const signer = await createSigner("EdDSA");
    const { jwks_uri: _, ...document } = CHATGPT;
    serveDocuments({
      [CHATGPT.client_id]: () => json({ ...document, jwks: { keys: [signer.jwk] } }),
    });
    expect(await assert(await sign(signer))).toEqual(ASSERTED);
  });

  it.each([
    ["redirect", () => Response.redirect("https://chatgpt.com/other", 302)],
    ["are not JSON", () => new Response("[]", { headers: { "Content-Type": "text/html" } })],
    ["are larger than 16 KiB", () => json({ keys: [], padding: "x".repeat(16 * 1024) })],
    ["are not a key set", () => json({ keys: "none" })],
  ])("is refused if its keys %s", async (_, serveKeys) => {
    const signer = await createSigner("ES256");
    serveDocuments({ [CHATGPT.client_id]: () => json(CHATGPT), [CHATGPT.jwks_uri]: serveKeys });
    expect(await assert(await sign(signer))).toEqual(REFUSED);
  });

  it("a client whose document and keys were read before is served although nothing more may be fetched", async () => {
    const signer = await createSigner("ES256");
    serve(signer);
    await assert(await sign(signer));
    passTime(2 * 24 * 60 * 60 * 1000);
    const exp = nowSeconds() + 60;
    expect(await assert(await sign(signer, { exp }), async () => false)).toEqual(ASSERTED);
    // A key that no copy has needs a fetch, which is counted: an invalid assertion cannot cause any number of them.
    const fetched = serve(signer);
    const foreign = await sign(await createSigner("ES256", "other"), { exp });
    expect(await assert(foreign, async () => false)).toEqual(REFUSED);
    expect(fetched).toEqual([]);
  });

  it("a client with a document is limited if too much was fetched for it", async () => {
    const signer = await createSigner("ES256");
    serve(signer);
    const result = await assert(await sign(signer), async () => false);
    expect(result).toEqual({ ok: false, refusal: "limited" });
  });
});
