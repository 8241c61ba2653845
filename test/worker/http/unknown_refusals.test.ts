/** For some minutes after a deployment, an object may refuse with a code that only its newer build has. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Refusal } from "../../../src/domain/refusals.ts";
import { deliver, openCheckout, openStripe, SELLING } from "../payments/till.ts";
import { send, signInWithCredits, type Answer, type SignedIn } from "../support/passbook.ts";

/** An unknown code, names that every JavaScript object has, and an unknown reason. */
const UNKNOWN = [
  { code: "account_frozen" },
  { code: "constructor" },
  { code: "__proto__" },
  { code: "scope", reason: "weekdays_only" },
] as unknown as readonly Refusal[];

let ada: SignedIn;
/** The logged errors without `request`, which each request logs. */
let logged: { event: string }[];
beforeEach(async () => {
  ada = await signInWithCredits();
  logged = [];
  vi.spyOn(console, "error").mockImplementation((entry) => {
    if (entry.event !== "request") logged.push(entry);
  });
});

/** Objects that respond to every call with `response`. */
function objectsWith(response: object) {
  const account = new Proxy(
    { fetch: async () => Response.json((response as { refusal?: unknown }).refusal) },
    { get: (target, name) => Reflect.get(target, name) ?? (async () => response) },
  );
  return { ACCOUNT: { getByName: () => account } };
}

const JOB = { app: "demo", action: "draw", cost_estimate: 1 };
const ID = "018f0000-0000-7000-8000-000000000000";
const REQUESTS: readonly [string, string, object?][] = [
  ["GET", "/api/wallet"],
  ["GET", "/api/me"],
  ["GET", "/api/ledger"],
  ["GET", "/api/jobs"],
  ["GET", `/api/jobs/${ID}`],
  ["GET", "/api/tokens"],
  ["GET", "/api/sessionToken"],
  ["POST", "/api/jobs", JOB],
  ["POST", "/api/jobs/batch", { jobs: [JOB] }],
  ["POST", "/api/jobs/complete", { job_id: ID, actual_cost: 1 }],
  ["POST", "/api/jobs/complete/batch", { jobs: [{ job_id: ID, actual_cost: 1 }] }],
  ["POST", "/api/jobs/fail", { job_id: ID }],
];

function ask([method, path, body]: (typeof REQUESTS)[number], settings: object): Promise<Answer> {
  const headers = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
  return send(method, path, { headers, body: body ? JSON.stringify(body) : null }, settings);
}

describe.each(UNKNOWN)("a refusal that this build does not know: %o", (refusal) => {
  it.each(REQUESTS)("%s %s responds with 503 and Retry-After, and logs it", async (...request) => {
    const response = await ask(request, objectsWith({ ok: false, refusal }));
    expect(response).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(response.body.error).toMatch(/try again/i);
    expect(Number(response.headers.get("Retry-After"))).toBeGreaterThan(0);
    const { code } = refusal;
    expect(logged).toEqual([expect.objectContaining({ event: "refusal_unknown", code })]);
  });

  it("an item of a batch is unavailable, and the other items keep their results", async () => {
    const results = [
      { ok: true, value: { job_id: ID, credits: 9 } },
      { ok: false, refusal },
    ];
    const value = { value: { results, credits: 9 }, replayed: false };
    const request = ["POST", "/api/jobs/batch", { jobs: [JOB, JOB] }] as const;
    const { status, body } = await ask([...request], objectsWith({ ok: true, value }));
    expect(status).toBe(200);
    expect(body.results).toEqual([
      { job_id: ID, credits: 9 },
      expect.objectContaining({ code: "unavailable" }),
    ]);
    expect(logged).toHaveLength(1);
  });

  it("a payment's webhook responds with 503, so that it is sent again", async () => {
    const stripe = openStripe();
    const event = stripe.completes(await openCheckout(ada));
    const settings = { ...SELLING, ...objectsWith({ ok: false, refusal }) };
    expect(await deliver(event, settings)).toMatchObject({
      status: 503,
      body: { code: "unavailable" },
    });
    expect(logged.map((it) => it.event)).toEqual(["payment_not_booked", "refusal_unknown"]);
  });

  it("a page responds with 503 and the text for an unavailable service", async () => {
    const headers = { Cookie: ada.cookies, Accept: "text/html" };
    const page = await send("GET", "/account", { headers }, objectsWith({ ok: false, refusal }));
    expect(page.status).toBe(503);
    expect(Number(page.headers.get("Retry-After"))).toBeGreaterThan(0);
  });
});
