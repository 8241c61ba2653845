import { describe, expect, it } from "vitest";
import { signIn } from "../support/passbook.ts";

describe("the typical flow", () => {
  it("the typical flow leads from a token to a wallet, a job and its settlement", async () => {
    const ada = await signIn();
    const wallet = await ada.get("/api/wallet?app=demo");
    expect(wallet.status).toBe(200);
    expect(wallet.body).toMatchObject({
      account: { identity_id: ada.identity_id, plan: "free", credits: 100 },
      apps: [{ slug: "demo", starter_credits: 100, granted: true }],
      app_grant: { slug: "demo", starter_credits: 100, granted: true },
    });

    const created = await ada.post("/api/jobs", {
      app: "demo",
      action: "render",
      cost_estimate: 30,
    });
    expect(created).toMatchObject({ status: 200, body: { credits: 70 } });

    const { job_id } = created.body;
    const completed = await ada.post("/api/jobs/complete", { job_id, actual_cost: 12 });
    expect(completed).toMatchObject({
      status: 200,
      body: {
        job: { id: job_id, status: "completed", reserved: 30, actual_cost: 12 },
        credits: 88,
      },
    });

    const ledger = await ada.get("/api/ledger");
    expect(ledger.body.entries.map((entry: { kind: string }) => entry.kind)).toEqual([
      "settle",
      "reserve",
      "grant",
      "open",
    ]);
  });
});
