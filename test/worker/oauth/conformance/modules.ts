/**
 * The 38 modules of `oidcc-basic-certification-test-plan` and the one of the Config plan (OpenID Foundation's suite of
 * 2026-08-20), as tests that need no network and no browser. The names are those of the suite without `oidcc-`.
 */
import { expect } from "vitest";
import {
  authorize,
  codeOf,
  readKeys,
  redeem,
  requestTokens,
  requestUserinfo,
  responseOf,
  signIn,
  startRun,
  verifyIdToken,
  type Run,
  type Target,
  type Tokens,
} from "./target.ts";

/** The suite's results. A module that fails throws. */
export type Outcome =
  | { readonly result: "passed" }
  | { readonly result: "warned" | "skipped"; readonly why: string };

export type Module = (target: Target) => Promise<Outcome>;

const PASSED: Outcome = { result: "passed" };
const warned = (why: string): Outcome => ({ result: "warned", why });
const skipped = (why: string): Outcome => ({ result: "skipped", why });

/** The server does not object to these parameters, and the flow succeeds. */
function succeedsWith(parameters: Readonly<Record<string, string | undefined>>): Module {
  return async (target) => {
    await signIn(await startRun(target), parameters);
    return PASSED;
  };
}

async function userinfoOf(
  run: Run,
  tokens: Tokens,
  sub: unknown,
): Promise<Record<string, unknown>> {
  const response = await requestUserinfo(run, tokens.access_token);
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toMatch(/^application\/json\b/);
  const claims = (await response.json()) as Record<string, unknown>;
  expect(claims["sub"]).toBe(sub);
  return claims;
}

function userinfoBy(how: "get" | "post_header" | "post_body"): Module {
  return async (target) => {
    const run = await startRun(target);
    const { tokens, id_token } = await signIn(run);
    const response = await requestUserinfo(run, tokens.access_token, how);
    if (how === "post_body" && response.status !== 200) {
      return warned("the token is not accepted in a form");
    }
    expect(response.status).toBe(200);
    const { sub } = (await response.json()) as { readonly sub: string };
    expect(sub).toBe(id_token.claims.sub);
    return PASSED;
  };
}

/** The claims that each scope requests (OpenID Connect Core, section 5.4). A server may lack some of their values. */
const CLAIMS_OF_SCOPE = {
  profile: [
    "name",
    "family_name",
    "given_name",
    "middle_name",
    "nickname",
    "preferred_username",
    "profile",
    "picture",
    "website",
    "gender",
    "birthdate",
    "zoneinfo",
    "locale",
    "updated_at",
  ],
  email: ["email", "email_verified"],
  address: ["address"],
  phone: ["phone_number", "phone_number_verified"],
} as const;

type ClaimScope = keyof typeof CLAIMS_OF_SCOPE;

function scopes(...asked: readonly ClaimScope[]): Module {
  return async (target) => {
    const run = await startRun(target);
    const supported = run.metadata.scopes_supported ?? [];
    const lacking = asked.filter((scope) => !supported.includes(scope));
    if (lacking.length > 0) return skipped(`scopes_supported lacks ${lacking.join(", ")}`);
    const { tokens, id_token } = await signIn(run, { scope: ["openid", ...asked].join(" ") });
    const claims = await userinfoOf(run, tokens, id_token.claims.sub);
    const wanted = asked.flatMap((scope): readonly string[] => CLAIMS_OF_SCOPE[scope]);
    const missing = wanted.filter((claim) => !Object.hasOwn(claims, claim));
    return missing.length === 0 ? PASSED : warned(`no claim ${missing.join(", ")}`);
  };
}

