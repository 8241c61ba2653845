import { describe, expect, it } from "vitest";
import type { Traffic } from "../../../src/domain/error_budget.ts";
import {
  FIGURE_NAMES,
  failureWindow,
  FIGURES,
  figuresOf,
  TRAFFIC_FIGURES,
  trafficFigures,
  usedBudget,
  type Figure,
  type FigureName,
  type HealthParts,
} from "../../../src/domain/health.ts";

const NOW_MS = 10_000_000_000;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** A service in which nothing is wrong. */
const HEALTHY: HealthParts = {
  failures: { known: {} },
  schedule: { known: { ended_at_ms: NOW_MS - 5_000, tasks: [] } },
  budgets: { known: [] },
  paused_webhooks: { known: [] },
  failing_webhooks: { known: [] },
  filling_accounts: { known: [] },
  people_waiting_since_ms: { known: null },
  directory_copied_at_ms: { known: NOW_MS - 7_000 },
  comparison_began_at_ms: { known: null },
  spent_today: { known: 3 },
  spend_limit: null,
  traffic: { known: [] },
  database_bytes: { known: { DIRECTORY: 0, DB: 0 } },
};

function figureOf(name: FigureName, changes: Partial<HealthParts>): Figure {
  const figure = figuresOf({ ...HEALTHY, ...changes }, NOW_MS).find((it) => it.name === name);
  if (figure === undefined) throw new Error(`no figure ${name}`);
  return figure;
}

const task = (name: string, failed_for_ms: number | null, ended_at_ms = NOW_MS) => ({
  task: name,
  reason: null,
  ended_at_ms,
  failing_since_ms: failed_for_ms === null ? null : ended_at_ms - failed_for_ms,
});

describe("the figures of a healthy service", () => {
  it("are all there, in their order, and fine", () => {
    const figures = figuresOf(HEALTHY, NOW_MS);
    expect(figures.map(({ name }) => name)).toEqual(FIGURE_NAMES);
    expect(figures.filter(({ status }) => status !== "ok")).toEqual([]);
    expect(figures.map(({ unit }) => unit)).toEqual(Object.values(FIGURES).map(({ unit }) => unit));
    const values = Object.fromEntries(figures.map(({ name, value }) => [name, value]));
    expect(values).toMatchObject({ schedule_age: 5, directory_copy_age: 7, spent_today: 3 });
    const { schedule_age: _, directory_copy_age: __, spent_today: ___, ...others } = values;
    expect(new Set(Object.values(others))).toEqual(new Set([0]));
  });
});

describe("a figure of failures", () => {
  const counted = { count: 4, newest_at_ms: 9_500, oldest_at_ms: 2_000, reason: "down" };

  it.each([
    ["failed_request", "failed_requests", 4],
    ["failed_delivery", "failed_deliveries", 4],
    ["failed_delivery", "read_model_lag", 8],
    ["failed_archive", "archive_failing", 8],
    ["difference", "differences", 4],
    ["overdue_job", "overdue_jobs", 8],
    ["failed_payment_event", "failed_payment_events", 4],
    ["payment_not_booked", "payments_not_booked", 4],
    ["failed_top_up", "failed_top_ups", 4],
    ["dropped_payment_event", "dropped_payment_events", 4],
  ] as const)("%s shows in %s", (kind, name, value) => {
    const figure = figureOf(name, { failures: { known: { [kind]: counted } } });
    expect(figure).toMatchObject({ value, newest_at_ms: 9_500, reason: "down" });
  });

  it("is fine up to its limit", () => {
    const of = (count: number): Figure =>
      figureOf("failed_requests", {
        failures: { known: { failed_request: { ...counted, count } } },
      });
    expect([of(20).status, of(21).status]).toEqual(["ok", "warning"]);
    expect(of(21).limit).toBe(20);
  });

  it("that cannot be read is a warning with its reason", () => {
    const figure = figureOf("differences", { failures: { unreadable: "directory_unreadable" } });
    expect(figure).toMatchObject({
      status: "warning",
      value: null,
      newest_at_ms: null,
      reason: "directory_unreadable",
    });
  });
});

