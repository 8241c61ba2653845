/** Each step of a job in full: its state, its entry, and why it is refused. */
import { describe, expect, it } from "vitest";
import {
  complete,
  endEarly,
  endedEarly,
  fail,
  progress,
  refundCost,
  reserve,
  type JobState,
} from "../../../src/domain/job.ts";
import { fitsBalance, isListed } from "../../../src/domain/ledger.ts";
import { BALANCE_MAX_CREDITS } from "../../../src/domain/limits.ts";

const JOB: JobState = {
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
const OF_JOB = { job_id: "job", previous_line: 3, app_slug: "demo", note: null };
const BOOKS = { balance_after: 100, reserved_after: 30, spendable: 40 };
const refusal = (why: object) => ({ ok: false, refusal: why });
const ENDED: JobState = { ...JOB, status: "completed", reserved: 0, actual_cost: 20 };

describe("a new job", () => {
  it("a new job holds its estimate, and its entry is the first of the job", () => {
    expect(reserve(BOOKS, JOB, 40)).toEqual({
      ok: true,
      value: {
        status: "started",
        actual_cost: 0,
        failure: null,
        posting: { ...OF_JOB, previous_line: null, kind: "reserve", amount: -40, held: 40 },
      },
    });
  });

  it("a job is refused if its app can use fewer credits than the estimate, whatever the balance", () => {
    const why = { code: "insufficient_credits", credits: 100, spendable: 40, held: 30 };
    expect(reserve(BOOKS, JOB, 41)).toEqual(refusal({ ...why, required: 41 }));
  });
});

describe("the progress of a job", () => {
  const terms = (more: Partial<Parameters<typeof progress>[2]>) => ({
    reserve: null,
    spent: null,
    ...more,
  });

  it("a job that raises its reserve holds the difference, up to all that its app can use", () => {
    expect(progress(BOOKS, JOB, terms({ reserve: 70 }))).toEqual({
      ok: true,
      value: {
        reserved: 70,
        spent: null,
        posting: { ...OF_JOB, kind: "reserve", amount: -40, held: 40 },
      },
    });
    const why = { code: "insufficient_credits", credits: 100, spendable: 40, held: 30 };
    expect(progress(BOOKS, JOB, terms({ reserve: 71 }))).toEqual(refusal({ ...why, required: 41 }));
  });

  it("a job that lowers its reserve gives back the difference, although nothing is left", () => {
    const owing = { balance_after: -5, reserved_after: 30, spendable: -5 };
    expect(progress(owing, JOB, terms({ reserve: 20 }))).toEqual({
      ok: true,
      value: {
        reserved: 20,
        spent: null,
        posting: { ...OF_JOB, kind: "refund", amount: 10, held: -10 },
      },
    });
  });

  it("a job that only states what it has spent has an entry of 0, although nothing is left", () => {
    const owing = { balance_after: -5, reserved_after: 30, spendable: -5 };
    const stated = progress(owing, JOB, terms({ spent: 30 }));
    expect(stated).toEqual({
      ok: true,
      value: {
        reserved: 30,
        spent: 30,
        posting: { ...OF_JOB, kind: "reserve", amount: 0, held: 0 },
      },
    });
    expect(stated.ok && Object.is(stated.value.posting.amount, 0)).toBe(true);
  });

  it("a job cannot state more than it holds, or hold less than it has stated", () => {
    const why = { code: "spent_limit", limit: 30 };
    expect(progress(BOOKS, JOB, terms({ spent: 31 }))).toEqual(refusal(why));
    const stating = { ...JOB, spent: 25 };
    expect(progress(BOOKS, stating, terms({ reserve: 24 }))).toEqual(
      refusal({ ...why, limit: 24 }),
    );
    expect(progress(BOOKS, stating, terms({ reserve: 25 }))).toMatchObject({
      value: { reserved: 25, spent: 25 },
    });
  });

  it("a job cannot hold more than it may cost, and may lower a reserve that its policy would refuse", () => {
    expect(progress({ ...BOOKS, spendable: 0 }, JOB, terms({ reserve: 31 })).ok).toBe(false);
    const limited = { ...JOB, max_overage_percent: 10 };
    const exact = { ...JOB, max_overage_percent: 0 };
    expect(progress(BOOKS, exact, terms({ reserve: 31 })).ok).toBe(false);
    expect(progress(BOOKS, limited, terms({ reserve: 33 })).ok).toBe(true);
    const refused = refusal({ code: "overage_limit", limit: 33 });
    expect(progress(BOOKS, limited, terms({ reserve: 34 }))).toEqual(refused);
    const beyond = { ...limited, reserved: 50 };
    expect(progress(BOOKS, beyond, terms({ reserve: 40 })).ok).toBe(true);
    expect(progress(BOOKS, beyond, terms({ spent: 1 })).ok).toBe(true);
  });

  it("a job that ended makes no progress", () => {
    expect(progress(BOOKS, ENDED, terms({}))).toEqual(refusal({ code: "job_ended" }));
  });
});

describe("the end of a job", () => {
  const books = { balance_after: 0, reserved_after: 30 };

  it("a completed job releases what it held and has its cost", () => {
    expect(complete(books, JOB, 10)).toEqual({
      ok: true,
      value: {
        status: "completed",
        actual_cost: 10,
        failure: null,
        posting: { ...OF_JOB, kind: "settle", amount: 20, held: -30 },
      },
    });
  });

  it.each(["expired", "cancelled"] as const)(
    "a job that was %s may be completed late, unless its cost was refunded",
    (failure) => {
      const ended: JobState = { ...JOB, status: "failed", reserved: 0, actual_cost: 30, failure };
      expect(complete(books, ended, 10).ok).toBe(true);
      const refunded = complete(books, { ...ended, refunded: 1 }, 10);
      expect(refunded).toEqual(refusal({ code: "job_ended" }));
    },
  );

  it("a job that its client ended is not completed again", () => {
    expect(complete(books, ENDED, 10)).toEqual(refusal({ code: "job_ended" }));
    const failed: JobState = { ...ENDED, status: "failed", failure: "reported" };
    expect(complete(books, failed, 10)).toEqual(refusal({ code: "job_ended" }));
    expect(fail(ENDED, 0)).toEqual(refusal({ code: "job_ended" }));
    expect(endedEarly(ENDED)).toBe(false);
    expect(endedEarly(failed)).toBe(false);
  });

  it("a cost is refused if the balance could not be counted exactly after it", () => {
    const owing = { balance_after: 0 - BALANCE_MAX_CREDITS, reserved_after: 30 };
    expect(complete(owing, JOB, 30).ok).toBe(true);
    expect(complete(owing, JOB, 31)).toEqual(refusal({ code: "balance_limit" }));
  });

  it("a job that fails costs what its client says, and its entry names it", () => {
    expect(fail(JOB, 1)).toEqual({
      ok: true,
      value: {
        status: "failed",
        actual_cost: 1,
        failure: "reported",
        posting: { ...OF_JOB, kind: "settle", amount: 29, held: -30 },
      },
    });
    expect(fail(JOB, 0)).toMatchObject({ value: { posting: { kind: "refund", amount: 30 } } });
  });

  it.each([
    ["charge", null, 30],
    ["refund", null, 0],
    ["charge", 0, 0],
    ["refund", 12, 12],
  ] as const)(
    "a job that ends early under the policy %s, having stated %s, costs %i",
    (on_expiry, spent, actual_cost) => {
      expect(endEarly({ ...JOB, spent, on_expiry }, "cancelled")).toMatchObject({
        status: "failed",
        failure: "cancelled",
        actual_cost,
        posting: { amount: 30 - actual_cost, held: -30 },
      });
    },
  );
});

describe("a refund of a job's cost", () => {
  const books = { balance_after: 0, reserved_after: 0 };
  const given = (amount: number) => ({ amount, note: "sorry" });

  it("an operator gives back at most what was not given back yet", () => {
    const job = { ...ENDED, refunded: 5 };
    expect(refundCost(books, job, given(15))).toEqual({
      ok: true,
      value: { ...OF_JOB, kind: "job_refund", amount: 15, held: 0, note: "sorry" },
    });
    const refused = refusal({ code: "refund_limit", limit: 15 });
    expect(refundCost(books, job, given(16))).toEqual(refused);
    expect(refundCost(books, job, given(0))).toEqual(refused);
    expect(refundCost(books, job, given(1)).ok).toBe(true);
  });

  it("a refund is refused if the balance could not be counted exactly after it", () => {
    const full = { balance_after: BALANCE_MAX_CREDITS - 10, reserved_after: 0 };
    expect(refundCost(full, ENDED, given(10)).ok).toBe(true);
    expect(refundCost(full, ENDED, given(11))).toEqual(refusal({ code: "balance_limit" }));
  });
});

describe("the range of a balance", () => {
  it.each([
    [0 - BALANCE_MAX_CREDITS, 0, true],
    [-1 - BALANCE_MAX_CREDITS, 0, false],
    [BALANCE_MAX_CREDITS, 0, true],
    [BALANCE_MAX_CREDITS, 1, false],
    [BALANCE_MAX_CREDITS - 1, 1, true],
    [0, -1, false],
  ])("a balance of %s with %s held can be counted exactly: %s", (amount, held, fits) => {
    expect(fitsBalance({ balance_after: 0, reserved_after: 0 }, { amount, held })).toBe(fits);
    const before = { balance_after: 7, reserved_after: 2 };
    expect(fitsBalance(before, { amount: amount - 7, held: held - 2 })).toBe(fits);
  });

  it("lists show every entry but a job's later ones that change nothing", () => {
    const quiet = { kind: "reserve", amount: 0, previous_line: 3 } as const;
    expect(isListed(quiet)).toBe(false);
    expect(isListed({ ...quiet, amount: 1 })).toBe(true);
    expect(isListed({ ...quiet, amount: -1 })).toBe(true);
    expect(isListed({ ...quiet, previous_line: null })).toBe(true);
    expect(isListed({ ...quiet, kind: "settle" })).toBe(true);
  });
});
