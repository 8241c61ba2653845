import { describe, expect, it, vi } from "vitest";
import { environmentWith, send, signIn } from "../support/passbook.ts";

const BITS = "A".repeat(43);
const KEY = { kty: "OKP", crv: "Ed25519", kid: "one", x: BITS, d: BITS };
const SEAL = { kty: "oct", kid: "one", k: BITS };
const PRODUCTION = { DEV_SIGNIN: "false", BASE_URL: "https://passbook.example" };

describe("invalid settings", () => {
  it.each<[string, Record<string, unknown>]>([
    ["BASE_URL", { DEV_SIGNIN: "false" }],
    ["BASE_URL", { BASE_URL: "passbook.example" }],
    ["BASE_URL", { BASE_URL: "https://passbook.example/path" }],
    ["BASE_URL", { BASE_URL: "http://passbook.example" }],
    ["COOKIE_DOMAIN", { COOKIE_DOMAIN: "com" }],
    ["COOKIE_DOMAIN", { COOKIE_DOMAIN: ".example.com; Secure" }],
    ["ALLOWED_ORIGINS", { ALLOWED_ORIGINS: "https://app.example.com,*" }],
    ["ALLOWED_ORIGINS", { ALLOWED_ORIGINS: "javascript://x" }],
    ["ALLOWED_ORIGINS", { ALLOWED_ORIGINS: "https://*.example.com,https://*.co.uk" }],
    ["SIGNING_KEYS", { SIGNING_KEYS: undefined }],
    ["SIGNING_KEYS", { SIGNING_KEYS: "s3cret" }],
    ["SIGNING_KEYS", { SIGNING_KEYS: '{"keys":[]}' }],
    ["SIGNING_KEYS", { SIGNING_KEYS: '{"keys":[{"kty":"RSA","kid":"s3cret"}]}' }],
    ["SIGNING_KEYS", { SIGNING_KEYS: JSON.stringify({ keys: [KEY, KEY] }) }],
    ["SIGNING_KEYS", { SIGNING_KEYS: JSON.stringify({ keys: [{ ...KEY, d: "s3cret" }] }) }],
    ["ENCRYPTION_KEYS", { ENCRYPTION_KEYS: JSON.stringify({ keys: [SEAL, SEAL] }) }],
    ["BASE_URL", { BASE_URL: "ftp://localhost" }],
    ["BASE_URL", { BASE_URL: "wss://localhost" }],
    ["COOKIE_DOMAIN", { ...PRODUCTION, COOKIE_DOMAIN: "other.example" }],
    ["COOKIE_DOMAIN", { ...PRODUCTION, COOKIE_DOMAIN: "sub.passbook.example" }],
    ["COOKIE_DOMAIN", { ...PRODUCTION, COOKIE_DOMAIN: "book.example" }],
    ["DEV_SIGNIN", { ...PRODUCTION, DEV_SIGNIN: "true" }],
    ["DEFAULT_STARTER_CREDITS", { DEFAULT_STARTER_CREDITS: "-1" }],
    ["DEFAULT_STARTER_CREDITS", { DEFAULT_STARTER_CREDITS: "1.5" }],
    ["DEFAULT_STARTER_CREDITS", { DEFAULT_STARTER_CREDITS: "many" }],
    ["DEFAULT_STARTER_CREDITS", { ...PRODUCTION, DEFAULT_STARTER_CREDITS: "100" }],
    ["DEFAULT_STARTER_CREDITS", { ...PRODUCTION, DEFAULT_STARTER_CREDITS: "0" }],
    ["ARCHIVE_AFTER_DAYS", { ARCHIVE_AFTER_DAYS: "-1" }],
    ["ARCHIVE_AFTER_DAYS", { ...PRODUCTION, ARCHIVE_AFTER_DAYS: "0" }],
    ["ARCHIVE_AFTER_DAYS", { ...PRODUCTION, ARCHIVE_AFTER_DAYS: "34", READ_MODEL_DAYS: "10" }],
    ["ARCHIVE_AFTER_DAYS", { ...PRODUCTION, ARCHIVE_AFTER_DAYS: "90", READ_MODEL_DAYS: "91" }],
    ["ACCOUNT_STORAGE_BYTES", { ACCOUNT_STORAGE_BYTES: "999999" }],
    ["ACCOUNT_STORAGE_BYTES", { ACCOUNT_STORAGE_BYTES: "8500000001" }],
    ["DEV_SIGNIN", { DEV_SIGNIN: "yes" }],
    ["SIGNIN_PROVIDERS", { SIGNIN_PROVIDERS: '[{"preset":"nobody"}]' }],
    ["SIGNIN_PROVIDERS", { SIGNIN_PROVIDERS: "{}" }],
    ["ENCRYPTION_KEYS", { ENCRYPTION_KEYS: '{"keys":[{"kty":"oct","kid":"a","k":"s3cret"}]}' }],
    ["TOKEN_TEMPLATES", { TOKEN_TEMPLATES: '{"a":{"ttl_seconds":0}}' }],
  ])(
    "invalid settings stop the service, which names %s and shows no value",
    async (variable, settings) => {
      const logged = vi.spyOn(console, "error").mockReturnValue();
      const answer = await send("GET", "/api/wallet", {}, environmentWith(settings));
      expect(answer).toMatchObject({ status: 500, body: { code: "misconfigured" } });
      expect(answer.body.error).toContain(variable);
      expect(answer.text + JSON.stringify(logged.mock.calls)).not.toContain("s3cret");
    },
  );

  it("the usual production settings are valid", async () => {
    const answer = await send("GET", "/api/wallet", {}, environmentWith(PRODUCTION));
    expect(answer.status).toBe(401);
  });
});

describe("the development sign-in", () => {
  it("the development sign-in does not exist unless DEV_SIGNIN is true", async () => {
    const body = new URLSearchParams({ email: "ada@example.com" });
    const answer = await send("POST", "/signin/dev", { body }, environmentWith(PRODUCTION));
    expect(answer).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(answer.headers.getSetCookie()).toEqual([]);
    const page = await send("GET", "/signin", {}, environmentWith(PRODUCTION));
    expect(page.text).not.toContain("/signin/dev");
  });

  it.each(["", "ada", "ada@", "@example.com", `${"a".repeat(250)}@example.com`])(
    "the development sign-in refuses %j as an e-mail address",
    async (email) => {
      const body = new URLSearchParams({ email });
      const answer = await send("POST", "/signin/dev", { body });
      expect(answer.status).toBe(400);
      expect(answer.headers.getSetCookie()).toEqual([]);
    },
  );
});

describe("every response", () => {
  it.each(["/signin", "/api/wallet", "/api/nothing", "/nothing"])(
    "the response of %s has the security headers",
    async (path) => {
      const { headers } = await send("GET", path);
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(headers.get("Referrer-Policy")).toBe("same-origin");
      const policy = headers.get("Content-Security-Policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
    },
  );

  it.each(["/api/wallet", "/api/jobs", "/api/nothing", "/signin"])(
    "the response of %s is never cached",
    async (path) => {
      expect((await send("GET", path)).headers.get("Cache-Control")).toBe("no-store");
    },
  );
});

describe("the rate limit", () => {
  it("one identity beyond its rate limit gets 429 with Retry-After", async () => {
    const environment = environmentWith({
      LIMIT_AUTHENTICATED: { limit: async () => ({ success: false }) },
    });
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}` };
    const answer = await send("GET", "/api/wallet", { headers }, environment);
    expect(answer).toMatchObject({ status: 429, body: { code: "rate_limited" } });
    expect(answer.headers.get("Retry-After")).toBe("10");
  });
});
