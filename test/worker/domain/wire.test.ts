import { describe, expect, it } from "vitest";
import { isForCharging, isOfAllowance, credentialId } from "../../../src/domain/proof.ts";
import { appIconType } from "../../../src/domain/app_icon.ts";
import { passesWithoutLimiter, policyName, RATE_LIMITS } from "../../../src/domain/rate_limits.ts";
import { FROM_NOT_SHOWN } from "../../../src/domain/started_by.ts";
import { sampleData, TEST_TYPES } from "../../../src/domain/webhook_samples.ts";
import {
  isReady,
  jobView,
  lotView,
  partsOf,
  READINESS_CHECKS,
  termsOf,
  termsView,
  topUpView,
  type Readiness,
} from "../../../src/domain/wire.ts";

const AT = "1970-01-01T00:00:01.000Z";

describe("a job of the API", () => {
  const stored = {
    id: "job",
    app_slug: "demo",
    action: "render",
    status: "started",
    reserved: 30,
    actual_cost: 0,
    refunded: 0,
    step: 2,
    spent: 1,
    done: 0.5,
    message: "Half",
    failure: null,
    failure_reason: null,
    created_at_ms: 1_000,
    updated_at_ms: 1_000,
    expires_at_ms: 1_000,
    metadata_json: null,
    from_json: null,
    allowance_path: null,
    started_by_json: null,
  } as const;
  const { created_at_ms: _, updated_at_ms: __, expires_at_ms: ___, ...rest } = stored;
  const { metadata_json: ____, from_json: _____, allowance_path, started_by_json, ...same } = rest;

  it("shows what is stored, its times as text, and where its credits come from", () => {
    expect([allowance_path, started_by_json]).toEqual([null, null]);
    expect(jobView(stored)).toEqual({
      ...same,
      created_at: AT,
      updated_at: AT,
      expires_at: AT,
      by: { kind: "browser", id: null, name: null },
      from: [{ lot_id: null, bought: false, credits: 30 }],
      metadata: null,
    });
  });

  it("shows its metadata, and leaves out where its credits come from if that is not shown", () => {
    const view = jobView({ ...stored, metadata_json: `{"a":1}`, from_json: FROM_NOT_SHOWN });
    expect(view.metadata).toEqual({ a: 1 });
    expect(view).not.toHaveProperty("from");
  });

  it.each([
    [{ status: "started", reserved: 30, actual_cost: 5 }, [30]],
    [{ status: "completed", reserved: 30, actual_cost: 5 }, [5]],
    [{ status: "completed", reserved: 30, actual_cost: 0 }, []],
    [{ status: "failed", reserved: 30, actual_cost: 1 }, [1]],
  ] as const)("of %j, the parts without lots have the credits %j", (columns, credits) => {
    const parts = partsOf({ ...columns, from_json: null });
    expect(parts).toEqual(credits.map((it) => ({ lot_id: null, bought: false, credits: it })));
  });

  it("of lots shows the stored parts", () => {
    const from_json = `[{"lot_id":"lot","bought":true,"credits":7}]`;
    const columns = { status: "started", reserved: 30, actual_cost: 0, from_json } as const;
    expect(partsOf(columns)).toEqual([{ lot_id: "lot", bought: true, credits: 7 }]);
  });
});

describe("credits with terms of the API", () => {
  const base = { expires_at_ms: null, app_slugs: null, bought: false };
  const of_kind = (kind: "grant" | "adjustment" | "purchase" | "reserve", amount: number) => ({
    kind,
    amount,
    lot_id: null,
    terms_json: null,
  });

  it("an entry that brings credits has terms", () => {
    expect(termsOf(of_kind("grant", 1))).toMatchObject(base);
    expect(termsOf(of_kind("adjustment", 5))).toMatchObject(base);
    expect(termsOf(of_kind("purchase", 5))).toMatchObject(base);
    expect(termsOf(of_kind("adjustment", 0))).toBeNull();
    expect(termsOf(of_kind("adjustment", -5))).toBeNull();
    expect(termsOf(of_kind("reserve", 5))).toBeNull();
  });

  it.each([
    [null, null],
    [1_000, AT],
  ])("an expiry at %s is shown as %s", (expires_at_ms, expires_at) => {
    const terms = { ...base, expires_at_ms, app_slugs: ["demo"], bought: true };
    const entry = { ...of_kind("reserve", -1), lot_id: "lot" };
    expect(termsView({ ...entry, terms_json: JSON.stringify(terms) })).toEqual({
      lot_id: "lot",
      terms: { expires_at, app_slugs: ["demo"], bought: true },
    });
    const lot = { id: "lot", origin: "plan", left: 3, held: 1, note: null, ...terms };
    expect(lotView(lot as unknown as Parameters<typeof lotView>[0])).toEqual({
      id: "lot",
      origin: "plan",
      bought: true,
      app_slugs: ["demo"],
      left: 3,
      held: 1,
      expires_at,
      note: null,
    });
  });

  it("an entry without terms shows its lot", () => {
    const entry = { ...of_kind("reserve", -1), lot_id: "lot" };
    expect(termsView(entry)).toEqual({ lot_id: "lot", terms: null });
  });

  it("an automatic top-up shows its package and its limits", () => {
    const plan = { threshold: 5, package_id: "small", currency: "usd", month_limit_minor: 900 };
    const view = { on: true, plan, month_spent_minor: 300, state: "ready" };
    expect(topUpView(view as unknown as Parameters<typeof topUpView>[0])).toEqual({
      on: true,
      threshold: 5,
      package: "small",
      currency: "usd",
      month_limit_minor: 900,
      month_spent_minor: 300,
      state: "ready",
    });
  });
});

