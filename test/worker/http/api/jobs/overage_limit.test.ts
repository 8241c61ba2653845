import { beforeEach, describe, expect, it, vi } from "vitest";
import { signInWithCredits, type SignedIn } from "../../../support/passbook.ts";
import { openAppServer, saveApp, type AppServer } from "../../caller/app_server.ts";

let ada: SignedIn;
let server: AppServer;
beforeEach(async () => {
  server = await openAppServer("demo", { max_overage_percent: 50 });
  ada = await signInWithCredits("demo");
});

const act = () => server.in(ada.identity_id);
const credits = async (): Promise<number> => (await ada.get("/api/wallet")).body.account.credits;

async function start(cost_estimate: number): Promise<string> {
  const created = await act().post("/api/jobs", { app: "demo", action: "draw", cost_estimate });
  return created.body.job_id;
}

const complete = (job_id: string, actual_cost: number, metadata = {}) =>
  act().post("/api/jobs/complete", { job_id, actual_cost, metadata });

describe("an app with max_overage_percent", () => {
  it.each([
    [10, 15, 16],
    [0, 0, 1],
    [1, 1, 2],
    [3, 4, 5],
  ])(
    "a job of an app with max_overage_percent and estimate %i can cost %i but not %i",
    async (estimate, most, beyond) => {
      const job_id = await start(estimate);
      const before = await credits();
      const refused = await complete(job_id, beyond, { late: true });
      expect(refused).toMatchObject({ status: 400, body: { code: "overage_limit", limit: most } });
      expect(await credits()).toBe(before);
      expect((await act().get(`/api/jobs/${job_id}`)).body).toMatchObject({
        status: "started",
        metadata: null,
      });
      const done = await complete(job_id, most);
      expect(done).toMatchObject({ status: 200, body: { job: { actual_cost: most } } });
      expect(await credits()).toBe(100 - most);
    },
  );

  it("a batch refuses the item that exceeds max_overage_percent and completes the others", async () => {
    const [within, beyond] = [await start(10), await start(0)];
    const response = await act().post("/api/jobs/complete/batch", {
      jobs: [
        { job_id: beyond, actual_cost: 1_000_000_000_000 },
        { job_id: within, actual_cost: 15 },
      ],
    });
    expect(response.body.results).toMatchObject([
      { code: "overage_limit", limit: 0 },
      { job: { status: "completed", actual_cost: 15 } },
    ]);
    expect(await credits()).toBe(85);
  });

  it("max_overage_percent also limits an expired job that is completed late", async () => {
    const job_id = await start(10);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 25 * 60 * 60 * 1000 });
    const refused = await complete(job_id, 16);
    expect(refused).toMatchObject({ status: 400, body: { code: "overage_limit", limit: 15 } });
    expect((await complete(job_id, 15)).status).toBe(200);
  });

  it("a progress report cannot raise the reserve or spent of a job beyond max_overage_percent", async () => {
    const job_id = await start(10);
    const report = (step: number, more: object) =>
      act().post("/api/jobs/progress", { job_id, step, ...more });
    const refused = await report(1, { reserve: 16, spent: 16 });
    expect(refused).toMatchObject({ status: 400, body: { code: "overage_limit", limit: 15 } });
    expect(await credits()).toBe(90);
    expect((await report(1, { reserve: 15, spent: 15 })).status).toBe(200);
    const beyond = await complete(job_id, 16);
    expect(beyond).toMatchObject({ status: 400, body: { code: "overage_limit", limit: 15 } });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 25 * 60 * 60 * 1000 });
    const expired = (await act().get(`/api/jobs/${job_id}`)).body;
    expect(expired).toMatchObject({ failure: "expired", actual_cost: 15 });
  });

  it("a job that lowered its reserve can still cost its estimate with max_overage_percent", async () => {
    const [charged, raised] = [await start(10), await start(10)];
    for (const job_id of [charged, raised]) {
      await act().post("/api/jobs/progress", { job_id, step: 1, reserve: 1 });
    }
    const refused = await complete(charged, 16);
    expect(refused).toMatchObject({ status: 400, body: { code: "overage_limit", limit: 15 } });
    expect((await complete(charged, 15)).status).toBe(200);
    const again = await act().post("/api/jobs/progress", { job_id: raised, step: 2, reserve: 15 });
    expect(again.body.job.reserved).toBe(15);
    expect(await credits()).toBe(70);
  });

  it("a job keeps the max_overage_percent that it was created with", async () => {
    const strict = await start(10);
    await saveApp(server.operator, "demo", { max_overage_percent: null });
    const free = await start(10);
    await saveApp(server.operator, "demo", { max_overage_percent: 0 });
    expect((await complete(strict, 16)).body.code).toBe("overage_limit");
    expect((await complete(strict, 15)).status).toBe(200);
    expect((await complete(free, 1_000)).status).toBe(200);
  });
});
