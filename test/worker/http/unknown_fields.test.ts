import { describe, expect, it } from "vitest";
import { approve, startLogin } from "../support/device_logins.ts";
import { send, signIn, signInWithCredits } from "../support/passbook.ts";
import { signInOperator } from "./api/admin/operators.ts";

const JOB = { app: "demo", action: "draw", cost_estimate: 1 };

function refusedFor(typed: string, meant: string) {
  const error = `unknown field ${typed}; did you mean ${meant}?`;
  return { status: 400, body: { code: "invalid_request", error } };
}

describe("a misspelt field", () => {
  it.each([
    ["ttlSeconds", "ttl_seconds", { ...JOB, ttlSeconds: 60 }],
    ["meta-data", "metadata", { ...JOB, "meta-data": { a: 1 } }],
    ["costEstimate", "cost_estimate", { app: "demo", action: "draw", costEstimate: 5 }],
  ])(
    "the misspelt field %s of a new job is refused, and no job is created",
    async (typed, meant, body) => {
      const ada = await signInWithCredits();
      expect(await ada.post("/api/jobs", body)).toMatchObject(refusedFor(typed, meant));
      expect((await ada.get("/api/jobs")).body.jobs).toEqual([]);
    },
  );

  it("a misspelt field of a settlement is refused, and the job stays started", async () => {
    const ada = await signInWithCredits();
    const { job_id } = (await ada.post("/api/jobs", JOB)).body;
    const complete = { job_id, actual_cost: 1, meta_data: {} };
    expect(await ada.post("/api/jobs/complete", complete)).toMatchObject(
      refusedFor("meta_data", "metadata"),
    );
    expect(await ada.post("/api/jobs/fail", { job_id, refnud: false })).toMatchObject(
      refusedFor("refnud", "refund"),
    );
    expect((await ada.get(`/api/jobs/${job_id}`)).body.status).toBe("started");
  });

  it("a misspelt field of one batch item refuses only that item", async () => {
    const ada = await signInWithCredits();
    const response = await ada.post("/api/jobs/batch", { jobs: [{ ...JOB, ttlSeconds: 60 }, JOB] });
    const [first, second] = response.body.results;
    expect(first).toMatchObject(refusedFor("ttlSeconds", "ttl_seconds").body);
    expect(second).toMatchObject({ credits: 99 });
    const whole = await ada.post("/api/jobs/batch", { job: [JOB] });
    expect(whole).toMatchObject(refusedFor("job", "jobs"));
  });

  it.each([
    ["/api/jobs?stauts=started", "stauts", "status"],
    ["/api/jobs?Limit=3", "Limit", "limit"],
    ["/api/wallet?App=demo", "App", "app"],
    ["/api/ledger?jobId=x", "jobId", "job_id"],
    ["/api/events?afetr=1", "afetr", "after"],
    ["/api/sessionToken?tempalte=x", "tempalte", "template"],
  ])("the misspelt parameter of the query %s is refused", async (path, typed, meant) => {
    const ada = await signInWithCredits();
    expect(await ada.get(path)).toMatchObject(refusedFor(typed, meant));
  });

  it.each(["/signin?redirectTo=http://localhost:3000", "/signin/acme?redirect-to=x"])(
    "the misspelt parameter of %s is refused with a page that names it",
    async (path) => {
      const page = await send("GET", path, { headers: { Accept: "text/html" } });
      expect(page.status).toBe(400);
      expect(page.text).toContain("did you mean redirect_to?");
    },
  );

  it("a misspelt field of a device login is refused", async () => {
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ clientName: "Build agent" });
    expect(await send("POST", "/api/device/start", { headers, body })).toMatchObject(
      refusedFor("clientName", "client_name"),
    );
  });
});

describe("another unknown field", () => {
  it("other unknown fields are ignored in bodies and queries", async () => {
    const ada = await signInWithCredits();
    const more = { priority: 1, caption: "x", job_id: "y", __proto: 1, "": 2 };
    expect((await ada.post("/api/jobs", { ...JOB, ...more })).status).toBe(200);
    expect((await ada.get("/api/jobs?trace=1&utm_source=x")).status).toBe(200);
  });

  it("metadata is not searched for misspelt fields", async () => {
    const ada = await signInWithCredits();
    const metadata = { ttlSeconds: 1, App: 2, Metadata: { Action: 3 }, previewURL: "x" };
    const { job_id } = (await ada.post("/api/jobs", { ...JOB, metadata })).body;
    expect((await ada.get(`/api/jobs/${job_id}`)).body.metadata).toEqual(metadata);
    const ended = { job_id, actual_cost: 1, metadata: { Actual_Cost: 4 } };
    expect((await ada.post("/api/jobs/complete", ended)).status).toBe(200);
  });

  it("an unknown field of an operator's write is refused, and the error shortens its name", async () => {
    const root = await signInOperator();
    const path = `/api/admin/accounts/${root.person.identity_id}/credits`;
    const body = { amount: 5, reason: "gift" };
    const key = { "Idempotency-Key": "a" };
    const refused = await root.send("POST", path, { ...body, ["x".repeat(500)]: 1 }, key);
    const error = `unknown field ${"x".repeat(40)}; leave it out.`;
    expect(refused).toMatchObject({ status: 400, body: { code: "invalid_request", error } });
    expect(await root.send("POST", path, { ...body, Reason: "b" }, key)).toMatchObject(
      refusedFor("Reason", "reason"),
    );
  });

  it("an unknown field of an approval or its cap is refused", async () => {
    const ada = await signIn();
    const { user_code } = await startLogin();
    expect((await approve(ada, user_code, { note: "x" })).body.error).toBe(
      "unknown field note; leave it out.",
    );
    expect(await approve(ada, user_code, { cap: { credits: 1, Period: "total" } })).toMatchObject(
      refusedFor("cap.Period", "cap.period"),
    );
    // A field that another operation has is unknown here.
    expect((await approve(ada, user_code, { credits: 5 })).status).toBe(400);
    expect((await approve(ada, user_code, { cap: { credits: 1 } })).status).toBe(200);
  });
});
