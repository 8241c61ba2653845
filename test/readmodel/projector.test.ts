import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { PROJECTION_MESSAGE_LINES, PROJECTION_MESSAGE_MAX_BYTES } from "../../src/domain/limits.ts";
import { createQueueProjector } from "../../src/readmodel/queue_projector.ts";
import { createStraightProjector } from "../../src/readmodel/straight_projector.ts";
import { projectorContract, rowsBetween } from "./contract.ts";

const lineOf = () =>
  env.DB.prepare("select line from accounts where id = 'account'").first<number>("line");

async function arrivedBySending(line: number): Promise<void> {
  await vi.waitFor(async () => expect(await lineOf()).toBe(line), 20_000);
  // What was sent before may come after.
  await new Promise((resolve) => setTimeout(resolve, 300));
}

const openStraight = () => createStraightProjector(env.DB);
const openQueue = () => createQueueProjector(env.TEST_PROJECTIONS, openStraight());

projectorContract("straight", openStraight, async (line) => expect(await lineOf()).toBe(line));
projectorContract("through the queue", openQueue, arrivedBySending);

describe("straight", () => {
  it("says so where D1 lacks the lines before, and writes no account that claims more", async () => {
    const projector = openStraight();
    await projector.apply(rowsBetween(1, 3), 0);
    expect(await projector.apply(rowsBetween(6, 8), 5)).toBe(false);
    expect(await lineOf()).toBe(3);
  });

  it("says so where D1 has another row than presumed, also a later one", async () => {
    const projector = openStraight();
    const { plan: _, ...presumed } = rowsBetween(1, 3).account;
    await projector.apply(rowsBetween(1, 3), 0);
    expect(await projector.apply(rowsBetween(4, 6), 3, presumed)).toBe(true);
    // The same again is there already.
    expect(await projector.apply(rowsBetween(4, 6), 3, presumed)).toBe(true);
    expect(await projector.apply(rowsBetween(4, 5), 3, presumed)).toBe(false);
    await env.DB.exec("update accounts set credits = credits + 1");
    expect(await projector.apply(rowsBetween(4, 6), 3, presumed)).toBe(false);
    expect(await lineOf()).toBe(6);
  });
});

describe("a message", () => {
  it("of the most lines, each as large as can be, fits the queue", async () => {
    const sent: number[] = [];
    const queue = {
      send: (message: unknown) => {
        sent.push(new TextEncoder().encode(JSON.stringify(message)).byteLength);
        return Promise.resolve({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } });
      },
    };
    const projector = createQueueProjector(queue, openStraight());
    expect(projector.lines_at_once).toBe(PROJECTION_MESSAGE_LINES);
    const rows = rowsBetween(3, 2 + PROJECTION_MESSAGE_LINES);
    const jobs = rows.jobs.map((job) => ({
      ...job,
      account_id: crypto.randomUUID(),
      id: crypto.randomUUID(),
      app_slug: "a".repeat(64),
      action: "\u0001".repeat(200),
      reserved: Number.MAX_SAFE_INTEGER,
    }));
    await projector.apply({ ...rows, jobs }, 2);
    expect(sent).toHaveLength(1);
    expect(sent[0]).toBeLessThan(PROJECTION_MESSAGE_MAX_BYTES);
  });

  it("too large for the queue goes straight", async () => {
    const send = vi.fn();
    const projector = createQueueProjector({ send }, openStraight());
    const rows = rowsBetween(1, 3);
    const identity_id = "x".repeat(PROJECTION_MESSAGE_MAX_BYTES);
    await projector.apply({ ...rows, account: { ...rows.account, identity_id } }, 0);
    expect(send).not.toHaveBeenCalled();
    expect(await lineOf()).toBe(3);
  });
});
