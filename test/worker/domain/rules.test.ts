import { describe, expect, it } from "vitest";
import { pauseOf } from "../../../src/domain/app_policy.ts";
import { complete, endEarly, fail, reserve, type JobState } from "../../../src/domain/job.ts";
import { nextEntry } from "../../../src/domain/ledger.ts";
import { BALANCE_MAX_CREDITS } from "../../../src/domain/limits.ts";
import { isMetadata, mergeMetadata } from "../../../src/domain/metadata.ts";
import { isPlatformFailure } from "../../../src/domain/result.ts";
import { parseAllowedOrigin } from "../../../src/domain/origins.ts";

const STARTED: JobState = {
  id: "job",
  app_slug: "demo",
  line: 3,
  status: "started",
  cost_estimate: 30,
  reserved: 30,
  actual_cost: 0,
  refunded: 0,
  spent: null,
  failure: null,
  max_overage_percent: null,
};

describe("a ledger entry", () => {
  const of_app = { job_id: null, previous_line: null, app_slug: "demo", note: null };
  const line = { kind: "grant", amount: 5, ...of_app } as const;
  const posting = { ...line, held: 0 };

  it("the first ledger entry starts from zero", () => {
    expect(nextEntry(null, posting)).toEqual({
      ...line,
      line: 1,
      balance_after: 5,
      reserved_after: 0,
    });
  });

  it("an entry's held credits are added to those that started jobs hold", () => {
    const before = { line: 7, balance_after: 20, reserved_after: 9 };
    expect(nextEntry(before, { ...posting, amount: -4, held: 4 })).toMatchObject({
      balance_after: 16,
      reserved_after: 13,
    });
  });

  it("a ledger entry follows the previous one", () => {
    expect(nextEntry({ line: 7, balance_after: -2, reserved_after: 9 }, posting)).toMatchObject({
      line: 8,
      balance_after: 3,
      reserved_after: 9,
    });
  });

  it.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    "a ledger entry never has the amount %d",
    (amount) => {
      expect(() => nextEntry(null, { ...posting, amount })).toThrow("whole number");
    },
  );

  it("a ledger entry never leaves the range of exact integers", () => {
    const full = { line: 1, balance_after: BALANCE_MAX_CREDITS, reserved_after: 0 };
    expect(() => nextEntry(full, { ...posting, amount: 1 })).toThrow("counted exactly");
  });
});

describe("the life of a job", () => {
  const books = (balance_after: number) => ({
    balance_after,
    reserved_after: 0,
    spendable: balance_after,
  });

  it("a job starts only if the balance covers its estimate", () => {
    expect(reserve(books(30), STARTED, 30).ok).toBe(true);
    expect(reserve(books(29), STARTED, 30).ok).toBe(false);
    expect(reserve(books(-1), STARTED, 0).ok).toBe(false);
  });

  it("a reserve of 0 is 0 and not -0", () => {
    const step = reserve(books(0), STARTED, 0);
    expect(step.ok && Object.is(step.value.posting.amount, 0)).toBe(true);
  });

  it("completing a job returns or charges the difference to its reserve", () => {
    const less = complete({ balance_after: 0, reserved_after: 30 }, STARTED, 10);
    const more = complete({ balance_after: 0, reserved_after: 30 }, STARTED, 50);
    expect(less.ok && less.value.posting.amount).toBe(20);
    expect(more.ok && more.value.posting.amount).toBe(-20);
  });

  it.each([
    [30, 0, 30],
    [30, 10, 33],
    [7, 10, 7],
    [0, 1_000, 0],
    [1_000_000_000_000, 1_000, 11_000_000_000_000],
    [999_999_999_999, 999, 10_989_999_999_989],
  ])(
    "an estimate of %i with %i percent overage may cost at most %i",
    (reserved, percent, limit) => {
      const job = { ...STARTED, cost_estimate: reserved, reserved, max_overage_percent: percent };
      const standing = { balance_after: 0, reserved_after: reserved };
      expect(complete(standing, job, limit).ok).toBe(true);
      expect(complete(standing, job, limit + 1)).toEqual({
        ok: false,
        refusal: { code: "overage_limit", limit },
      });
    },
  );

  it("completing an expired job charges its full cost", () => {
    const expired: JobState = { ...STARTED, status: "failed", failure: "expired" };
    const late = complete({ balance_after: 0, reserved_after: 30 }, expired, 10);
    expect(late.ok && late.value.posting.amount).toBe(-10);
  });

  it("a failed or expired job returns what it does not cost", () => {
    const refunded = fail(STARTED, 0);
    const kept = fail(STARTED, 30);
    expect(refunded.ok && refunded.value.posting).toMatchObject({ kind: "refund", amount: 30 });
    expect(kept.ok && kept.value).toMatchObject({ actual_cost: 30, posting: { amount: 0 } });
    expect(fail(STARTED, 31)).toMatchObject({ refusal: { code: "spent_limit", limit: 30 } });
    const given_back = endEarly({ ...STARTED, on_expiry: "refund" }, "expired");
    expect(given_back).toMatchObject({ actual_cost: 0, posting: { kind: "refund", amount: 30 } });
    const charged = endEarly({ ...STARTED, on_expiry: "charge" }, "expired");
    expect(charged).toMatchObject({
      status: "failed",
      failure: "expired",
      actual_cost: 30,
      posting: { kind: "settle", amount: 0, held: -30 },
    });
  });

  it("completing an expired job that kept its reserve charges or returns the difference", () => {
    const kept: JobState = { ...STARTED, status: "failed", failure: "expired", actual_cost: 30 };
    const books = { balance_after: 0, reserved_after: 0 };
    const cheaper = complete(books, kept, 10);
    expect(cheaper.ok && cheaper.value.posting).toMatchObject({ amount: 20, held: 0 });
    const dearer = complete(books, kept, 45);
    expect(dearer.ok && dearer.value.posting).toMatchObject({ amount: -15, held: 0 });
  });
});

