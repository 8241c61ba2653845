import { describe, expect, it } from "vitest";
import { env } from "cloudflare:workers";
import { incompleteIssuers, readConfig } from "../../../src/config/config.ts";
import { sayProblem } from "../../../src/config/problems.ts";

const PRODUCTION = {
  ...env,
  DEV_SIGNIN: "false",
  BASE_URL: "https://passbook.test",
  DEFAULT_STARTER_CREDITS: undefined,
};

/** Reads entries that need no audience unless they say so. */
const read = (entries: readonly object[], more: object = {}) =>
  readRaw(
    entries.map((entry) => ({ any_audience: true, ...entry })),
    more,
  );

function readRaw(entries: readonly object[], more: object = {}) {
  return readConfig({ ...PRODUCTION, TRUSTED_ISSUERS: JSON.stringify(entries), ...more });
}

function problems(entries: readonly object[], more: object = {}): readonly string[] {
  const config = read(entries, more);
  return config.ok ? [] : config.refusal.problems.map(sayProblem);
}

function only(entry: object, more: object = {}) {
  const config = read([entry], more);
  if (!config.ok) throw new Error(JSON.stringify(config.refusal));
  const [issuer] = config.value.trusted_issuers;
  if (issuer === undefined) throw new Error("no issuer");
  return issuer;
}

const provider = (id: string, issuer: string) => ({
  id,
  name: id,
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  scope: "openid",
  client_id: "client",
  client_secret: "secret",
});
const providers = (...list: readonly object[]) => ({ SIGNIN_PROVIDERS: JSON.stringify(list) });

describe("the presets of TRUSTED_ISSUERS", () => {
  it.each([
    [
      { preset: "clerk", issuer: "https://clerk.example.com" },
      "https://clerk.example.com",
      "https://clerk.example.com/.well-known/jwks.json",
      null,
    ],
    [
      {
        preset: "auth0",
        domain: "example.eu.auth0.com",
        audience: "api",
        authorized_parties: ["app"],
      },
      "https://example.eu.auth0.com/",
      "https://example.eu.auth0.com/.well-known/jwks.json",
      ["api"],
    ],
    [
      { preset: "supabase", project_url: "https://abc.supabase.co" },
      "https://abc.supabase.co/auth/v1",
      "https://abc.supabase.co/auth/v1/.well-known/jwks.json",
      ["authenticated"],
    ],
    [
      { preset: "firebase", project_id: "my-project" },
      "https://securetoken.google.com/my-project",
      "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
      ["my-project"],
    ],
    [
      {
        preset: "cognito",
        region: "eu-central-1",
        user_pool_id: "eu-central-1_AbC",
        authorized_parties: ["app"],
      },
      "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbC",
      "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbC/.well-known/jwks.json",
      null,
    ],
    [
      { preset: "workos", client_id: "client_01" },
      "https://api.workos.com/user_management/client_01",
      "https://api.workos.com/sso/jwks/client_01",
      null,
    ],
  ])("the entry %j has the vendor's addresses", (entry, issuer, jwks_uri, audience) => {
    expect(only(entry)).toMatchObject({ issuer, jwks_uri, audience, id: entry.preset });
  });

  it.each([
    [{ preset: "clerk" }, "issuer: is missing"],
    [{ preset: "auth0", domain: "a.auth0.com", authorized_parties: ["a"] }, "audience: is missing"],
    [{ preset: "auth0", domain: "a.auth0.com", audience: "api" }, "authorized_parties: is missing"],
    [{ preset: "firebase" }, "project_id: is missing"],
    [{ preset: "firebase", project_id: "a/../b" }, "project_id: must be a name"],
    [
      { preset: "cognito", region: "eu-central-1", user_pool_id: "pool" },
      "authorized_parties: is missing",
    ],
    [{}, "issuer: is missing"],
    [{ issuer: "http://id.example.com" }, "issuer: must be an https address"],
    [{ issuer: "https://a.test", region: "eu" }, "region: does not belong here"],
    [{ issuer: "https://a.test", authorized_parties: [] }, "authorized_parties: must not be empty"],
    [{ issuer: "https://a.test", audience: "" }, "audience"],
    [{ issuer: "https://a.test", azp: "x" }, "has a field that does not belong there"],
    [{ issuer: "https://passbook.test" }, "issuer: is this service itself"],
    [{ issuer: "https://passbook.test/" }, "issuer: is this service itself"],
    [{ issuer: "https://a.test", provider: "none" }, "provider: is not the id of a provider"],
  ])("the entry %j is refused, and the problem names its field", (entry, problem) => {
    const [first = "", ...others] = problems([entry]);
    expect(others).toEqual([]);
    expect(first).toContain("TRUSTED_ISSUERS, entry 1");
    expect(first).toContain(problem);
  });

  it("two entries with one issuer are refused", () => {
    const entry = { issuer: "https://a.test" };
    expect(problems([entry, entry])).toEqual([
      "TRUSTED_ISSUERS, entry 2, issuer: is the same as that of entry 1",
    ]);
  });

  it("upstream tokens from Clerk need its secret key, and its address is Clerk's or of this machine", () => {
    const entry = { preset: "clerk", issuer: "https://clerk.test", upstream_tokens: "clerk" };
    expect(problems([entry])).toEqual([
      'CLERK_SECRET_KEY: is missing: "upstream_tokens": "clerk" needs it',
    ]);
    const key = { CLERK_SECRET_KEY: "sk_test_x" };
    expect(problems([entry], key)).toEqual([]);
    expect(problems([entry], { ...key, CLERK_API_URL: "http://localhost:1234" })).toEqual([]);
    const [elsewhere] = problems([entry], { ...key, CLERK_API_URL: "https://evil.test" });
    expect(elsewhere).toContain("CLERK_API_URL: must be https://api.clerk.com");
    expect(problems([], { CLERK_SECRET_KEY: "pk_test_x" })[0]).toContain("CLERK_SECRET_KEY");
  });
});

