import { describe, expect, it } from "vitest";
import { dump } from "../support/account_object.ts";
import { send, signInWithCredits, type SignedIn } from "../support/passbook.ts";

const JOB = { app: "demo", action: "draw", cost_estimate: 10 };
const UNKNOWN_ID = "018f0000-0000-7000-8000-000000000000";

function deep(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
}

const create = (fields: string) => `{"app":"demo","action":"draw","cost_estimate":1,${fields}}`;

/** Name, path, body and expected status. */
const BAD: readonly [string, string, string, number][] = [
  ["no body", "/api/jobs", "", 400],
  ["broken JSON", "/api/jobs", '{"app":"demo",', 400],
  ["JSON with a comment", "/api/jobs", "{/* */}", 400],
  ["null", "/api/jobs", "null", 400],
  ["a string", "/api/jobs", '"demo"', 400],
  ["a number", "/api/jobs", "1", 400],
  ["an array", "/api/jobs", "[]", 400],
  ["no fields", "/api/jobs", "{}", 400],
  ["a missing app", "/api/jobs", '{"action":"a","cost_estimate":1}', 400],
  ["a missing action", "/api/jobs", '{"app":"demo","cost_estimate":1}', 400],
  ["a missing estimate", "/api/jobs", '{"app":"demo","action":"a"}', 400],
  ["an app that is a number", "/api/jobs", '{"app":1,"action":"a","cost_estimate":1}', 400],
  ["an app that is no slug", "/api/jobs", '{"app":"De mo","action":"a","cost_estimate":1}', 400],
  ["an empty action", "/api/jobs", '{"app":"demo","action":"","cost_estimate":1}', 400],
  [
    "an action of 201 characters",
    "/api/jobs",
    JSON.stringify({ ...JOB, action: "x".repeat(201) }),
    400,
  ],
  ["half a character", "/api/jobs", '{"app":"demo","action":"\\ud800","cost_estimate":1}', 400],
  ["a NUL in the action", "/api/jobs", '{"app":"demo","action":"a\\u0000","cost_estimate":1}', 400],
  ["a fraction", "/api/jobs", create('"cost_estimate":1.5'), 400],
  ["a negative estimate", "/api/jobs", create('"cost_estimate":-1'), 400],
  ["1e300", "/api/jobs", create('"cost_estimate":1e300'), 400],
  ["1e400, which is infinite", "/api/jobs", create('"cost_estimate":1e400'), 400],
  ["2^53 + 1", "/api/jobs", create('"cost_estimate":9007199254740993'), 400],
  ["more than a job may cost", "/api/jobs", create('"cost_estimate":1000000000001'), 400],
  ["a number as text", "/api/jobs", create('"cost_estimate":"1"'), 400],
  ["true for a number", "/api/jobs", create('"cost_estimate":true'), 400],
  ["null for a number", "/api/jobs", create('"cost_estimate":null'), 400],
  ["an array for a number", "/api/jobs", create('"cost_estimate":[1]'), 400],
  ["too short a ttl", "/api/jobs", create('"ttl_seconds":59'), 400],
  ["too long a ttl", "/api/jobs", create('"ttl_seconds":2592001'), 400],
  ["a fraction of a ttl", "/api/jobs", create('"ttl_seconds":60.5'), 400],
  ["an array for metadata", "/api/jobs", create('"metadata":[]'), 400],
  ["text for metadata", "/api/jobs", create('"metadata":"x"'), 400],
  ["null for metadata", "/api/jobs", create('"metadata":null'), 400],
  ["metadata nested too deeply", "/api/jobs", create(`"metadata":${deep(65)}`), 400],
  ["metadata nested 10,000 deep", "/api/jobs", create(`"metadata":${deep(10_000)}`), 400],
  ["arrays nested 30,000 deep", "/api/jobs", "[".repeat(30_000) + "]".repeat(30_000), 400],
  ["too much metadata", "/api/jobs", create(`"metadata":{"a":"${"x".repeat(16_384)}"}`), 400],
  [
    "too much metadata in bytes",
    "/api/jobs",
    create(`"metadata":{"a":"${"ä".repeat(8_200)}"}`),
    400,
  ],
  ["a body over 64 KiB", "/api/jobs", create(`"metadata":{"a":"${"x".repeat(70_000)}"}`), 413],
  ["a body of 3 MB", "/api/jobs", create(`"metadata":{"a":"${"x".repeat(3_000_000)}"}`), 413],
  ["no job_id", "/api/jobs/complete", '{"actual_cost":1}', 400],
  ["a job_id that is no UUID", "/api/jobs/complete", '{"job_id":"x","actual_cost":1}', 400],
  ["a job_id that is an object", "/api/jobs/complete", '{"job_id":{},"actual_cost":1}', 400],
  ["an unknown job_id", "/api/jobs/complete", `{"job_id":"${UNKNOWN_ID}","actual_cost":1}`, 400],
  ["no actual_cost", "/api/jobs/complete", `{"job_id":"${UNKNOWN_ID}"}`, 400],
  ["a negative cost", "/api/jobs/complete", `{"job_id":"${UNKNOWN_ID}","actual_cost":-1}`, 400],
  ["a fractional cost", "/api/jobs/complete", `{"job_id":"${UNKNOWN_ID}","actual_cost":0.1}`, 400],
  ["an unknown job to fail", "/api/jobs/fail", `{"job_id":"${UNKNOWN_ID}"}`, 400],
  ["text for refund", "/api/jobs/fail", `{"job_id":"${UNKNOWN_ID}","refund":"false"}`, 400],
  ["null for refund", "/api/jobs/fail", `{"job_id":"${UNKNOWN_ID}","refund":null}`, 400],
];

