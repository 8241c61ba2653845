import { describe, expect, it } from "vitest";
import { approve, startLogin } from "../support/device_logins.ts";
import { send, signIn, signInWithCredits } from "../support/passbook.ts";
import { signInOperator } from "./api/admin/operators.ts";
import { fromOwnPage } from "../support/device_logins.ts";
import { API_ROUTES, expectOnEach } from "../support/routes.ts";

const JOB = { app: "demo", action: "draw", cost_estimate: 1 };

function refusedFor(typed: string, meant: string, what = "field") {
  const error = `unknown ${what} ${typed}; did you mean ${meant}?`;
  return { status: 400, body: { code: "invalid_request", error } };
}

describe("a misspelt field", () => {
  it.each([
    ["ttlSeconds", "ttl_seconds", { ...JOB, ttlSeconds: 60 }],
    ["meta-data", "metadata", { ...JOB, "meta-data": { a: 1 } }],
    ["costEstimate", "cost_estimate", { app: "demo", action: "draw", costEstimate: 5 }],
    ["app_slug", "app", { ...JOB, app: undefined, app_slug: "demo" }],
    ["appSlug", "app", { ...JOB, appSlug: "demo" }],
    ["ttl", "ttl_seconds", { ...JOB, ttl: 60 }],
    ["timeout", "ttl_seconds", { ...JOB, timeout: 60 }],
    ["expires_in", "ttl_seconds", { ...JOB, expires_in: 60 }],
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

  it("a progress report in percent is refused, and changes nothing", async () => {
    const ada = await signInWithCredits();
    const { job_id } = (await ada.post("/api/jobs", JOB)).body;
    const report = { job_id, step: 1, percent: 50 };
    expect(await ada.post("/api/jobs/progress", report)).toMatchObject(
      refusedFor("percent", "spent"),
    );
    expect((await ada.get(`/api/jobs/${job_id}`)).body.step).not.toBe(1);
  });

  it("an idempotency key in a body is refused, and the error names its header", async () => {
    const ada = await signInWithCredits();
    const error = "unknown field idempotency_key; send it as the header Idempotency-Key.";
    expect((await ada.post("/api/jobs", { ...JOB, idempotency_key: "a" })).body.error).toBe(error);
    const batch = await ada.post("/api/jobs/batch", { jobs: [JOB], idempotency_key: "a" });
    expect(batch.body.error).toBe(error);
    expect((await ada.get("/api/jobs")).body.jobs).toEqual([]);
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
    ["/api/jobs?app_slug=x", "app_slug", "app"],
    ["/api/ledger?since=2030-01-01", "since", "from"],
  ])("the misspelt parameter of the query %s is refused", async (path, typed, meant) => {
    const ada = await signInWithCredits();
    expect(await ada.get(path)).toMatchObject(refusedFor(typed, meant, "query parameter"));
  });

  it("every route of the API refuses an unknown query parameter, and changes nothing", async () => {
    const root = await signInOperator();
    await expectOnEach(API_ROUTES, async ({ method, address }, network) => {
      const headers = {
        ...fromOwnPage(root.person),
        ...network,
        "Content-Type": "application/json",
      };
      const body = method === "GET" ? {} : { body: "{}" };
      const answer = await send(method, `${address}?zzz=1`, { headers, ...body }, root.settings);
      const error = "unknown query parameter zzz; leave it out.";
      expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request", error } });
    });
  });

  it("a caller without operator rights learns nothing about operators' routes from an unknown parameter", async () => {
    const ada = await signIn();
    for (const path of ["/api/admin/apps?zzz=1", "/api/admin/unheard-of?zzz=1"]) {
      expect(await ada.get(path)).toMatchObject({ status: 403, body: { code: "not_operator" } });
      expect((await send("GET", path)).status).toBe(401);
    }
    expect((await ada.get("/api/unheard-of?zzz=1")).status).toBe(404);
  });

  it("endpoints of OAuth ignore unknown parameters", async () => {
    const headers = { Accept: "application/json" };
    expect((await send("GET", "/oauth/userinfo?zzz=1", { headers })).status).toBe(401);
    const metadata = "/.well-known/oauth-authorization-server?zzz=1";
    expect((await send("GET", metadata, { headers })).status).toBe(200);
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
  it("other unknown fields of a body are ignored", async () => {
    const ada = await signInWithCredits();
    const more = { priority: 1, caption: "x", job_id: "y", __proto: 1, "": 2 };
    expect((await ada.post("/api/jobs", { ...JOB, ...more })).status).toBe(200);
  });

  it("a body with more than 40 unknown fields, or a list with more than 1,000 items, is refused", async () => {
    const ada = await signInWithCredits();
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`x${index}`, 1]));
    expect((await ada.post("/api/jobs", { ...JOB, ...many(40) })).status).toBe(200);
    const refused = await ada.post("/api/jobs", { ...JOB, ...many(41) });
    const error = "The request has more than 40 unknown fields.";
    expect(refused).toMatchObject({ status: 400, body: { code: "invalid_request", error } });
    const long = await ada.post("/api/jobs/batch", {
      jobs: Array.from({ length: 1_001 }, () => 1),
    });
    expect(long.body.error).toBe("jobs has more than 1000 items.");
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
    expect(
      await approve(ada, user_code, { caps: [{ credits: 1, Period: "total" }] }),
    ).toMatchObject(refusedFor("caps.0.Period", "caps.0.period"));
    // A field that another operation has is unknown here.
    expect((await approve(ada, user_code, { credits: 5 })).status).toBe(400);
    expect((await approve(ada, user_code, { caps: [{ credits: 1 }] })).status).toBe(200);
  });
});
