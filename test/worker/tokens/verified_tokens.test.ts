import { describe, expect, it, vi } from "vitest";
import { TOKEN_MAX_LENGTH } from "../../../src/domain/limits.ts";
import {
  cacheVerified,
  TOKEN_CLOCK_TOLERANCE_SECONDS,
  type VerifiedToken,
} from "../../../src/tokens/verified_tokens.ts";
import { HERE } from "./forger.ts";

const NOW_SECONDS = 2_000_000_000;
const EXPIRES_AT_SECONDS = NOW_SECONDS + 600;
/** The first second in which a token is refused. */
const END_MS = (EXPIRES_AT_SECONDS + TOKEN_CLOCK_TOLERANCE_SECONDS) * 1000;
const ADA = { sub: "ada", expires_at_ms: EXPIRES_AT_SECONDS * 1000 };

type Check = (issuer: string) => Promise<VerifiedToken<{ readonly sub: string }> | null>;

const accept: Check = async (issuer) =>
  issuer === HERE ? { claims: { sub: "ada" }, expires_at_seconds: EXPIRES_AT_SECONDS } : null;

function failing(error: Error): Check {
  return async () => {
    throw error;
  };
}

/** A cache with a check that accepts tokens of one issuer until a test decides otherwise. */
function open(isPassedOn?: (error: unknown) => boolean, cached_ms?: number) {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_SECONDS * 1000 });
  const checked: string[] = [];
  const state = { check: accept, checked };
  const check = (issuer: string, token: string) => {
    checked.push(token);
    return state.check(issuer);
  };
  return { state, verify: cacheVerified(check, isPassedOn, cached_ms) };
}

describe("the cache of verified tokens", () => {
  it("a verified token is checked once, until the second in which it expires", async () => {
    const { state, verify } = open();
    expect(await verify(HERE, "one")).toEqual(ADA);
    vi.setSystemTime(END_MS - 1);
    expect(await verify(HERE, "one")).toEqual(ADA);
    expect(state.checked).toEqual(["one"]);
    vi.setSystemTime(END_MS);
    state.check = failing(new Error("it has expired"));
    expect(await verify(HERE, "one")).toBeNull();
  });

  it("a token that was accepted for one issuer is checked again for another", async () => {
    const { state, verify } = open();
    expect(await verify(HERE, "one")).toEqual(ADA);
    expect(await verify("https://elsewhere.example", "one")).toBeNull();
    expect(state.checked).toEqual(["one", "one"]);
  });

  it("each token has its own place in the cache", async () => {
    const { state, verify } = open();
    for (const token of ["one", "two", "one", "two"]) await verify(HERE, token);
    expect(state.checked).toEqual(["one", "two"]);
  });

  it("a verified token is checked again when the time for which a check counts is over", async () => {
    const { state, verify } = open(undefined, 60_000);
    await verify(HERE, "one");
    vi.advanceTimersByTime(59_999);
    await verify(HERE, "one");
    expect(state.checked).toEqual(["one"]);
    vi.advanceTimersByTime(1);
    state.check = async () => null;
    expect(await verify(HERE, "one")).toBeNull();
  });

  it("a refused token is not cached", async () => {
    const { state, verify } = open();
    state.check = async () => null;
    expect(await verify(HERE, "one")).toBeNull();
    state.check = accept;
    expect(await verify(HERE, "one")).toEqual(ADA);
  });

  it("a full cache is emptied, so that its memory has a limit", async () => {
    const { state, verify } = open();
    await verify(HERE, "first");
    for (let other = 0; other < 2_001; other += 1) await verify(HERE, `other ${other}`);
    await verify(HERE, "first");
    expect(state.checked.filter((token) => token === "first")).toHaveLength(2);
  });

  it("a token above the longest length is refused without a check", async () => {
    const { state, verify } = open();
    const longest = "a".repeat(TOKEN_MAX_LENGTH);
    expect(await verify(HERE, longest)).toEqual(ADA);
    expect(await verify(HERE, `${longest}a`)).toBeNull();
    expect(state.checked).toEqual([longest]);
  });

  it("an error of a check refuses the token, unless it says that the check was not possible", async () => {
    const wrong = new Error("the signature is wrong");
    const outage = new Error("the keys cannot be read");
    const { state, verify } = open();
    state.check = failing(wrong);
    expect(await verify(HERE, "one")).toBeNull();
    const other = open((error) => error === outage);
    other.state.check = failing(wrong);
    expect(await other.verify(HERE, "one")).toBeNull();
    other.state.check = failing(outage);
    await expect(other.verify(HERE, "one")).rejects.toBe(outage);
  });
});