describe("an operator's pause of an app", () => {
  it("an app is paused since a time, with a message that may be empty", () => {
    expect(pauseOf({ paused_at_ms: null, pause_message: null })).toBeNull();
    expect(pauseOf({ paused_at_ms: 5, pause_message: null })).toEqual({ since_ms: 5, message: "" });
    expect(pauseOf({ paused_at_ms: 5, pause_message: "Sorry" })).toEqual({
      since_ms: 5,
      message: "Sorry",
    });
  });
});

describe("a failure of the platform", () => {
  it.each(["retryable", "overloaded", "durableObjectReset"])(
    "an error that is %s is the platform's",
    (flag) => {
      expect(isPlatformFailure(Object.assign(new Error("lost"), { [flag]: true }))).toBe(true);
      expect(isPlatformFailure(Object.assign(new Error("lost"), { [flag]: false }))).toBe(false);
    },
  );

  it("other errors are not the platform's", () => {
    expect([new Error("ours"), null, undefined, "text"].some(isPlatformFailure)).toBe(false);
  });
});

describe("metadata", () => {
  it("metadata is an object, not an array or null", () => {
    expect([{}, { a: [] }].every(isMetadata)).toBe(true);
    expect([[], null, 1, "x", undefined].some(isMetadata)).toBe(false);
  });

  it("metadata merges __proto__ as an ordinary key and changes no prototype", () => {
    const added = JSON.parse('{"__proto__":{"admin":true}}');
    const merged = mergeMetadata({ a: 1 }, added);
    expect(Object.keys(merged)).toEqual(["a", "__proto__"]);
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  });
});

describe("an allowlist entry", () => {
  it.each([
    "https://app.example.com",
    "https://app.example.com/",
    "https://app.example.com:8443",
    "https://*.example.com",
    "http://localhost:3000",
    "http://app.localhost:3000",
    "http://127.0.0.1:5173",
    "http://[::1]:5173",
    "myapp://callback",
  ])("the allowlist accepts %s", (entry) => {
    expect(parseAllowedOrigin(entry)).not.toBeNull();
  });

  it.each([
    "*",
    "https://*",
    "https://*.com",
    "http://*.example.com",
    "https://*.*.example.com",
    "https://a*.example.com",
    "https://*.example.com:8443",
    "https://app.example.com/path",
    "https://app.example.com?x",
    "http://app.example.com",
    "http://127.0.0.1.example.com",
    "javascript://x",
    "example.com",
    "null",
    "",
  ])("the allowlist refuses %j", (entry) => {
    expect(parseAllowedOrigin(entry)).toBeNull();
  });
});