describe("the figures of traffic", () => {
  const FAILING: Traffic = {
    service: "other",
    release: "r1",
    app: "demo",
    requests: [1_000, 1_000, 1_000, 1_000],
    failed: [50, 50, 50, 50],
    limited: 200,
  };
  const of = (traffic: HealthParts["traffic"]): readonly Figure[] =>
    TRAFFIC_FIGURES.map((name) => figureOf(name, { traffic }));

  it("the figures of traffic are those of the requests", () => {
    const figures = of({ known: [FAILING] });
    expect(figures.map(({ value }) => value)).toEqual([50, 50, 20]);
    expect(figures.map(({ status }) => status)).toEqual(["warning", "warning", "warning"]);
    expect(trafficFigures({ known: [FAILING] })).toEqual(figures);
  });

  it("the figures of traffic are unknown, without a warning if metrics are not set, and with one if they are unreadable", () => {
    const unknown = { value: null, status: "ok", reason: "metrics_not_set" };
    for (const figure of of(null)) expect(figure).toMatchObject(unknown);
    const unreadable = { value: null, status: "warning", reason: "metrics_unreadable" };
    for (const figure of of({ unreadable: "metrics_unreadable" }))
      expect(figure).toMatchObject(unreadable);
  });

  it("failed requests have a limit of their own only while no traffic is known", () => {
    const failed_request = { count: 21, newest_at_ms: 0, oldest_at_ms: 0, reason: "down" };
    const failures = { known: { failed_request } };
    const limitWith = (traffic: HealthParts["traffic"]) => {
      const { status, value, limit } = figureOf("failed_requests", { failures, traffic });
      return [status, value, limit];
    };
    expect(limitWith({ known: [FAILING] })).toEqual(["ok", 21, null]);
    const limited = ["warning", 21, 20];
    expect(limitWith({ known: [] })).toEqual(limited);
    expect(limitWith(null)).toEqual(limited);
    expect(limitWith({ unreadable: "metrics_unreadable" })).toEqual(limited);
  });
});

describe("the size of the databases", () => {
  it("the size of the databases is that of the fuller one, in percent of 10 GB, and names both", () => {
    const of = (DIRECTORY: number, DB: number): Figure =>
      figureOf("database_size", { database_bytes: { known: { DIRECTORY, DB } } });
    expect(of(7_000_000_000, 1_200_000_000)).toMatchObject({
      status: "ok",
      value: 70,
      reason: "DIRECTORY 70%, DB 12%",
    });
    expect(of(0, 7_050_000_000)).toMatchObject({
      status: "warning",
      value: 71,
      reason: "DIRECTORY 0%, DB 71%",
    });
  });
});

describe("a figure of times", () => {
  it.each([
    ["comparison_age", { comparison_began_at_ms: { known: NOW_MS - 90_400 } }, 90],
    ["comparison_age", { comparison_began_at_ms: { known: 0 } }, 10_000_000],
    ["people_waiting", { people_waiting_since_ms: { known: NOW_MS - 90_600 } }, 91],
    ["directory_copy_age", { directory_copied_at_ms: { known: NOW_MS + 5_000 } }, 0],
  ] as const)("%s is in seconds", (name, parts, value) => {
    expect(figureOf(name, parts).value).toBe(value);
  });

  it("names the newest run or copy", () => {
    expect(figureOf("directory_copy_age", {}).newest_at_ms).toBe(NOW_MS - 7_000);
    expect(figureOf("schedule_age", {}).newest_at_ms).toBe(NOW_MS - 5_000);
  });

  it("is unknown before the first run", () => {
    const unknown = { status: "warning", value: null, reason: "not_run_yet" };
    expect(figureOf("schedule_age", { schedule: { known: null } })).toMatchObject(unknown);
    expect(figureOf("failing_tasks", { schedule: { known: null } })).toMatchObject({ value: 0 });
    const copied = { directory_copied_at_ms: { known: null } };
    expect(figureOf("directory_copy_age", copied)).toMatchObject(unknown);
  });
});

