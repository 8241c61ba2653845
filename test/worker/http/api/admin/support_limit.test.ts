/** The daily limit of the credits that an operator with the role support gives and takes. */
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { DAY_MS, utcDayOf } from "../../../../../src/domain/calendar.ts";
import { fromOwnPage } from "../../../support/device_logins.ts";
import { send, signIn, signInWithCredits, type SignedIn } from "../../../support/passbook.ts";
import { operatorOnPages, type Operator } from "./operators.ts";

const OPERATORS = "olga@example.com, sam@example.com=support, sue@example.com=support";
const STAFF = { OPERATORS, SUPPORT_CREDITS_MAX: "100" };

async function staff() {
  const [sam, sue, olga] = await Promise.all(
    ["sam", "sue", "olga"].map(async (name) =>
      operatorOnPages(await signIn(`${name}@example.com`), STAFF),
    ),
  );
  return { sam: sam!, sue: sue!, olga: olga!, ada: await signInWithCredits() };
}

let keys = 0;

function adjust(by: Operator, of: SignedIn, amount: number, more: object = {}, key?: string) {
  keys += 1;
  return by.send(
    "POST",
    `/api/admin/accounts/${of.identity_id}/credits`,
    { amount, reason: "why", ...more },
    { "Idempotency-Key": key ?? `key-${keys}` },
  );
}

const balanceOf = async (person: SignedIn) =>
  (await person.get("/api/wallet")).body.account.credits as number;

