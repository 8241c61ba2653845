import { describe, expect, it } from "vitest";
import { readAuthorizeRequest, whyPkceMissing } from "../../../src/domain/authorize_request.ts";

const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const VALID = {
  response_type: "code",
  client_id: "demo~web",
  redirect_uri: "https://demo.example/callback",
  scope: "openid write",
  state: "s1",
  nonce: "n1",
  code_challenge: CHALLENGE,
  code_challenge_method: "S256",
};

/** The valid request with some parameters replaced; undefined removes one, an array sends it several times. */
function read(changes: Readonly<Record<string, string | readonly string[] | undefined>> = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...VALID, ...changes })) {
    for (const one of value === undefined ? [] : [value].flat()) query.append(name, one);
  }
  return readAuthorizeRequest(query);
}

/** The error of a request that names its address. */
function errorOf(changes: Parameters<typeof read>[0]): string | null {
  const request = read(changes);
  if (!request.ok) throw new Error(`no address: ${request.refusal}`);
  return request.value.asked.ok ? null : request.value.asked.refusal.error;
}

function askedOf(changes: Parameters<typeof read>[0] = {}) {
  const request = read(changes);
  if (!request.ok || !request.value.asked.ok) throw new Error("refused");
  return request.value.asked.value;
}

describe("an authorization request", () => {
  it("a request with every parameter is read", () => {
    const prompt = "login consent";
    const more = { resource: "https://mcp.example", prompt, max_age: "60", login_hint: "ada" };
    expect(read(more)).toEqual({
      ok: true,
      value: {
        address: {
          client_id: "demo~web",
          redirect_uri: "https://demo.example/callback",
          state: "s1",
        },
        asked: {
          ok: true,
          value: {
            scopes: ["openid", "write"],
            code_challenge: CHALLENGE,
            resource: "https://mcp.example",
            nonce: "n1",
            prompts: ["login", "consent"],
            max_age_seconds: 60,
            hinted_identity_id: null,
          },
        },
      },
    });
  });

  it.each([
    ["client_id", undefined, "client_id_missing"],
    ["client_id", "", "client_id_missing"],
    ["client_id", ["demo~web", "demo~other"], "client_id_repeated"],
    ["redirect_uri", undefined, "redirect_uri_missing"],
    ["redirect_uri", ["https://a.example/", "https://b.example/"], "redirect_uri_repeated"],
  ])("a request with the %s %s names no address for a response", (name, value, refusal) => {
    expect(read({ [name]: value })).toEqual({ ok: false, refusal });
  });

  it.each([
    ["response_type", undefined, "invalid_request"],
    ["response_type", "token", "unsupported_response_type"],
    ["response_type", "code id_token", "unsupported_response_type"],
    ["response_mode", "fragment", "invalid_request"],
    ["request", "eyJ", "request_not_supported"],
    ["request_uri", "https://demo.example/request", "request_uri_not_supported"],
    ["registration", "{}", "registration_not_supported"],
    ["code_challenge_method", "plain", "invalid_request"],
    ["code_challenge_method", undefined, "invalid_request"],
    ["code_challenge", undefined, "invalid_request"],
    ["code_challenge", "short", "invalid_request"],
    ["prompt", "none login", "invalid_request"],
    ["prompt", "create", "invalid_request"],
    ["max_age", "-1", "invalid_request"],
    ["max_age", "1.5", "invalid_request"],
    ["max_age", "9".repeat(20), "invalid_request"],
    ["id_token_hint", "a.b.c", "invalid_request"],
    ["id_token_hint", `a.${btoa("{}")}.c`, "invalid_request"],
    ["resource", ["https://a.example", "https://b.example"], "invalid_target"],
    ["scope", ["read", "write"], "invalid_request"],
    ["state", ["a", "b"], "invalid_request"],
    ["nonce", ["a", "b"], "invalid_request"],
    ["code_challenge", [CHALLENGE, CHALLENGE], "invalid_request"],
  ])("a request with the %s %s is refused with %s", (name, value, error) => {
    expect(errorOf({ [name]: value })).toBe(error);
  });

  it("a state that is sent twice is not returned", () => {
    expect(read({ state: ["a", "b"] })).toMatchObject({ value: { address: { state: null } } });
  });

  it("unknown parameters and parameters without a value are ignored", () => {
    const unknown = { extra: "foobar", acr_values: "1 2", claims_locales: ["se", "de"] };
    expect(askedOf().resource).toBeNull();
    const empty = { prompt: "", max_age: "", resource: "", request: "", response_mode: "query" };
    expect(askedOf({ ...unknown, ...empty })).toEqual(askedOf());
  });

  it("a request without a scope differs from one with an unknown scope", () => {
    expect(askedOf({ scope: undefined }).scopes).toBeUndefined();
    expect(askedOf({ scope: "phone phone" }).scopes).toEqual(["phone"]);
  });

  it("a prompt may be none, and the largest age is a hundred years", () => {
    expect(askedOf({ prompt: "none" }).prompts).toEqual(["none"]);
    expect(askedOf({ max_age: "3153600000" }).max_age_seconds).toBe(3_153_600_000);
    expect(errorOf({ max_age: "3153600001" })).toBe("invalid_request");
  });

  it("an ID token hint whose subject is not a text is refused", () => {
    const id_token_hint = `e30.${btoa(JSON.stringify({ sub: 7 }))}.x`;
    expect(errorOf({ id_token_hint })).toBe("invalid_request");
  });

  it("an ID token hint names the person whom the client expects", () => {
    const id_token_hint = `e30.${btoa(JSON.stringify({ sub: "user_1" }))}.x`;
    expect(askedOf({ id_token_hint }).hinted_identity_id).toBe("user_1");
  });

  it("only a client with optional PKCE may leave out the challenge", () => {
    const without = askedOf({ code_challenge: undefined, code_challenge_method: undefined });
    expect(whyPkceMissing(without, { pkce_optional: false })?.error).toBe("invalid_request");
    expect(whyPkceMissing(without, { pkce_optional: true })).toBeNull();
    expect(whyPkceMissing(askedOf(), { pkce_optional: false })).toBeNull();
  });

  it("descriptions of errors have only the characters that RFC 6749 allows", () => {
    const requests = [
      { response_type: undefined },
      { response_type: "token" },
      { request: "x" },
      { prompt: "create" },
      { max_age: "x" },
      { code_challenge: "x" },
    ];
    for (const changes of requests) {
      const request = read(changes);
      const asked = request.ok ? request.value.asked : null;
      const description = asked?.ok === false ? asked.refusal.error_description : "";
      expect(description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
    }
  });
});