describe("a figure that counts what it names", () => {
  it("counts a task of the schedule that fails for nineteen minutes", () => {
    const tasks = [
      task("fine", null),
      task("failed once", 19 * MINUTE_MS - 1),
      task("failing", 19 * MINUTE_MS, NOW_MS - MINUTE_MS),
      task("failing too", 60 * MINUTE_MS),
    ];
    const figure = figureOf("failing_tasks", { schedule: { known: { ended_at_ms: 0, tasks } } });
    expect(figure).toMatchObject({ value: 2, reason: "failing, failing too" });
    expect(figureOf("failing_tasks", {}).reason).toBeNull();
  });

  it("counts a webhook that fails for an hour", () => {
    const failing = (id: string, for_ms: number) => ({
      app_slug: "demo",
      id,
      failing_since_ms: NOW_MS - for_ms,
    });
    const known = [
      failing("a", 61 * MINUTE_MS),
      failing("b", 60 * MINUTE_MS),
      failing("c", 60 * MINUTE_MS - 1),
    ];
    expect(figureOf("failing_webhooks", { failing_webhooks: { known } })).toMatchObject({
      value: 2,
      reason: "demo/a, demo/b",
    });
    expect(figureOf("failing_webhooks", {}).reason).toBeNull();
  });

  it("counts paused webhooks, and names the newest pause", () => {
    const known = [1_000, 3_000, 2_000].map((paused_at_ms) => ({
      app_slug: "demo",
      id: String(paused_at_ms),
      paused_at_ms,
    }));
    expect(figureOf("paused_webhooks", { paused_webhooks: { known } })).toMatchObject({
      value: 3,
      newest_at_ms: 3_000,
      reason: "demo/1000, demo/3000, demo/2000",
    });
    expect(figureOf("paused_webhooks", {})).toMatchObject({ newest_at_ms: null, reason: null });
  });

  it("counts the budgets that are used up", () => {
    const app = { starter_credits: 10, limit: 100 };
    const known = [
      usedBudget({ ...app, app_slug: "full", used: 91 }),
      usedBudget({ ...app, app_slug: "last", used: 90 }),
      usedBudget({ ...app, app_slug: "none", used: 101, starter_credits: 0 }),
    ];
    expect(known.map(({ is_used_up }) => is_used_up)).toEqual([true, false, false]);
    const one_each = { app_slug: "one", starter_credits: 1, used: 100, limit: 100 };
    expect(usedBudget(one_each).is_used_up).toBe(true);
    expect(known[0]).toEqual({ app_slug: "full", used: 91, limit: 100, is_used_up: true });
    const figure = figureOf("used_up_budgets", { budgets: { known } });
    expect(figure).toMatchObject({ value: 1, reason: "full" });
    expect(figureOf("used_up_budgets", {}).reason).toBeNull();
  });

  it("counts the accounts that use much of their storage, and names the five fullest", () => {
    const known = [90, 80, 79, 60, 51, 50, 49].map((storage_percent, at) => ({
      account_id: `account_${at}`,
      storage_percent,
    }));
    const figure = figureOf("half_full_accounts", { filling_accounts: { known } });
    expect(figure).toMatchObject({ status: "ok", value: 6 });
    expect(figure.reason?.split(", ")).toEqual([
      "account_0 90%",
      "account_1 80%",
      "account_2 79%",
      "account_3 60%",
      "account_4 51%",
    ]);
    expect(figureOf("filling_accounts", { filling_accounts: { known } })).toMatchObject({
      status: "warning",
      value: 2,
      reason: "account_0 90%, account_1 80%",
    });
    expect(figureOf("filling_accounts", {}).reason).toBeNull();
  });

  it("the credits of a day have the limit of the setting", () => {
    expect(figureOf("spent_today", { spend_limit: 3 }).status).toBe("ok");
    expect(figureOf("spent_today", { spend_limit: 2 })).toMatchObject({
      status: "warning",
      limit: 2,
    });
  });
});

describe("how long a failure counts", () => {
  it("a failed delivery counts five minutes longer than the longest pause before its retry", () => {
    expect(failureWindow("failed_delivery", 0)).toBe(20 * MINUTE_MS);
    // After 40 hours, a pause lasts up to ten hours.
    expect(failureWindow("failed_delivery", 2_400 * MINUTE_MS)).toBe(605 * MINUTE_MS);
  });

  it("another failure counts as long as its kind says, however long it lasts", () => {
    expect(failureWindow("failed_top_up", 0)).toBe(60 * MINUTE_MS);
    expect(failureWindow("failed_top_up", 2_400 * MINUTE_MS)).toBe(60 * MINUTE_MS);
  });
});
