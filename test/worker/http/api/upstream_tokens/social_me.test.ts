import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { shortenTimeLimit } from "../../../support/upstream.ts";
import { BASE_URL, send, signIn } from "../../../support/passbook.ts";

const SOCIAL = { SOCIAL_API_URL: "https://social.test/2/users/me?fields=name" };
const BEARER = { Authorization: "Bearer social-token" };

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly redirect: string | undefined;
  readonly has_body: boolean;
}

let sent: Sent[];
/** Makes `fetch` reach a social network. `response` receives the signal of the request. */
function socialNetwork(
  response: (signal: AbortSignal | null) => Response | Promise<Response>,
): void {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const { url, method, headers, body } = new Request(input, init);
    const { redirect } = init ?? {};
    sent.push({ url, method, headers: Object.fromEntries(headers), redirect, has_body: !!body });
    return response(init?.signal ?? null);
  });
}

const socialMe = (headers: Record<string, string>, settings: Record<string, unknown> = SOCIAL) =>
  send("GET", "/api/socialMe", { headers }, settings);

beforeEach(() => {
  sent = [];
  socialNetwork(() => Response.json({ data: { id: "7" } }));
});

describe("GET /api/socialMe", () => {
  it("/api/socialMe forwards only the bearer token of the request", async () => {
    const response = await socialMe({
      ...BEARER,
      Cookie: "passbook_session=secret",
      Origin: "http://localhost:3000",
      Referer: "http://localhost:3000/private",
      "X-Forwarded-For": "203.0.113.7",
      "Idempotency-Key": "key",
      "User-Agent": "app/1.0",
    });
    expect(response).toMatchObject({ status: 200, body: { data: { id: "7" } } });
    expect(sent).toEqual([
      {
        url: SOCIAL.SOCIAL_API_URL,
        method: "GET",
        headers: {
          accept: "application/json",
          authorization: "Bearer social-token",
          "user-agent": "passbook",
        },
        redirect: "manual",
        has_body: false,
      },
    ]);
  });

  it("/api/socialMe returns the unchanged JSON and none of the network's headers", async () => {
    const json = '{"id": 12345678901234567890,"name":"Ad\\u00e5"}';
    socialNetwork(() => new Response(json, { status: 201, headers: { "Set-Cookie": "a=b" } }));
    const response = await socialMe({ ...BEARER, Origin: "http://localhost:3000" });
    expect(response.status).toBe(200);
    expect(response.text).toBe(json);
    expect(response.headers.get("Set-Cookie")).toBeNull();
    expect(response.headers.get("Content-Type")).toBe("application/json");
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("http://localhost:3000");
  });
});

describe("without a social network's bearer", () => {
  const unfit: Record<string, Record<string, string>> = {
    "no bearer": {},
    "another scheme": { Authorization: "Basic YTpi" },
    "an empty bearer": { Authorization: "Bearer " },
    "two tokens": { Authorization: "Bearer a b" },
    "a token too long": { Authorization: `Bearer ${"a".repeat(8_193)}` },
    "a cookie alone": { Cookie: "passbook_token=a" },
    "a personal access token of ours": { Authorization: "Bearer pb_pat_e30.e30.AA" },
  };
  for (const [what, headers] of Object.entries(unfit)) {
    it(`/api/socialMe with ${what} gets 400 and sends nothing`, async () => {
      expect(await socialMe(headers)).toMatchObject({
        status: 400,
        body: { error: expect.any(String), code: "invalid_request" },
      });
      expect(sent).toHaveLength(0);
    });
  }

  it("/api/socialMe with our own session token gets 400 and sends nothing", async () => {
    const { token } = await signIn();
    expect((await socialMe({ Authorization: `Bearer ${token}` })).status).toBe(400);
    expect(sent).toHaveLength(0);
  });

  it("/api/socialMe with our own token of a removed key gets 400", async () => {
    const { token } = await signIn();
    const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
    const keys = { keys: [{ ...(await exportJWK(privateKey)), kid: "newer" }] };
    const settings = { ...SOCIAL, SIGNING_KEYS: JSON.stringify(keys) };
    expect((await socialMe({ Authorization: `Bearer ${token}` }, settings)).status).toBe(400);
    const elsewhere = await new SignJWT({})
      .setProtectedHeader({ alg: "EdDSA", kid: "theirs" })
      .setIssuer(`${BASE_URL}.example`)
      .sign(privateKey);
    expect((await socialMe({ Authorization: `Bearer ${elsewhere}` }, settings)).status).toBe(200);
    expect(sent).toHaveLength(1);
  });
});

