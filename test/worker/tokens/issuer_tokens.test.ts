import { base64url, createLocalJWKSet, exportJWK, generateKeyPair } from "jose";
import { describe, expect, it, vi } from "vitest";
import { TOKEN_MAX_LENGTH } from "../../../src/domain/limits.ts";
import type { TrustedIssuer } from "../../../src/domain/trusted_issuer.ts";
import { createIssuerTokens } from "../../../src/tokens/issuer_token.ts";
import { TOKEN_CLOCK_TOLERANCE_SECONDS } from "../../../src/tokens/verified_tokens.ts";
import { forge, HERE, type Genuine } from "./forger.ts";

const ACME = "https://acme.example";
const NOW_SECONDS = 2_000_000_000;
const DAY_SECONDS = 24 * 3_600;
const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
const jwks = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: "acme 1" }] });

const ISSUER = {
  id: "acme",
  issuer: ACME,
  audience: null,
  party_claim: "azp",
  types: ["jwt"],
  required: {},
  refused: {},
  name_claim: null,
  email_claim: null,
  email_verified_claim: null,
} as unknown as TrustedIssuer;

const GENUINE: Genuine = {
  key: privateKey,
  header: { alg: "ES256", kid: "acme 1" },
  claims: { iss: ACME, sub: "ada" },
};

const outage = new Error("the keys of acme cannot be read");

/** Tokens of one trusted issuer whose public key is known. */
function open(issuer: object = {}, keys = jwks) {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_SECONDS * 1000 });
  const one = { ...ISSUER, ...issuer };
  return createIssuerTokens(
    [one],
    () => keys,
    (error) => error === outage,
  );
}

/** A text in the form of a token of an issuer, with as many characters as wanted. */
function unsigned(iss: unknown, length?: number): string {
  const token = `e30.${base64url.encode(JSON.stringify({ iss }))}.`;
  return token + "a".repeat(length === undefined ? 1 : length - token.length);
}

describe("tokens of trusted issuers", () => {
  it("the issuer of a token is known only by its claim iss, before its signature is checked", () => {
    const tokens = open();
    expect(tokens.names(unsigned(ACME))).toBe(true);
    for (const iss of [`${ACME}/`, "", undefined]) expect(tokens.names(unsigned(iss))).toBe(false);
    expect(tokens.names("no.token")).toBe(false);
  });

  it("a text above the longest length names no issuer", () => {
    const tokens = open();
    expect(tokens.names(unsigned(ACME, TOKEN_MAX_LENGTH))).toBe(true);
    expect(tokens.names(unsigned(ACME, TOKEN_MAX_LENGTH + 1))).toBe(false);
  });

  it("a service that trusts no issuer accepts no token of one", async () => {
    const tokens = createIssuerTokens(
      [],
      () => jwks,
      () => false,
    );
    expect(tokens.names(unsigned(ACME))).toBe(false);
    expect(await tokens.verify(HERE, await forge(GENUINE))).toBeNull();
  });

  it("a token of a trusted issuer has its claims, its issuer and its expiry", async () => {
    const { verify } = open();
    expect(await verify(HERE, await forge(GENUINE, { azp: "https://app.example" }))).toMatchObject({
      subject: "ada",
      party: "https://app.example",
      issued_at_ms: NOW_SECONDS * 1000,
      issuer: { id: "acme" },
      expires_at_ms: (NOW_SECONDS + 60) * 1000,
    });
  });

  it("the service's own tokens for others are no sessions here, even if its issuer is trusted", async () => {
    const { verify } = open();
    expect(await verify(ACME, await forge(GENUINE))).toBeNull();
  });

  it("the audience is checked if the issuer's entry names one", async () => {
    const { verify } = open({ audience: ["passbook", "other"] });
    expect(await verify(HERE, await forge(GENUINE))).toBeNull();
    expect(await verify(HERE, await forge(GENUINE, { aud: "elsewhere" }))).toBeNull();
    expect(await verify(HERE, await forge(GENUINE, { aud: "other" }))).not.toBeNull();
    const unchecked = open();
    expect(await unchecked.verify(HERE, await forge(GENUINE, { aud: "any" }))).not.toBeNull();
  });

  it.each<[string, object, object?]>([
    ["without a subject", { sub: undefined }],
    ["without an expiry", { exp: undefined }],
    ["that the rules of its issuer refuse", {}, { typ: "at+jwt" }],
    ["of an unknown key", {}, { kid: "acme 2" }],
  ])("a token %s is refused", async (_, changed, header) => {
    const { verify } = open();
    expect(await verify(HERE, await forge(GENUINE, changed, header))).toBeNull();
  });

  it("a token that was issued in the future, beyond the difference of clocks, is refused", async () => {
    const { verify } = open();
    const last = NOW_SECONDS + TOKEN_CLOCK_TOLERANCE_SECONDS;
    expect(await verify(HERE, await forge(GENUINE, { iat: last }))).not.toBeNull();
    expect(await verify(HERE, await forge(GENUINE, { iat: last + 1 }))).toBeNull();
    expect(await verify(HERE, await forge(GENUINE, { iat: undefined }))).toMatchObject({
      issued_at_ms: 0,
    });
  });

  it("a token counts for a day at most, even if it never expires", async () => {
    const { verify } = open();
    const expiryOf = async (exp: number) =>
      (await verify(HERE, await forge(GENUINE, { exp })))?.expires_at_ms;
    const day = NOW_SECONDS + DAY_SECONDS;
    expect(await expiryOf(day - 1)).toBe((day - 1) * 1000);
    expect(await expiryOf(day + 1)).toBe(day * 1000);
  });

  it("a withdrawn key ends the tokens that it signed within a quarter of an hour", async () => {
    let keys: typeof jwks = jwks;
    const { verify } = open({}, ((...header: Parameters<typeof jwks>) => keys(...header)) as never);
    const token = await forge(GENUINE, { exp: NOW_SECONDS + 3_600 });
    expect(await verify(HERE, token)).not.toBeNull();
    keys = createLocalJWKSet({ keys: [] });
    vi.advanceTimersByTime(15 * 60_000 - 1);
    expect(await verify(HERE, token)).not.toBeNull();
    vi.advanceTimersByTime(1);
    expect(await verify(HERE, token)).toBeNull();
  });

  it("a token is not refused as invalid while the issuer's keys cannot be read", async () => {
    const { verify } = open({}, (() => Promise.reject(outage)) as never);
    await expect(verify(HERE, await forge(GENUINE))).rejects.toBe(outage);
  });
});