describe("the daily limit of the role support", () => {
  it("credits given and taken count together, for each operator, and an admin has no limit", async () => {
    const { sam, sue, olga, ada } = await staff();
    expect((await adjust(sam, ada, 60)).status).toBe(200);
    expect((await adjust(sam, ada, -30)).status).toBe(200);
    const refused = await adjust(sam, ada, 11);
    expect(refused.status).toBe(403);
    expect(refused.body).toEqual({
      code: "role_required",
      role: "admin",
      error:
        "With your role you can change at most 10 more credits today (UTC). An operator with the role admin can change more.",
    });
    expect((await adjust(sam, ada, 10)).status).toBe(200);
    expect((await adjust(sam, ada, 1)).status).toBe(403);
    expect((await adjust(sue, ada, 100)).status).toBe(200);
    expect((await adjust(olga, ada, 5_000)).status).toBe(200);
    expect(await balanceOf(ada)).toBe(100 + 60 - 30 + 10 + 100 + 5_000);
  });

  it("refunds of jobs count towards the limit, with and without an amount", async () => {
    const { sam, ada } = await staff();
    const jobs = [];
    for (const _ of [1, 2]) {
      const body = { app: "demo", action: "draw", cost_estimate: 0 };
      const { job_id } = (await ada.post("/api/jobs", body)).body;
      await ada.post("/api/jobs/complete", { job_id, actual_cost: 90 });
      jobs.push(job_id);
    }
    const refund = (job_id: string, body: object, key: string) =>
      sam.send(
        "POST",
        `/api/admin/accounts/${ada.identity_id}/jobs/${job_id}/refund`,
        { reason: "why", ...body },
        { "Idempotency-Key": key },
      );
    const [first, second] = jobs;
    expect((await refund(first, {}, "one")).status).toBe(200);
    expect((await refund(first, {}, "one")).headers.get("Idempotency-Replayed")).toBe("true");
    for (const body of [{}, { amount: 11 }]) {
      const refused = await refund(second, body, "two");
      expect([refused.status, refused.body.code]).toEqual([403, "role_required"]);
    }
    expect((await refund(second, { amount: 10 }, "three")).status).toBe(200);
    expect((await adjust(sam, ada, 1)).status).toBe(403);
    expect(await balanceOf(ada)).toBe(100 - 180 + 100);
  });

  it("the role support cannot credit or refund its own account, and an admin's entry says that it is their own", async () => {
    const { sam, sue, olga } = await staff();
    const own = await adjust(sam, sam.person, 10);
    expect(own).toMatchObject({ status: 403, body: { code: "role_required", role: "admin" } });
    expect(own.body.error).toContain("Ask another operator");
    expect((await adjust(sue, sam.person, 10)).status).toBe(200);
    const body = { app: "demo", action: "draw", cost_estimate: 0 };
    const { job_id } = (await sam.person.post("/api/jobs", body)).body;
    await sam.person.post("/api/jobs/complete", { job_id, actual_cost: 5 });
    const path = `/api/admin/accounts/${sam.person.identity_id}/jobs/${job_id}/refund`;
    const key = { "Idempotency-Key": "own" };
    expect((await sam.send("POST", path, { reason: "why" }, key)).status).toBe(403);
    expect(await balanceOf(sam.person)).toBe(5);
    expect((await adjust(olga, olga.person, 10)).status).toBe(200);
    const { entries } = (await olga.get("/api/admin/audit?act=account.credits&limit=1")).body;
    expect(entries).toMatchObject([
      { details: { outcome: "done", amount: 10, own_account: true } },
    ]);
  });

  it("the limit is 1,000 credits without a setting", async () => {
    const ada = await signInWithCredits();
    const sam = operatorOnPages(await signIn("sam@example.com"), { OPERATORS });
    expect((await adjust(sam, ada, 1_001)).status).toBe(403);
    expect((await adjust(sam, ada, 1_000)).status).toBe(200);
  });

  it("concurrent adjustments of several accounts cannot exceed the limit together", async () => {
    const { sam, ada } = await staff();
    const bob = await signInWithCredits("demo", "bob@example.com");
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => adjust(sam, at % 2 === 0 ? ada : bob, 30)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect((await balanceOf(ada)) + (await balanceOf(bob))).toBe(200 + 90);
  });

  it("an adjustment that is repeated with its key counts once, also at the same time", async () => {
    const { sam, ada } = await staff();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => adjust(sam, ada, 60, {}, "same")),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect((await adjust(sam, ada, 60, {}, "same")).headers.get("Idempotency-Replayed")).toBe(
      "true",
    );
    expect((await adjust(sam, ada, 40)).status).toBe(200);
    expect((await adjust(sam, ada, 1)).status).toBe(403);
    expect(await balanceOf(ada)).toBe(200);
  });

  it("a refused adjustment does not count", async () => {
    const { sam, olga, ada } = await staff();
    await adjust(olga, ada, -50);
    expect((await adjust(sam, ada, -60)).body.code).toBe("balance_below_zero");
    expect((await adjust(sam, ada, -100, { allow_negative: true })).status).toBe(200);
    expect(await balanceOf(ada)).toBe(-50);
  });

  it("an adjustment whose end nobody saw counts, and its retry does not count again", async () => {
    const { sam, ada } = await staff();
    const lost = new Proxy(env.ACCOUNT, {
      get(target, name) {
        const stub = (identity: string) => {
          const object = target.getByName(identity);
          return new Proxy(object, {
            get: (it, method) =>
              method === "adjustCredits"
                ? async (...parameters: unknown[]) => {
                    await Reflect.apply(Reflect.get(it, method), it, parameters);
                    throw new Error("the response was lost");
                  }
                : Reflect.get(it, method),
          });
        };
        return name === "getByName" ? stub : Reflect.get(target, name);
      },
    });
    vi.spyOn(console, "error").mockReturnValue();
    const interrupted = operatorOnPages(sam.person, { ...STAFF, ACCOUNT: lost });
    expect((await adjust(interrupted, ada, 60, {}, "one")).status).toBeGreaterThanOrEqual(500);
    expect(await balanceOf(ada)).toBe(160);
    expect((await adjust(sam, ada, 41)).status).toBe(403);
    expect((await adjust(sam, ada, 60, {}, "one")).status).toBe(200);
    expect((await adjust(sam, ada, 40)).status).toBe(200);
    expect(await balanceOf(ada)).toBe(200);
  });

  it("a retry on the next day gets the first response, even if that day's limit is used up", async () => {
    const midnight = (utcDayOf(Date.now()) + 1) * DAY_MS;
    vi.useFakeTimers({ toFake: ["Date"], now: midnight - 1_000 });
    const { sam, ada } = await staff();
    expect((await adjust(sam, ada, 100, {}, "one")).status).toBe(200);
    vi.setSystemTime(midnight + 1_000);
    expect((await adjust(sam, ada, 100, {}, "two")).status).toBe(200);
    const again = await adjust(sam, ada, 100, {}, "one");
    expect([again.status, again.headers.get("Idempotency-Replayed")]).toEqual([200, "true"]);
    expect((await adjust(sam, ada, 1)).status).toBe(403);
    expect(await balanceOf(ada)).toBe(300);
    vi.useRealTimers();
  });

  it("a refund without an amount gives back nothing of a job that ends while it is counted", async () => {
    const { sam, ada } = await staff();
    const { body } = await ada.post("/api/jobs", { app: "demo", action: "a", cost_estimate: 90 });
    const { job_id } = body;
    const ending = new Proxy(env.ACCOUNT, {
      get(target, name) {
        const stub = (identity: string) => {
          const object = target.getByName(identity);
          return new Proxy(object, {
            get: (it, method) =>
              method === "readJob"
                ? async (...parameters: unknown[]) => {
                    const job: unknown = await Reflect.apply(
                      Reflect.get(it, method),
                      it,
                      parameters,
                    );
                    await ada.post("/api/jobs/complete", { job_id, actual_cost: 90 });
                    return job;
                  }
                : Reflect.get(it, method),
          });
        };
        return name === "getByName" ? stub : Reflect.get(target, name);
      },
    });
    const hasty = operatorOnPages(sam.person, { ...STAFF, ACCOUNT: ending });
    const path = `/api/admin/accounts/${ada.identity_id}/jobs/${job_id}/refund`;
    const answer = await hasty.send("POST", path, { reason: "why" }, { "Idempotency-Key": "one" });
    expect(answer).toMatchObject({ status: 400, body: { code: "refund_limit" } });
    expect((await ada.get(`/api/jobs/${job_id}`)).body.refunded).toBe(0);
  });

  it("the next UTC day has its own limit", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-22T23:50:00Z") });
    const { sam, ada } = await staff();
    expect((await adjust(sam, ada, 100)).status).toBe(200);
    expect((await adjust(sam, ada, 1)).status).toBe(403);
    vi.setSystemTime(Date.parse("2026-11-23T00:00:00Z"));
    expect((await adjust(sam, ada, 100)).status).toBe(200);
  });

  it("an operator who deletes their account and signs in again has the same limit", async () => {
    const { sam, ada } = await staff();
    expect((await adjust(sam, ada, 100)).status).toBe(200);
    const deletion = new URLSearchParams({ confirmation: "delete" });
    const headers = fromOwnPage(sam.person);
    await send("POST", "/account/delete", { headers, body: deletion }, STAFF);
    const again = await signIn("sam@example.com");
    expect(again.identity_id).not.toBe(sam.person.identity_id);
    expect((await adjust(operatorOnPages(again, STAFF), ada, 1)).status).toBe(403);
  });

  it("the limit applies in the console too, and the form says which role can change more", async () => {
    const { sam, ada } = await staff();
    const headers = { ...fromOwnPage(sam.person), Accept: "text/html" };
    const form = {
      key: "k",
      direction: "give",
      amount: "101",
      reason: "why",
      confirmed: "yes",
    };
    const path = `/console/accounts/${ada.identity_id}/credits`;
    const answer = await send("POST", path, { headers, body: new URLSearchParams(form) }, STAFF);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("at most 100 more credits today");
    expect(await balanceOf(ada)).toBe(100);
  });

  it("a refused adjustment leaves an audit record with the outcome refused", async () => {
    const { sam, ada } = await staff();
    await adjust(sam, ada, 101);
    const { body } = await sam.get(`/api/admin/audit?subject=${ada.identity_id}`);
    expect(body.entries).toMatchObject([
      { act: "account.credits", details: { amount: 101, outcome: "refused" } },
    ]);
  });
});