describe("the checks of readiness", () => {
  it("the service is ready unless a store that it needs fails", () => {
    const all = Object.fromEntries(READINESS_CHECKS.map((check) => [check, true]));
    const without = (check: string): boolean => isReady({ ...all, [check]: false } as Readiness);
    expect(isReady(all as Readiness)).toBe(true);
    expect(READINESS_CHECKS.filter((check) => !without(check))).toEqual([
      "directory",
      "keys",
      "account",
    ]);
  });

  it("only attempts at user codes need their limiter", () => {
    const rule = { count: 1, window_seconds: 10 } as const;
    const passes = (binding: string): boolean => passesWithoutLimiter({ ...rule, binding });
    expect(passes("LIMIT_DEVICE_ATTEMPT")).toBe(false);
    expect(passes(RATE_LIMITS.authenticated.binding)).toBe(true);
    expect(policyName(RATE_LIMITS.authenticated)).toBe("authenticated");
  });
});

describe("the kind of a picture", () => {
  const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
  const JPEG = [0xff, 0xd8, 0xff];
  const ICON = [0, 0, 1, 0];
  const WEBP = [0x52, 0x49, 0x46, 0x46, 1, 2, 3, 4, 0x57, 0x45, 0x42, 0x50];
  const pictures = [
    [PNG, "image/png"],
    [JPEG, "image/jpeg"],
    [ICON, "image/x-icon"],
    [WEBP, "image/webp"],
  ] as const;
  const typeOf = (bytes: readonly number[]) => appIconType(new Uint8Array(bytes));

  it.each(pictures)("its first bytes %j are those of %s, and something follows", (bytes, type) => {
    expect(typeOf([...bytes, 0])).toBe(type);
    expect(typeOf(bytes)).toBeNull();
    const fixed = bytes
      .map((_, at) => at)
      .filter((at) => type !== "image/webp" || at < 4 || at > 7);
    for (const at of fixed) expect(typeOf([...bytes.with(at, 7), 0])).toBeNull();
  });
});

describe("the proof of a caller", () => {
  const of_family = (scopes: readonly string[] | "all") => ({
    kind: "connection",
    credential: { kind: "family", family_id: "family", generation: 1, scopes },
  });
  const of_allowance = {
    kind: "personal_token",
    credential: { kind: "allowance", allowance_id: "allowance" },
  } as const;

  it("only tokens of allowances have their limits", () => {
    const kinds = ["personal_token", "connection", "session", "app_session", "app"];
    expect(kinds.filter((kind) => isOfAllowance({ kind }))).toEqual(kinds.slice(0, 2));
  });

  it("an app charges only for a connection with the scope for it", () => {
    expect(isForCharging(of_family(["charge"]))).toBe(true);
    expect(isForCharging(of_family(["read"]))).toBe(false);
    expect(isForCharging(of_family("all"))).toBe(false);
    expect(isForCharging(of_allowance)).toBe(false);
    expect(isForCharging({ kind: "session" })).toBe(false);
  });

  it("a credential is named by its allowance or its family", () => {
    expect(credentialId(of_allowance.credential)).toBe("allowance");
    expect(
      credentialId({ kind: "family", family_id: "family", generation: 1, scopes: "all" }),
    ).toBe("family");
  });
});

describe("a sample of an event", () => {
  const NOW_MS = 1_000;
  const dataOf = (type: (typeof TEST_TYPES)[number]): Readonly<Record<string, unknown>> =>
    sampleData(type, "demo", NOW_MS) as Readonly<Record<string, unknown>>;

  it("each type has one, and a ping has no data", () => {
    const empty = TEST_TYPES.filter((type) => Object.keys(dataOf(type)).length === 0);
    expect(empty).toEqual(["ping"]);
  });

  it.each([
    ["job.created", { status: "started", actual_cost: 0, failure: null, failure_reason: null }],
    ["job.completed", { status: "completed", failure: null, failure_reason: null }],
    ["job.failed", { status: "failed", actual_cost: 0, failure: "reported" }],
    ["job.expired", { status: "failed", actual_cost: 0, failure: "expired", failure_reason: null }],
  ] as const)("that of %s has a job of this kind", (type, expected) => {
    const { job, held } = dataOf(type) as unknown as { job: Record<string, unknown>; held: number };
    expect(job).toMatchObject({ ...expected, refunded: 0, step: 0, app_slug: "demo" });
    expect(job["failure_reason"] !== null).toBe(type === "job.failed");
    expect(Number(job["actual_cost"]) > 0).toBe(type === "job.completed");
    expect(held).toBe(type === "job.created" ? job["reserved"] : 0);
    expect([job["created_at"], job["expires_at"]]).toEqual([AT, "1970-01-02T00:00:01.000Z"]);
  });

  it("that of credits that expire names a time a day later", () => {
    expect(dataOf("credits.expiring")["expires_at"]).toBe("1970-01-02T00:00:01.000Z");
    expect(dataOf("connection.limit_reached")["resets_at"]).toBe("1970-01-02T00:00:01.000Z");
  });
});
