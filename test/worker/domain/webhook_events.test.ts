import { describe, expect, it } from "vitest";
import { creditEvent, crossedThreshold, jobEvent } from "../../../src/domain/webhook_events.ts";
import { webhookUrlProblem } from "../../../src/domain/webhook.ts";

describe("the events of an entry", () => {
  it.each([
    ["grant", 5, "credits.granted"],
    ["recurring", 5, "credits.granted"],
    ["adjustment", 1, "credits.granted"],
    ["adjustment", 0, null],
    ["adjustment", -1, null],
    ["purchase", 5, "purchase.completed"],
    ["purchase_refund", -5, "purchase.refunded"],
    ["expire", -5, "credits.expired"],
    ["settle", -5, null],
  ] as const)("an entry of the kind %s with %i credits has the event %s", (kind, amount, event) => {
    expect(creditEvent({ kind, amount })).toBe(event);
  });

  const started = { status: "started", failure: null } as const;
  const failed = (failure: "reported" | "expired" | "cancelled") =>
    ({ status: "failed", failure }) as const;

  it.each([
    ["created", started, "job.created"],
    ["between", started, null],
    ["earlier_end", { status: "completed", failure: null }, "job.expired"],
    ["end", { status: "completed", failure: null }, "job.completed"],
    ["end", failed("reported"), "job.failed"],
    ["end", failed("expired"), "job.expired"],
    ["end", failed("cancelled"), "job.expired"],
  ] as const)("the stage %s of the job %j has the event %s", (stage, job, event) => {
    expect(jobEvent(stage, job)).toBe(event);
  });

  it.each([
    [11, 10, 10],
    [10, 9, null],
    [11, 11, null],
    [9, 12, null],
    [60, 5, 10],
    [60, 11, 50],
  ])("the credits %i and then %i cross the threshold %s of 10 and 50", (before, after, crossed) => {
    expect(crossedThreshold({ before, after }, [50, 10])).toBe(crossed);
  });
});

describe("the address of a webhook", () => {
  it("a refusal of http names the loopback address in development only", () => {
    const http = "http://a.example/hook";
    expect(webhookUrlProblem(http, false)).toBe("must begin with https://");
    expect(webhookUrlProblem(http, true)).toContain("loopback address only");
  });
});
