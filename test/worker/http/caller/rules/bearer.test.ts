import { describe, expect, it, vi } from "vitest";
import { readBearer, refusalOfBearer } from "../../../../../src/http/caller/bearer.ts";

const HERE = "https://passbook.example";
const ACME = "https://acme.example";
const NOW_SECONDS = 2_000_000_000;
const PRODUCTION = {
  issuer: HERE,
  trusts: (token: string) => token === trusted || token.startsWith("trusted"),
  is_development: false,
};
const DEVELOPMENT = { ...PRODUCTION, is_development: true };

const base64 = (value: object): string => btoa(JSON.stringify(value)).replaceAll("=", "");

/** A token of these claims. Its signature is never checked here. */
const tokenOf = (claims: object): string => `${base64({ alg: "none" })}.${base64(claims)}.x`;

const trusted = tokenOf({ iss: ACME, exp: NOW_SECONDS - 1 });
const past = { exp: NOW_SECONDS - 1 };

function refusalOf(token: string, service = PRODUCTION) {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_SECONDS * 1000 });
  return refusalOfBearer(`Bearer ${token}`, service);
}

const detailOf = (token: string, service = PRODUCTION): unknown =>
  (refusalOf(token, service) as { readonly detail?: unknown }).detail;

describe("the refusal of a bearer token", () => {
  it.each([
    ["a session token of this service", tokenOf({ iss: HERE, ...past })],
    ["a personal token of this service", `pb_pat_${tokenOf({ iss: HERE, ...past })}`],
    ["an access token of this service", `pb_at_${tokenOf({ iss: HERE, ...past })}`],
    ["a token that expires now", tokenOf({ iss: HERE, exp: NOW_SECONDS })],
    ["a token of a trusted issuer", trusted],
  ])("%s that has expired says so, so that programs renew it", (_, token) => {
    expect(refusalOf(token)).toEqual({ code: "token_expired" });
    expect(refusalOf(token, DEVELOPMENT)).toEqual({ code: "token_expired" });
  });

  it.each([
    ["expires later", tokenOf({ iss: HERE, exp: NOW_SECONDS + 1 })],
    ["never expires", tokenOf({ iss: HERE })],
    ["has a text as its expiry", tokenOf({ iss: HERE, exp: "1" })],
    ["has another issuer", tokenOf({ iss: "https://elsewhere.example", ...past })],
    ["has no issuer", tokenOf(past)],
    ["cannot be read", "trusted-but-unreadable"],
  ])("a token that %s is refused as not valid, not as expired", (_, token) => {
    expect(refusalOf(token)).toMatchObject({ code: "unauthorized" });
  });

  it("in production, a header of another form and every invalid token get one detail", () => {
    const header = refusalOfBearer("Basic abc", PRODUCTION);
    const { detail } = header as { readonly detail?: unknown };
    expect(header.code).toBe("unauthorized");
    for (const token of ["x", "pb_app_key", tokenOf({ iss: HERE }), tokenOf({ iss: ACME })])
      expect(detailOf(token), token).toBe(detail);
    expect(String(detail)).not.toContain("test key");
  });

  it("a test key is named as one", () => {
    expect(detailOf("pb_app_test_key")).toContain("This is a test key");
  });

  it.each([
    ["an app's key", "pb_app_key", "No app has this key"],
    ["a text that is no JWT", "x", "malformed"],
    ["a JWT of this service", tokenOf({ iss: HERE }), "not signed by this service"],
    ["a JWT of a trusted issuer", tokenOf({ iss: "no time" }), "issued by no time"],
    ["a JWT without an issuer", tokenOf({}), "issued by no issuer"],
  ])("in development, the refusal of %s says what is wrong", (_, token, words) => {
    expect(detailOf(token, DEVELOPMENT)).toContain(words);
  });

  it("in development, the refusal of a trusted issuer's token names the settings to compare", () => {
    const service = { ...DEVELOPMENT, trusts: () => true };
    expect(detailOf(tokenOf({ iss: ACME }), service)).toContain("TRUSTED_ISSUERS");
    expect(refusalOfBearer("Basic abc", DEVELOPMENT)).toMatchObject({
      detail: expect.stringContaining("must have the form: Bearer <token>") as string,
    });
  });
});

it.each([
  ["Bearer abc", "abc"],
  ["bEARER  a.b-c_d~e+f/g== ", "a.b-c_d~e+f/g=="],
  ["Bearer a b", null],
  ["Bearer a=b", null],
  ["Bearerabc", null],
  ["Basic abc", null],
  ["x Bearer abc", null],
  ["", null],
])("the token of the header %j is %j", (header, token) => {
  expect(readBearer(header)).toBe(token);
});
