/** The holder's own session expires a started job of any app; late settling stays possible. */
import { describe, expect, it } from "vitest";
import { dump, evict, query } from "../../../support/account_object.ts";
import { getToken } from "../../../support/device_logins.ts";
import { BASE_URL, send, signInWithCredits, type SignedIn } from "../../../support/passbook.ts";
import { expectInvariants } from "../../../account/invariants.ts";

const start = async (ada: SignedIn): Promise<string> => {
  const body = { app: "demo", action: "draw", cost_estimate: 30 };
  return (await ada.post("/api/jobs", body)).body.job_id;
};

describe("POST /api/jobs/cancel", () => {
  it("cancelling ends a started job as cancelled, and a repeat returns the same response", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada);
    const cancelled = await ada.post("/api/jobs/cancel", { job_id });
    expect(cancelled).toMatchObject({
      status: 200,
      body: {
        job: { id: job_id, status: "failed", failure: "cancelled", actual_cost: 0 },
        credits: 100,
      },
    });
    await evict(ada.identity_id);
    const before = await dump(ada.identity_id);
    expect((await ada.post("/api/jobs/cancel", { job_id })).text).toBe(cancelled.text);
    expect(await dump(ada.identity_id)).toBe(before);
    await expectInvariants(ada.identity_id);
  });

  it("a cancelled job can still be completed late, once, at its full price", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada);
    await ada.post("/api/jobs/cancel", { job_id });
    const late = await ada.post("/api/jobs/complete", { job_id, actual_cost: 45 });
    expect(late).toMatchObject({
      status: 200,
      body: { credits: 55, job: { status: "completed" } },
    });
    const again = await ada.post("/api/jobs/cancel", { job_id });
    expect(again).toMatchObject({ status: 400, body: { code: "job_ended" } });
    await expectInvariants(ada.identity_id);
  });

  it("cancelling an ended or unknown job is refused and changes nothing", async () => {
    const ada = await signInWithCredits();
    const bob = await signInWithCredits("demo", "bob@example.com");
    const job_id = await start(ada);
    await ada.post("/api/jobs/fail", { job_id });
    const before = await dump(ada.identity_id);
    const ended = await ada.post("/api/jobs/cancel", { job_id });
    expect(ended).toMatchObject({ status: 400, body: { code: "job_ended" } });
    const foreign = await bob.post("/api/jobs/cancel", { job_id });
    expect(foreign).toMatchObject({ status: 400, body: { code: "job_unknown" } });
    expect(await dump(ada.identity_id)).toBe(before);
  });

  it("cancelling with any personal token is refused, and the error names the page for it", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada);
    const job_id = await start(ada);
    const refused = await token.post("/api/jobs/cancel", { job_id });
    expect(refused).toMatchObject({ status: 403, body: { code: "scope" } });
    expect(refused.body.error).toContain("/account/jobs");
    expect((await ada.get(`/api/jobs/${job_id}`)).body.status).toBe("started");
  });
});

describe("the button on a job's page", () => {
  it("a job's page has a cancel button only while the job is started", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada);
    const page = async () =>
      (await send("GET", `/account/jobs/${job_id}`, { headers: { Cookie: ada.cookies } })).text;
    expect(await page()).toContain(`name="job_id" value="${job_id}"`);
    const headers = {
      Cookie: ada.cookies,
      Origin: BASE_URL,
      "Content-Type": "application/x-www-form-urlencoded",
    };
    const body = new URLSearchParams({ job_id }).toString();
    const done = await send("POST", "/account/jobs/cancel", { headers, body });
    const back = `/account/jobs/${job_id}?notice=job_cancelled`;
    expect([done.status, done.headers.get("Location")]).toEqual([303, back]);
    expect(await page()).not.toContain(`value="${job_id}"`);
    const rows = await query(ada.identity_id, "select failure from jobs");
    expect(rows).toEqual([{ failure: "cancelled" }]);
  });
});