describe("a failing social network", () => {
  const failures: Record<string, [() => Response | Promise<Response>, number | null]> = {
    "refuses the bearer": [() => Response.json({ title: "Unauthorized" }, { status: 401 }), 401],
    "limits us": [() => new Response(null, { status: 429 }), 429],
    "is broken": [() => new Response("oops", { status: 500 }), 500],
    redirects: [() => Response.redirect("https://evil.example/", 302), 302],
    "sends no body": [() => new Response(null, { status: 204 }), 204],
    "sends no JSON": [() => new Response("<html>"), 200],
    "sends no UTF-8": [() => new Response(new Uint8Array([0x22, 0xff, 0x22])), 200],
    "sends too much data": [() => Response.json("x".repeat(300_000)), 200],
    "cannot be reached": [() => Promise.reject(new TypeError("refused")), null],
    "aborts its response": [
      () => new Response(new ReadableStream({ pull: (body) => body.error(new Error("gone")) })),
      200,
    ],
  };
  for (const [how, [response, upstream_status]] of Object.entries(failures)) {
    it(`/api/socialMe gets 502 with the upstream status if the network ${how}`, async () => {
      socialNetwork(response);
      expect(await socialMe(BEARER)).toMatchObject({
        status: 502,
        body: { error: expect.any(String), code: "upstream_error", upstream_status },
      });
      expect(sent).toHaveLength(1);
    });
  }

  it("/api/socialMe gets 502 if the network never responds", async () => {
    shortenTimeLimit();
    socialNetwork(
      (signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(new DOMException("late", "AbortError")));
        }),
    );
    expect(await socialMe(BEARER)).toMatchObject({ status: 502, body: { upstream_status: null } });
  });

  it("/api/socialMe gets 502 if the network's response never ends", async () => {
    shortenTimeLimit();
    socialNetwork(() => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      void writable.getWriter().write(new TextEncoder().encode('{"id":'));
      return new Response(readable);
    });
    expect(await socialMe(BEARER)).toMatchObject({ status: 502, body: { upstream_status: 200 } });
  });

  it("/api/socialMe gets 502 upstream_not_configured without a configured network", async () => {
    expect(await socialMe(BEARER, {})).toMatchObject({
      status: 502,
      body: { code: "upstream_not_configured", upstream_status: null },
    });
    expect(sent).toHaveLength(0);
  });
});

it("/api/socialMe is limited per address", async () => {
  const keys: string[] = [];
  const LIMIT_SOCIAL_ME = {
    limit: async ({ key }: { key: string }) => ({ success: keys.push(key) <= 1 }),
  };
  const headers = { ...BEARER, "CF-Connecting-IP": "203.0.113.7" };
  expect((await socialMe(headers, { ...SOCIAL, LIMIT_SOCIAL_ME })).status).toBe(200);
  const limited = await socialMe(headers, { ...SOCIAL, LIMIT_SOCIAL_ME });
  expect(limited).toMatchObject({ status: 429, body: { code: "rate_limited" } });
  expect(limited.headers.get("Retry-After")).toBe("60");
  expect(keys).toEqual(["203.0.113.7", "203.0.113.7"]);
  expect(sent).toHaveLength(1);
});

it("/api/socialMe counts an IPv6 network as one address", async () => {
  const keys: string[] = [];
  const LIMIT_SOCIAL_ME = {
    limit: async ({ key }: { key: string }) => ({ success: keys.push(key) > 0 }),
  };
  for (const address of ["2001:db8::1", "2001:db8:0:0:ffff::2"]) {
    const headers = { ...BEARER, "CF-Connecting-IP": address };
    await socialMe(headers, { ...SOCIAL, LIMIT_SOCIAL_ME });
  }
  expect(new Set(keys).size).toBe(1);
});

it("the service refuses a SOCIAL_API_URL that is plain http to another machine", async () => {
  const response = await socialMe(BEARER, { SOCIAL_API_URL: "http://social.test/me" });
  expect(response).toMatchObject({ status: 500, body: { code: "misconfigured" } });
  expect(response.text).toContain("SOCIAL_API_URL");
  expect(sent).toHaveLength(0);
});