describe("the sign-in method of an issuer's people", () => {
  const issuer = "https://id.example.com";

  it("is the provider with the same issuer, whatever its id is", () => {
    const acme = providers(provider("acme", issuer));
    expect(only({ issuer }, acme)).toMatchObject({ id: "acme", has_signin_provider: true });
    expect(only({ preset: "clerk", issuer }, acme).id).toBe("acme");
  });

  it("is named after the preset or the host if there is no such provider", () => {
    expect(only({ preset: "clerk", issuer })).toMatchObject({
      id: "clerk",
      has_signin_provider: false,
    });
    expect(only({ issuer }).id).toBe("id-example-com");
  });

  it("is the provider that the entry names, with the issuer of its people", () => {
    const other = providers(provider("acme", "https://acme.authkit.app"));
    expect(only({ issuer, provider: "acme" }, other)).toMatchObject({
      id: "acme",
      issuer,
      people_issuer: "https://acme.authkit.app",
    });
  });

  it("is never the provider of another issuer by accident", () => {
    const other = providers(provider("clerk", "https://other.test"));
    expect(problems([{ preset: "clerk", issuer }], other)).toEqual([
      "TRUSTED_ISSUERS, entry 1, issuer: needs the field provider: the id clerk belongs to another issuer",
    ]);
    const two = [
      { preset: "clerk", issuer },
      { preset: "clerk", issuer: "https://second.test" },
    ];
    expect(problems(two)).toEqual([
      "TRUSTED_ISSUERS, entry 2, issuer: needs the field provider: the id clerk belongs to another issuer",
    ]);
  });
});

describe("the warnings about trusted issuers", () => {
  const warnings = (entry: object, more: object = {}) => {
    const config = read([entry], more);
    return config.ok ? incompleteIssuers(config.value).map(({ remedy }) => remedy) : null;
  };

  it("an issuer whose people cannot sign in on our pages is reported", () => {
    const issuer = "https://id.example.com";
    const audience = "passbook";
    expect(warnings({ issuer, audience }, providers(provider("acme", issuer)))).toEqual([]);
    expect(warnings({ issuer, audience })).toEqual([
      "Add a provider with this issuer to SIGNIN_PROVIDERS.",
    ]);
  });
});

describe("an entry that is bound to no audience", () => {
  const issuer = "https://id.example.com";
  const problemsOf = (entry: object): readonly string[] => {
    const config = readRaw([entry]);
    return config.ok ? [] : config.refusal.problems.map(sayProblem);
  };

  it.each([{ issuer }, { preset: "clerk", issuer }])(
    "the entry %j is refused, because tokens for other services would be accepted",
    (entry) => {
      expect(problemsOf(entry)).toEqual([
        expect.stringContaining('set one of them, or "any_audience": true'),
      ]);
    },
  );

  it.each([
    { issuer, audience: "passbook" },
    { issuer, authorized_parties: ["https://app.example.com"] },
    { issuer, any_audience: true },
    { preset: "workos", client_id: "client_01" },
  ])("the entry %j is accepted", (entry) => {
    expect(problemsOf(entry)).toEqual([]);
  });
});
