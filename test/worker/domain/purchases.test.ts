import { describe, expect, it } from "vitest";
import {
  creditsTakenBack,
  isReversalKnown,
  mergeReversals,
  moneyReturned,
  REVERSAL_STATES,
  type Reversal,
} from "../../../src/domain/purchases.ts";
import { isExcluded } from "../../../src/domain/starter_rule.ts";
import { whyNotApproved, type ApprovalRequest } from "../../../src/domain/job_approval.ts";
import { isStartedBefore } from "../../../src/domain/app_stop.ts";

const PURCHASE = { credits: 1_000, paid_minor: 300 };
const back = (amount_minor: number, state: Reversal["state"] = "withheld"): Reversal => ({
  payment_intent_id: "pi_1",
  source_id: "re_1",
  amount_minor,
  state,
});

describe("money that is returned", () => {
  it.each([
    [[], 0, 0],
    [[back(1)], 1, 4],
    [[back(3)], 3, 10],
    [[back(100), back(50, "lost")], 150, 500],
    [[back(100), back(50, "inquiry"), back(40, "reinstated")], 100, 334],
    [[back(299)], 299, 997],
    [[back(300)], 300, 1_000],
    [[back(300), back(1)], 300, 1_000],
  ] as const)(
    "%j of a payment of 300 return %i, and take %i of 1000 credits",
    (reversals, money, credits) => {
      expect(moneyReturned(PURCHASE, reversals)).toBe(money);
      expect(creditsTakenBack(PURCHASE, reversals)).toBe(credits);
    },
  );

  it("credits of a payment of nothing cannot be taken back in proportion", () => {
    expect(() => creditsTakenBack({ credits: 5, paid_minor: 0 }, [])).toThrow("paid for");
    expect(() => creditsTakenBack({ credits: 5, paid_minor: 0.5 }, [])).toThrow("paid for");
    expect(creditsTakenBack({ credits: 5, paid_minor: 1 }, [back(1)])).toBe(5);
  });

  it("reports of one reversal merge to the highest amount and the latest state, in any order", () => {
    for (const [at, state] of REVERSAL_STATES.entries()) {
      for (const [other_at, other] of REVERSAL_STATES.entries()) {
        const merged = mergeReversals(back(5, state), back(7, other));
        expect(merged).toEqual(back(7, at > other_at ? state : other));
        expect(mergeReversals(back(7, other), back(5, state))).toEqual(merged);
      }
    }
  });

  it("a report is known if it adds neither money nor a later state", () => {
    expect(isReversalKnown(back(5), back(5))).toBe(true);
    expect(isReversalKnown(back(5), back(4, "inquiry"))).toBe(true);
    expect(isReversalKnown(back(5), back(6))).toBe(false);
    expect(isReversalKnown(back(5), back(5, "lost"))).toBe(false);
  });
});

describe("people without starter credits", () => {
  const person = (email: string | null, email_verified = true) => ({ email, email_verified });
  const domains = ["mailinator.com", "xn--bcher-kva.example"];

  it.each([
    "a@mailinator.com",
    "a@MAILINATOR.com",
    "a@mailinator.com.",
    "a@sub.mailinator.com",
    '"a@b"@mailinator.com',
    "a@bücher.example",
  ])("%s gets none of an app that excludes its domain", (email) => {
    expect(isExcluded(person(email), domains)).toBe(true);
  });

  it.each([
    "a@example.com",
    "a@notmailinator.com",
    "a@mailinator.com.example",
    "mailinator.com@b.org",
  ])("%s gets some of an app that excludes other domains", (email) =>
    expect(isExcluded(person(email), domains)).toBe(false),
  );

  it("a domain that is not a host's name is compared in lower case", () => {
    expect(isExcluded(person("a@[X"), ["[x"])).toBe(true);
  });

  it("a person without a verified address gets none, except of an app that excludes no domain", () => {
    for (const one of [null, person(null), person("a@example.com", false)]) {
      expect(isExcluded(one, domains)).toBe(true);
      expect(isExcluded(one, [])).toBe(false);
    }
  });
});

describe("a job that exceeds a cap", () => {
  const request: ApprovalRequest = {
    id: "approval",
    allowance_id: "token",
    app_slug: "demo",
    action: "render",
    credits: 50,
    state: "approved",
    expires_at_ms: 100,
  };
  const job = { allowance_id: "token", app_slug: "demo", action: "render", credits: 50 };

  it("a job that its holder approved may be created until the approval ends", () => {
    expect(whyNotApproved(request, job, 99)).toBeNull();
    expect(whyNotApproved(request, { ...job, credits: 49 }, 99)).toBeNull();
    expect(whyNotApproved({ ...request, state: "open" }, job, 99)).toBeNull();
    expect(whyNotApproved(request, job, 100)).toEqual({ code: "approval_ended" });
    expect(whyNotApproved({ ...request, state: "used" }, job, 99)).toEqual({
      code: "approval_ended",
    });
    expect(whyNotApproved({ ...request, state: "denied" }, job, 100)).toEqual({
      code: "approval_denied",
    });
  });

  it.each([
    { allowance_id: "other" },
    { allowance_id: null },
    { app_slug: "other" },
    { action: "other" },
    { credits: 51 },
  ])("an approval is not for a job with %j", (other) => {
    expect(whyNotApproved(request, { ...job, ...other }, 99)).toEqual({ code: "approval_invalid" });
  });
});

describe("a job of a stopped app", () => {
  it("only jobs of the app that are no newer than the stop were started before it", () => {
    const stopped = { slug: "demo", last_job_id: "5" };
    expect(isStartedBefore(stopped, { id: "5", app_slug: "demo" })).toBe(true);
    expect(isStartedBefore(stopped, { id: "4", app_slug: "demo" })).toBe(true);
    expect(isStartedBefore(stopped, { id: "6", app_slug: "demo" })).toBe(false);
    expect(isStartedBefore(stopped, { id: "5", app_slug: null })).toBe(false);
    const nothing = { slug: "demo", last_job_id: null };
    expect(isStartedBefore(nothing, { id: "5", app_slug: "demo" })).toBe(false);
    expect(isStartedBefore(nothing, { id: "", app_slug: "demo" })).toBe(false);
  });
});
