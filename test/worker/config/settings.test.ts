import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { mistakenSettings, readConfig } from "../../../src/config/config.ts";
import { sayProblem } from "../../../src/config/problems.ts";
import { send } from "../support/passbook.ts";

/** The problems of the usual environment with these settings. */
function problemsOf(settings: object): readonly string[] {
  const read = readConfig({ ...env, ...settings });
  return read.ok ? [] : read.refusal.problems.map(sayProblem);
}

const SECRET = "s3cret-s3cret";
const GITHUB = { preset: "github", client_id: "id", client_secret: SECRET };
const ACME = {
  id: "acme",
  name: "Acme",
  issuer: "https://id.acme.example",
  authorization_endpoint: "https://id.acme.example/authorize",
  token_endpoint: "https://id.acme.example/token",
  jwks_uri: "https://id.acme.example/jwks",
  scope: "openid",
  client_id: "id",
  client_secret: SECRET,
};

describe("the setting SIGNIN_METHODS", () => {
  it.each([
    ["providers", undefined, [true, false]],
    ["providers", "", [true, false]],
    ["only passkeys", "passkey", [false, true]],
    ["both", "passkey, providers", [true, true]],
  ] as const)(
    "%s can sign people in with the value %j",
    (_, SIGNIN_METHODS, [providers, passkey]) => {
      const read = readConfig({
        ...env,
        SIGNIN_METHODS,
        SIGNIN_PROVIDERS: JSON.stringify([GITHUB]),
      });
      if (!read.ok) throw new Error(JSON.stringify(read.refusal));
      expect(read.value.provider_signin).toBe(providers);
      expect(read.value.passkey_signin).toBe(passkey);
      expect(read.value.signin_providers).toHaveLength(1);
    },
  );

  it("an unknown sign-in method is a problem that names it", () => {
    expect(problemsOf({ SIGNIN_METHODS: "passkey,password" })).toEqual([
      'SIGNIN_METHODS, entry 2: "password" is not one of providers, passkey',
    ]);
  });
});

describe("a problem of SIGNIN_PROVIDERS", () => {
  it.each<[string, unknown, readonly string[]]>([
    ["no JSON", "[{]", ["SIGNIN_PROVIDERS: is not JSON"]],
    ["no array", {}, ["SIGNIN_PROVIDERS: must be an array"]],
    ["an entry that is text", [SECRET], ["SIGNIN_PROVIDERS, entry 1: must be an object"]],
    [
      "an unknown preset",
      [GITHUB, { ...GITHUB, preset: SECRET }],
      ['SIGNIN_PROVIDERS, entry 2, preset: must be "github" or "google" or "x"'],
    ],
    [
      "a preset without its client",
      [{ preset: "google" }],
      [
        "SIGNIN_PROVIDERS, entry 1, client_id: is missing",
        "SIGNIN_PROVIDERS, entry 1, client_secret: is missing",
      ],
    ],
    [
      "an empty secret",
      [{ ...GITHUB, client_secret: "" }],
      ["SIGNIN_PROVIDERS, entry 1, client_secret: must not be empty"],
    ],
    [
      "a misspelled field",
      [{ ...GITHUB, secret: SECRET }],
      ["SIGNIN_PROVIDERS, entry 1: has a field that does not belong there"],
    ],
    [
      "plain http",
      [{ ...ACME, token_endpoint: "http://id.acme.example/token" }],
      ["SIGNIN_PROVIDERS, entry 1, token_endpoint: must be an https address"],
    ],
    [
      "missing endpoints",
      [{ ...ACME, issuer: undefined, token_endpoint: undefined }],
      [
        "SIGNIN_PROVIDERS, entry 1, issuer: is missing",
        "SIGNIN_PROVIDERS, entry 1, token_endpoint: is missing",
      ],
    ],
    [
      "openid without keys",
      [{ ...ACME, jwks_uri: undefined }],
      ["SIGNIN_PROVIDERS, entry 1, jwks_uri: is missing: the scope openid requires it"],
    ],
    [
      "one id twice",
      [ACME, GITHUB, ACME],
      ["SIGNIN_PROVIDERS, entry 3, id: is the same as that of entry 1"],
    ],
    [
      "an id of ours",
      [{ ...ACME, id: "callback" }],
      [
        "SIGNIN_PROVIDERS, entry 1, id: must have 1 to 32 characters of a-z 0-9 - and not be dev, callback or passkey",
      ],
    ],
  ])(
    "a problem of SIGNIN_PROVIDERS (%s) is named by entry and field, without a value",
    (_, value, expected) => {
      const json = typeof value === "string" ? value : JSON.stringify(value);
      const problems = problemsOf({ SIGNIN_PROVIDERS: json });
      expect(problems).toEqual(expected);
      expect(problems.join()).not.toContain(SECRET);
    },
  );
});

