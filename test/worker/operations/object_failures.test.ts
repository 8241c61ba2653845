import { describe, expect, it, vi } from "vitest";
import { change } from "../support/account_object.ts";
import { signInWithCredits } from "../support/passbook.ts";

describe("an error in an object", () => {
  it("an error in an account's object is logged with its place in the object's code, and with no value", async () => {
    const ada = await signInWithCredits();
    const log = vi.spyOn(console, "error").mockReturnValue();
    await change(ada.identity_id, "alter table jobs rename to jobs_elsewhere");
    const job = { app: "demo", action: "draw", cost_estimate: 10, metadata: { card: "4242" } };
    expect(await ada.post("/api/jobs", job)).toMatchObject({
      status: 500,
      body: { code: "internal" },
    });
    const events = log.mock.calls.map(([event]) => event as { event: string; stack?: string[] });
    const failed = events.find(({ event }) => event === "object_failed");
    expect(failed).toMatchObject({ object: "Account", method: "createJob" });
    expect(failed?.stack?.join()).toMatch(/account\//);
    expect(JSON.stringify(events)).not.toMatch(/4242|no such table|ada/);
  });
});