/** A request object without a signature (section 6.1). */
function unsignedRequest(claims: object): string {
  const part = (value: object): string =>
    btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${part({ alg: "none" })}.${part(claims)}.`;
}

/** An unsigned request object, which a server rejects with this error unless it lists the algorithm `none`. */
function rejectsUnsigned(
  error: string,
  parametersOf: (run: Run) => Record<string, string>,
): Module {
  return async (target) => {
    const run = await startRun(target);
    const listed = run.metadata["request_object_signing_alg_values_supported"];
    if (Array.isArray(listed) && listed.includes("none")) {
      await signIn(run, parametersOf(run));
      return PASSED;
    }
    const answer = await authorize(run, parametersOf(run));
    expect(responseOf(run, answer).get("error")).toBe(error);
    return skipped("the server lists no unsigned request objects");
  };
}

/** Signs in twice with one browser. */
async function twice(run: Run, second: Readonly<Record<string, string>>, pause_seconds: number) {
  const before = await signIn(run, { max_age: "3600" });
  await run.target.wait(pause_seconds);
  const after = await signIn(run, second);
  expect(after.id_token.claims.sub).toBe(before.id_token.claims.sub);
  const timeOf = ({ id_token }: typeof before): number => id_token.claims["auth_time"] as number;
  expect(timeOf(before)).toEqual(expect.any(Number));
  return { before, after, auth_times: [timeOf(before), timeOf(after)] as const };
}

/** The second request requires a new sign-in, which `auth_time` shows. */
function signsInAgain(second: Readonly<Record<string, string>>): Module {
  return async (target) => {
    // More than the one second of `max_age`, and than the resolution of `auth_time`.
    const { before, after, auth_times } = await twice(await startRun(target), second, 2);
    expect(before.steps).toContain("sign_in");
    expect(after.steps).toContain("sign_in");
    expect(auth_times[1]).toBeGreaterThan(auth_times[0]);
    return PASSED;
  };
}

/** The second request shows no page, and tells the client of the same sign-in. */
function staysSignedIn(
  second: (first_id_token: string) => Readonly<Record<string, string>>,
): Module {
  return async (target) => {
    const run = await startRun(target);
    const first = await signIn(run);
    const { after, auth_times } = await twice(run, second(first.tokens.id_token), 1);
    expect(after.steps).toEqual([]);
    if (auth_times[1] !== undefined) expect(auth_times[1]).toBe(auth_times[0]);
    return PASSED;
  };
}

/** A code that is used again is refused, and after a while the tokens of its first use end. */
function refusesUsedCode(pause_seconds: number): Module {
  return async (target) => {
    const run = await startRun(target);
    const { code, tokens } = await signIn(run);
    await target.wait(pause_seconds);
    const again = await redeem(run, code);
    expect(again.status).toBe(400);
    expect(await again.json()).toMatchObject({ error: "invalid_grant" });
    const alive = (await requestUserinfo(run, tokens.access_token)).status === 200;
    return alive && pause_seconds > 0 ? warned("the access token still works") : PASSED;
  };
}

export const MODULES: Readonly<Record<string, Module>> = {
  server: async (target) => {
    const run = await startRun(target);
    const first = await signIn(run);
    const second = await signIn(run);
    expect(second.code).not.toBe(first.code);
    expect(second.tokens.access_token).not.toBe(first.tokens.access_token);
    return PASSED;
  },
  "server-client-secret-post": async (target) => {
    await signIn(await startRun(target, target.clients.post));
    return PASSED;
  },
  "idtoken-signature": async (target) => {
    const run = await startRun(target);
    const { id_token } = await signIn(run);
    expect(id_token.alg).toBe("RS256");
    return PASSED;
  },
  "idtoken-unsigned": async (target) => {
    const { metadata } = await startRun(target);
    expect(metadata.id_token_signing_alg_values_supported).not.toContain("none");
    return skipped("the server lists no unsigned ID tokens");
  },
  "request-uri-unsigned-supported-correctly-or-rejected-as-unsupported": rejectsUnsigned(
    "request_uri_not_supported",
    () => ({ request_uri: "https://client.test/request.jwt" }),
  ),
  "unsigned-request-object-supported-correctly-or-rejected-as-unsupported": rejectsUnsigned(
    "request_not_supported",
    ({ client: { client_id: iss } }) => ({ request: unsignedRequest({ iss, nonce: "inside" }) }),
  ),
  "ensure-request-object-with-redirect-uri": rejectsUnsigned(
    "request_not_supported",
    ({ client: { client_id: iss, redirect_uri } }) => ({
      request: unsignedRequest({ iss, redirect_uri }),
    }),
  ),
  "response-type-missing": async (target) => {
    const run = await startRun(target);
    const answer = await authorize(run, { response_type: undefined });
    if (answer.landing.kind === "page") expect(answer.landing.page.status).toBe(400);
    else {
      const error = responseOf(run, answer).get("error");
      expect(["invalid_request", "unsupported_response_type"]).toContain(error);
    }
    return PASSED;
  },
  "ensure-registered-redirect-uri": async (target) => {
    const run = await startRun(target);
    const redirect_uri = `${run.client.redirect_uri}/another`;
    const { landing } = await authorize(run, { redirect_uri });
    if (landing.kind === "left") throw new Error(`It redirects to ${landing.url.href}.`);
    expect(landing.page.status).toBe(400);
    return PASSED;
  },
  "userinfo-get": userinfoBy("get"),
  "userinfo-post-header": userinfoBy("post_header"),
  "userinfo-post-body": userinfoBy("post_body"),
  "scope-profile": scopes("profile"),
  "scope-email": scopes("email"),
  "scope-address": scopes("address"),
  "scope-phone": scopes("phone"),
  "scope-all": scopes("profile", "email", "address", "phone"),
  "claims-essential": async (target) => {
    const run = await startRun(target);
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
    const { tokens, id_token } = await signIn(run, { claims });
    const userinfo = await userinfoOf(run, tokens, id_token.claims.sub);
    return "name" in userinfo ? PASSED : warned("no claim name");
  },
  "alternate-happy-flow": async (target) => {
    const run = await startRun(target);
    const long = "another-state-~.!*'()".repeat(12);
    await signIn(run, { scope: "email openid", state: long, nonce: long.slice(0, 128) });
    return PASSED;
  },
  "display-page": succeedsWith({ display: "page" }),
  "display-popup": succeedsWith({ display: "popup" }),
  "ui-locales": succeedsWith({ ui_locales: "se" }),
  "claims-locales": succeedsWith({ claims_locales: "se" }),
  "login-hint": succeedsWith({ login_hint: "ada@example.com" }),
  "ensure-request-with-acr-values-succeeds": succeedsWith({ acr_values: "1 2" }),
  "ensure-request-with-unknown-parameter-succeeds": succeedsWith({ extra: "foobar" }),
  "ensure-request-without-nonce-succeeds-for-code-flow": succeedsWith({ nonce: undefined }),
  "ensure-request-with-valid-pkce-succeeds": async (target) => {
    const verifier = crypto.randomUUID() + crypto.randomUUID();
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
    const code_challenge = btoa(String.fromCharCode(...new Uint8Array(digest)))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
    const pkce = { code_challenge, code_challenge_method: "S256" };
    await signIn(await startRun(target), pkce, { verifier });
    const run = await startRun(target);
    const code = codeOf(run, await authorize(run, pkce));
    expect((await redeem(run, code, `${verifier}x`)).status).toBe(400);
    return PASSED;
  },
  "ensure-post-request-succeeds": async (target) => {
    await signIn(await startRun(target), {}, { method: "POST" });
    return PASSED;
  },
  "prompt-login": signsInAgain({ prompt: "login" }),
  "max-age-1": signsInAgain({ max_age: "1" }),
  "prompt-none-not-logged-in": async (target) => {
    const run = await startRun(target);
    const answer = await authorize(run, { prompt: "none" });
    expect(responseOf(run, answer).get("error")).toBe("login_required");
    expect(responseOf(run, answer).has("code")).toBe(false);
    return PASSED;
  },
  "prompt-none-logged-in": staysSignedIn(() => ({ prompt: "none" })),
  "id-token-hint": staysSignedIn((id_token_hint) => ({ prompt: "none", id_token_hint })),
  "max-age-10000": staysSignedIn(() => ({ prompt: "none", max_age: "10000" })),
  codereuse: refusesUsedCode(0),
  "codereuse-30seconds": refusesUsedCode(30),
  "refresh-token": async (target) => {
    const run = await startRun(target);
    const offline = run.metadata.scopes_supported?.includes("offline_access") === true;
    const asked = { scope: "openid offline_access", prompt: "consent" };
    const first = await signIn(run, offline ? asked : {});
    const { refresh_token } = first.tokens;
    if (refresh_token === undefined) return skipped("the server issued no refresh token");
    const parameters = { grant_type: "refresh_token", refresh_token };
    const foreign = await requestTokens(run, target.clients.other, parameters);
    expect(foreign.status).toBe(400);
    expect(await foreign.json()).toMatchObject({ error: "invalid_grant" });
    // As in the suite: times in tokens are in seconds.
    await target.wait(1);
    const response = await requestTokens(run, run.client, parameters);
    expect(response.status).toBe(200);
    const next = (await response.json()) as Tokens;
    expect(next.access_token).not.toBe(first.tokens.access_token);
    await userinfoOf(run, next, first.id_token.claims.sub);
    if (next.id_token === undefined) return PASSED;
    // OpenID Connect Core, section 12.2.
    const { claims } = await verifyIdToken(run, next.id_token);
    expect(claims.sub).toBe(first.id_token.claims.sub);
    expect(claims["auth_time"]).toBe(first.id_token.claims["auth_time"]);
    expect([undefined, first.id_token.claims["nonce"]]).toContain(claims["nonce"]);
    return PASSED;
  },
};

const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "k"];

/** `oidcc-discovery-endpoint-verification` of the Config plan. */
export const DISCOVERY: Module = async (target) => {
  const run = await startRun(target);
  const { metadata } = run;
  expect(metadata.issuer).toBe(target.issuer);
  const { protocol } = new URL(target.issuer);
  const endpoints = ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"];
  for (const name of endpoints) {
    expect(new URL(String(metadata[name])).protocol, name).toBe(protocol);
  }
  expect(metadata["response_types_supported"]).toContain("code");
  expect(metadata["subject_types_supported"]).toContain("public");
  expect(metadata.id_token_signing_alg_values_supported).toContain("RS256");
  expect(metadata.scopes_supported).toContain("openid");
  expect(metadata["claims_supported"]).toContain("sub");
  const { keys } = await readKeys(run);
  expect(keys.some(({ kty }) => kty === "RSA")).toBe(true);
  expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length);
  for (const key of keys) {
    for (const member of PRIVATE_MEMBERS) expect(key).not.toHaveProperty(member);
  }
  return PASSED;
};