describe("a problem of OPERATORS", () => {
  it("an unknown role, and two roles for one name, are named by their entries", () => {
    expect(problemsOf({ OPERATORS: "user_1, ada@example.com=owner, a b" })).toEqual([
      "OPERATORS, entry 2: ends in an unknown role; write =viewer, =support or =admin, or no role for admin",
      "OPERATORS, entry 3: is not an identity id, an address such as ada@example.com, or google:ada@example.com with the provider's id",
    ]);
    const twice = "has another role than another entry with the same name; keep one of them";
    expect(problemsOf({ OPERATORS: "Ada@example.com, user_1, ada@example.com=viewer" })).toEqual([
      `OPERATORS, entry 1: ${twice}`,
      `OPERATORS, entry 3: ${twice}`,
    ]);
    const same = "user_1=viewer, user_1=viewer, google:ada@example.com=viewer, ada@example.com";
    expect(problemsOf({ OPERATORS: same })).toEqual([]);
  });
});

describe("problems of settings", () => {
  it("all problems of settings are reported at once, also those between two settings", () => {
    expect(
      problemsOf({
        DEV_SIGNIN: "false",
        BASE_URL: undefined,
        SIGNING_KEYS: undefined,
        ENCRYPTION_KEYS: JSON.stringify({ keys: [{ kty: "oct", kid: "", k: SECRET }] }),
        ALLOWED_ORIGINS: "https://app.example.com, app.example.com",
        PAT_TTL_DAYS: "9999",
        TOKEN_TEMPLATES: '{"maps":{"audience":"https://maps.example.com"}}',
      }),
    ).toEqual([
      expect.stringMatching(/^ALLOWED_ORIGINS, entry 2: must have a form such as https:\/\/app/),
      "SIGNING_KEYS: is missing",
      "ENCRYPTION_KEYS, keys, entry 1, kid: must not be empty",
      "ENCRYPTION_KEYS, keys, entry 1, k: is not 256 bits",
      "TOKEN_TEMPLATES, maps, ttl_seconds: is missing",
      expect.stringMatching(/^PAT_TTL_DAYS: must be at most \d+$/),
      expect.stringMatching(/^BASE_URL: is required unless DEV_SIGNIN is true/),
    ]);
  });

  it("a rule between two settings is checked only if both are valid", () => {
    expect(problemsOf({ BASE_URL: "nonsense", COOKIE_DOMAIN: "example.com" })).toEqual([
      "BASE_URL: is not an origin such as https://passbook.example.com",
    ]);
  });
});

describe("an unknown variable that looks like a setting", () => {
  it.each([
    ["ALOWED_ORIGINS", "ALLOWED_ORIGINS"],
    ["BASEURL", "BASE_URL"],
    ["SIGNING_KEY", "SIGNING_KEYS"],
    ["SIGNIN_PROVIDER", "SIGNIN_PROVIDERS"],
    ["PASSBOOK_BASE_URL", "BASE_URL"],
    ["cookie_domain", "COOKIE_DOMAIN"],
  ])("the unknown variable %s is recognised as %s", (name, meant) => {
    expect(mistakenSettings({ [name]: SECRET })).toEqual([{ name, meant }]);
  });

  it("bindings, settings and unrelated variables are not reported as mistakes", () => {
    expect(mistakenSettings({ ...env, PATH: "x", HOME: "x", CF_VERSION_METADATA: "x" })).toEqual(
      [],
    );
  });

  it("a mistaken variable is logged by its name only", async () => {
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    await send("GET", "/signin", {}, { ALOWED_ORIGINS: SECRET });
    expect(warned.mock.calls).toEqual([
      [{ event: "setting_unknown", name: "ALOWED_ORIGINS", meant: "ALLOWED_ORIGINS" }],
    ]);
  });
});

describe("a misconfigured service", () => {
  const broken = { SIGNING_KEYS: undefined, PAT_TTL_DAYS: "soon" };

  it("a misconfigured service shows people a styled page", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const page = await send("GET", "/account", { headers: { Accept: "text/html" } }, broken);
    expect(page.status).toBe(500);
    expect(page.headers.get("Content-Type")).toContain("text/html");
    expect(page.text).toContain("not set up yet");
    expect(page.text).not.toContain('href="/account"');
    expect(page.text).toContain('href="/static/passbook.css');
  });

  it("a misconfigured service names all invalid settings to programs and in the log", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const answer = await send("GET", "/api/wallet", {}, { ...broken });
    expect(answer.body).toEqual({
      error: expect.stringContaining("SIGNING_KEYS, PAT_TTL_DAYS"),
      code: "misconfigured",
    });
    expect(logged.mock.calls[0]).toEqual([
      {
        event: "misconfigured",
        problems: ["SIGNING_KEYS: is missing", "PAT_TTL_DAYS: is not a whole number"],
      },
    ]);
  });
});

it("an empty BASE_URL counts as not set", () => {
  expect(problemsOf({ BASE_URL: "" })).toEqual([]);
  expect(problemsOf({ BASE_URL: "", DEV_SIGNIN: "false" })).toEqual([
    expect.stringMatching(/^BASE_URL: is required/),
  ]);
});
