import { describe, expect, it, vi } from "vitest";
import { Streams } from "../../../src/account/events/streams.ts";
import { AfterCommit } from "../../../src/account/after_commit.ts";
import { change } from "../support/account_object.ts";
import { signInWithCredits } from "../support/passbook.ts";

describe("an error in an object", () => {
  it("an error in an account's object is logged with its place in the object's code, and with no value", async () => {
    const ada = await signInWithCredits();
    const log = vi.spyOn(console, "error").mockReturnValue();
    await change(ada.identity_id, "alter table jobs rename to jobs_elsewhere");
    const job = { app: "demo", action: "draw", cost_estimate: 10, metadata: { card: "4242" } };
    const answer = await ada.post("/api/jobs", job);
    expect(answer).toMatchObject({ status: 500, body: { code: "internal" } });
    const events = log.mock.calls.map(([event]) => event as { event: string; stack?: string[] });
    const failed = events.find(({ event }) => event === "object_failed");
    // The request's line has the same id, so it says whose request caused the error.
    const request_id = answer.headers.get("Passbook-Request-Id");
    expect(failed).toMatchObject({ object: "Account", method: "createJob", request_id });
    expect(failed?.stack?.join()).toMatch(/account\//);
    expect(JSON.stringify(events)).not.toMatch(/4242|no such table|ada/);
  });

  it("a delivery that fails after a request is logged with the id of the request", async () => {
    const ada = await signInWithCredits();
    const log = vi.spyOn(console, "warn").mockReturnValue();
    vi.spyOn(AfterCommit.prototype, "deliver").mockRejectedValue(new Error("broken"));
    await change(ada.identity_id, "select 1");
    const job = { app: "demo", action: "draw", cost_estimate: 1 };
    const request_id = (await ada.post("/api/jobs", job)).headers.get("Passbook-Request-Id");
    const expected = { event: "delivery_failed", request_id, reason: "Error" };
    await vi.waitFor(() => expect(log).toHaveBeenCalledWith(expect.objectContaining(expected)));
  });

  it("a stream that cannot be opened is logged with the id of the request", async () => {
    const ada = await signInWithCredits();
    const log = vi.spyOn(console, "error").mockReturnValue();
    vi.spyOn(Streams.prototype, "whyNoRoom").mockImplementation(() => {
      throw new Error("broken");
    });
    const request_id = (await ada.get("/api/events")).headers.get("Passbook-Request-Id");
    expect(log).toHaveBeenCalledWith(
      expect.objectContaining({ event: "object_failed", method: "fetch", request_id }),
    );
  });
});
