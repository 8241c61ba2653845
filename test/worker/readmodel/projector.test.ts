import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { PROJECTION_MESSAGE_LINES } from "../../../src/domain/limits.ts";
import {
  PROJECTION_MESSAGE_MAX_BYTES,
  createQueueProjector,
} from "../../../src/readmodel/queue_projector.ts";
import { createDirectProjector } from "../../../src/readmodel/direct_projector.ts";
import { readDailyTotals } from "../../../src/readmodel/totals.ts";
import { before, projectorContract, rowsBetween } from "./contract.ts";
import { countingRows } from "./watched.ts";

const lineOf = () =>
  env.DB.prepare(
    "select coalesce(max(line), 0) as line from accounts where id = 'account'",
  ).first<number>("line");

async function arrivedBySending(line: number): Promise<void> {
  await vi.waitFor(async () => expect(await lineOf()).toBe(line), 20_000);
  // The queue may deliver an earlier message late.
  await new Promise((resolve) => setTimeout(resolve, 300));
}

const openStraight = () => createDirectProjector(env.DB);
const openQueue = () => createQueueProjector(env.TEST_PROJECTIONS, openStraight());

projectorContract("direct", openStraight, async (line) => expect(await lineOf()).toBe(line));
projectorContract("through the queue", openQueue, arrivedBySending);

describe("the direct projector", () => {
  it("the direct adapter reports that D1 lacks earlier entries, and writes no account that claims more", async () => {
    const projector = openStraight();
    await projector.apply(rowsBetween(1, 3), before(1));
    expect(await projector.apply(rowsBetween(6, 8), before(6))).toBe(false);
    expect(await lineOf()).toBe(3);
  });

  it("the direct adapter reports that D1 has another entry than the one just sent", async () => {
    const projector = openStraight();
    expect(await projector.apply(rowsBetween(1, 6), before(1))).toBe(true);
    expect(await projector.apply(rowsBetween(4, 6), before(4))).toBe(true);
    expect(await projector.apply(rowsBetween(4, 5), before(4))).toBe(false);
  });

  it("an account's first entry of a day writes four rows more than later ones", async () => {
    const rowsFor = async (line: number): Promise<number> => {
      const { database, written } = countingRows(env.DB);
      await createDirectProjector(database).apply(
        { ...rowsBetween(line, line), jobs: [] },
        before(line),
      );
      return written();
    };
    await openStraight().apply(rowsBetween(1, 1, "other"), null);
    await openStraight().apply(rowsBetween(1, 2), before(1));
    expect(await rowsFor(3)).toBe(2);
    await env.DB.exec("delete from account_days");
    expect(await rowsFor(4)).toBe(5);
  });

  it("the totals of a day are read by its apps and not by its accounts", async () => {
    for (let account = 0; account < 30; account += 1) {
      await openStraight().apply(rowsBetween(1, 3, `account ${account}`), null);
    }
    const { database, read } = countingRows(env.DB);
    const [day] = await readDailyTotals(database, 20_000, 20_001, null);
    expect(day).toMatchObject({ granted: 3_000, jobs: 30, active_accounts: 30 });
    // The app, entries of no app, and the accounts active in any.
    expect(read()).toBeLessThanOrEqual(3 + 1);
  });

  it("a late delivery of a deleted account is refused, and its totals stay", async () => {
    const projector = openStraight();
    await projector.apply(rowsBetween(1, 5), before(1));
    const counted = await readDailyTotals(env.DB, 20_000, 20_001, null);
    await projector.bar("account");
    expect(await projector.forget("account")).toBe(true);
    expect(await projector.apply(rowsBetween(1, 5), before(1))).toBe(false);
    expect(await readDailyTotals(env.DB, 20_000, 20_001, null)).toEqual(counted);
    expect(await lineOf()).toBe(0);
  });
});

describe("a message", () => {
  it("a message with the most and largest entries fits in the queue", async () => {
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
    await projector.apply({ ...rows, jobs }, before(3));
    expect(sent).toHaveLength(1);
    expect(sent[0]).toBeLessThan(PROJECTION_MESSAGE_MAX_BYTES);
  });

  it("a delivery that is too large for the queue goes directly to D1", async () => {
    const send = vi.fn();
    const projector = createQueueProjector({ send }, openStraight());
    const rows = rowsBetween(1, 3);
    const identity_id = "x".repeat(PROJECTION_MESSAGE_MAX_BYTES);
    await projector.apply({ ...rows, account: { ...rows.account, identity_id } }, null);
    expect(send).not.toHaveBeenCalled();
    expect(await lineOf()).toBe(3);
  });
});