describe("an invalid body", () => {
  it.each(BAD)(
    "the body %s is refused at %s and changes nothing",
    async (_, path, body, status) => {
      const ada = await signInWithCredits();
      const before = await dump(ada.identity_id);
      const response = await ada.post(path, body);
      expect(response.status).toBe(status);
      expect(response.body).toEqual({ error: expect.any(String), code: expect.any(String) });
      expect(response.text.length).toBeLessThan(300);
      expect(await dump(ada.identity_id)).toBe(before);
    },
  );

  it.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])(
    "a body sent as %j gets 415",
    async (type) => {
      const ada = await signInWithCredits();
      const response = await ada.post("/api/jobs", JOB, { "Content-Type": type });
      expect(response).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
    },
  );

  it("a chunked body of 3 MB without Content-Length gets 413", async () => {
    const ada = await signInWithCredits();
    let left = 3_000;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        left -= 1;
        if (left < 0) controller.close();
        else controller.enqueue(new Uint8Array(1_000).fill(32));
      },
    });
    const headers = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
    expect((await send("POST", "/api/jobs", { headers, body })).status).toBe(413);
    // The Worker stops reading long before the end.
    expect(left).toBeGreaterThan(2_000);
  });
});

describe("an invalid query", () => {
  it.each([
    [
      "in two parameters, of which the first that is read counts",
      "cursor=x&limit=0",
      "limit must be from 1 to 200.",
    ],
    ["in a parameter that is there twice", "cursor=1&cursor=2", "cursor must be given once."],
  ])("the query %s is refused with an explanation", async (_, query, error) => {
    const ada = await signInWithCredits();
    const response = await ada.get(`/api/ledger?${query}`);
    expect(response).toMatchObject({ status: 400, body: { code: "invalid_request", error } });
  });
});

describe("unusual valid input", () => {
  async function roundTrip(person: SignedIn, body: string) {
    const created = await person.post("/api/jobs", body);
    expect(created.status).toBe(200);
    return person.get(`/api/jobs/${created.body.job_id}`);
  }

  it("metadata keeps __proto__, constructor and prototype as ordinary keys, also when it is merged", async () => {
    const ada = await signInWithCredits();
    const metadata = '{"__proto__":{"polluted":true},"constructor":1,"prototype":2}';
    const job = await roundTrip(ada, create(`"metadata":${metadata}`));
    expect(job.text).toContain(`"metadata":${metadata}`);
    const settled = await ada.post(
      "/api/jobs/complete",
      `{"job_id":"${job.body.id}","actual_cost":1,"metadata":{"__proto__":"new","b":1}}`,
    );
    expect(settled.text).toContain('"__proto__":"new"');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("metadata keeps all text unchanged: emoji, right-to-left text, combining marks, lone surrogates", async () => {
    const ada = await signInWithCredits();
    const text = "👩‍🚀 שלום e\u0301 \u202e ﷺ \ud800 \u0000 '; drop table jobs; --";
    const job = await roundTrip(
      ada,
      JSON.stringify({ ...JOB, action: "👩‍🚀 שלום '; --", metadata: { text, [text]: 1 } }),
    );
    expect(job.body.action).toBe("👩‍🚀 שלום '; --");
    expect(job.body.metadata).toEqual({ text, [text]: 1 });
  });

  it("the largest allowed values are accepted", async () => {
    const ada = await signInWithCredits();
    const metadata = { a: "x".repeat(16 * 1024 - 8) };
    const body = { app: "a".repeat(64), action: "x".repeat(200), cost_estimate: 0, metadata };
    const job = await roundTrip(ada, JSON.stringify({ ...body, ttl_seconds: 2_592_000 }));
    const settled = await ada.post("/api/jobs/complete", {
      job_id: job.body.id,
      actual_cost: 1_000_000_000_000,
    });
    expect(settled.body.credits).toBe(100 - 1_000_000_000_000);
  });

  it("unknown fields that resemble no known field are ignored", async () => {
    const ada = await signInWithCredits();
    await roundTrip(ada, create('"credits":1000000,"status":"completed","__proto__":{"x":1}'));
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(99);
  });
});

describe("an unknown path", () => {
  it.each([
    ["GET", "/api"],
    ["GET", "/api/"],
    ["GET", "/api/nothing"],
    ["GET", "/api/jobs/1/2"],
    ["GET", "/api/../.dev.vars"],
  ])("%s %s gets a JSON 404", async (method, path) => {
    const response = await send(method, path);
    expect(response).toMatchObject({ status: 404, body: { code: "not_found" } });
  });
});
