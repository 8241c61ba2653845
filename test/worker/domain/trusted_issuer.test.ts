import { describe, expect, it } from "vitest";
import {
  isHostingSuffix,
  isRegistrySuffix,
  readHostingSuffixes,
} from "../../../src/domain/public_suffixes.ts";
import { readIssuerClaims, type TrustedIssuer } from "../../../src/domain/trusted_issuer.ts";

const ISSUER: TrustedIssuer = {
  id: "acme",
  name: "Acme",
  issuer: "https://acme.example",
  people_issuer: "https://acme.example",
  has_signin_provider: false,
  jwks_uri: "https://acme.example/jwks",
  audience: null,
  authorized_parties: null,
  party_claim: "azp",
  types: ["jwt"],
  required: { plan: ["paid", "team"], tenant: [] },
  refused: { blocked: [true], act: [] },
  name_claim: "name",
  email_claim: "email",
  email_verified_claim: "email_verified",
  starter_credits: false,
  upstream: false,
  upstream_tokens: null,
};
const CLAIMS = {
  sub: "person",
  iat: 5,
  azp: "https://app.example",
  plan: "paid",
  tenant: "one",
  name: "Ada",
  email: "ada@example.com",
  email_verified: true,
};

const read = (claims: object = {}, issuer: Partial<TrustedIssuer> = {}, type?: string) =>
  readIssuerClaims({ ...ISSUER, ...issuer }, type, { ...CLAIMS, ...claims });

describe("the claims of a trusted issuer's token", () => {
  it("with all that its rules need are read", () => {
    expect(read()).toEqual({
      subject: "person",
      party: "https://app.example",
      issued_at_ms: 5_000,
      name: "Ada",
      email: "ada@example.com",
      email_verified: true,
    });
  });

  it("whose type is one of the issuer's are read, in any case of letters", () => {
    expect(read({}, {}, "JWT")).not.toBeNull();
    expect(read({}, {}, "at+jwt")).toBeNull();
  });

  it.each([
    ["no subject", { sub: undefined }],
    ["an empty subject", { sub: "" }],
    ["a subject that is a number", { sub: 7 }],
    ["a subject of 256 characters", { sub: "x".repeat(256) }],
    ["a subject with half a character", { sub: "a\ud800" }],
    ["another value of a required claim", { plan: "free" }],
    ["no value of a required claim", { plan: undefined }],
    ["no required claim", { tenant: undefined }],
    ["null in a required claim", { tenant: null }],
    ["a refused value", { blocked: true }],
    ["a refused claim", { act: { sub: "x" } }],
    ["an empty party", { azp: "" }],
    ["a party that is a number", { azp: 7 }],
  ])("with %s are refused", (_, claims) => {
    expect(read(claims)).toBeNull();
  });

  it.each([
    ["a subject of 255 characters", { sub: "x".repeat(255) }, { subject: "x".repeat(255) }],
    ["another value of a claim with refused ones", { blocked: false }, { subject: "person" }],
    ["null in a refused claim", { act: null }, { subject: "person" }],
    ["no party", { azp: undefined }, { party: null }],
    ["no time", { iat: "5" }, { issued_at_ms: 0 }],
    ["no address", { email: undefined }, { email: null, email_verified: false }],
    ["an address that is not verified", { email_verified: false }, { email_verified: false }],
    ["an address verified by a text", { email_verified: "true" }, { email_verified: false }],
  ])("with %s are read", (_, claims, expected) => {
    expect(read(claims)).toMatchObject(expected);
  });

  it("have no verified address if the issuer verifies none", () => {
    expect(read({}, { email_verified_claim: null })?.email_verified).toBe(false);
    expect(read({ null: true }, { email_verified_claim: null })?.email_verified).toBe(false);
  });
});

describe("the suffixes under which strangers register names", () => {
  const many = Array.from({ length: 1_999 }, (_, at) => `name${at}`).join(" ");
  const known = readHostingSuffixes(`app web\ncom s3.amazonaws *compute.amazonaws\nnet ${many}\n`);

  it.each([
    ["web.app", true],
    ["s3.amazonaws.com", true],
    ["amazonaws.com", true],
    ["compute.amazonaws.com", true],
    ["eu.compute.amazonaws.com", true],
    ["x.eu.compute.amazonaws.com", true],
    ["x.web.app", false],
    ["app", false],
    ["com", false],
    ["example.com", false],
    ["x.s3.amazonaws.com", false],
  ])("%s is a hosting suffix: %s", (host, is_suffix) => {
    expect(isHostingSuffix(host, known)).toBe(is_suffix);
  });

  it("a list with fewer than two thousand is cut short", () => {
    expect(() => readHostingSuffixes(`net ${many}`)).toThrow("cut short");
    expect(readHostingSuffixes(`net ${many} one`).size).toBe(2_000);
  });

  it.each([
    ["co.uk", true],
    ["com.au", true],
    ["x.co.uk", false],
    ["co.uk.example", false],
    ["co.app", false],
    ["co.u", false],
    ["name.uk", false],
    ["uk", false],
  ])("a registry sells names under %s: %s", (host, sells) => {
    expect(isRegistrySuffix(host)).toBe(sells);
  });
});
