import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import type { ProjectionMessage } from "../../../src/readmodel/projector.ts";
import {
  consumeProjections,
  createQueueProjector,
} from "../../../src/readmodel/queue_projector.ts";
import { createDirectProjector } from "../../../src/readmodel/direct_projector.ts";
import { readDailyTotals } from "../../../src/readmodel/totals.ts";
import worker from "../../../src/worker.ts";
import { expectReadModel } from "../account/invariants.ts";
import { fireAlarm, query } from "../support/account_object.ts";
import { before, rowsBetween } from "./contract.ts";

const session = { kind: "holder" } as const;
const lineOf = (id = "account") =>
  env.DB.prepare("select line from accounts where id = ?").bind(id).first("line");
const direct = () => createDirectProjector(env.DB);

/** A message of the platform, which records how it was settled. */
function messageOf(first: number, last: number, account_id = "account", attempts = 1) {
  const became = { ack: vi.fn(), retry: vi.fn() };
  const body: ProjectionMessage = {
    rows: rowsBetween(first, last, account_id),
    after: before(first, account_id),
  };
  const message = { id: `${first}-${last}`, timestamp: new Date(), body, attempts, ...became };
  return message satisfies Message<ProjectionMessage>;
}

const unreachable = () => ({
  projector: direct(),
  catchUp: () => Promise.reject(new Error("unreachable")),
  countFailure: vi.fn(),
});

const batchOf = (
  messages: readonly Message<ProjectionMessage>[],
  queue = "passbook-projections",
) => ({
  queue,
  messages,
});

describe("a batch of the queue", () => {
  it("a batch of the queue becomes one batch of D1, for any accounts and order", async () => {
    const messages = ["one", "two", "three"].flatMap((id) => [
      messageOf(6, 9, id),
      messageOf(1, 5, id),
      messageOf(10, 10, id),
    ]);
    const batch = vi.spyOn(Object.getPrototypeOf(env.DB), "batch");
    const catchUp = vi.fn();
    await consumeProjections(batchOf(messages), {
      projector: direct(),
      catchUp,
      countFailure: vi.fn(),
    });
    expect(batch).toHaveBeenCalledTimes(1);
    expect(catchUp).not.toHaveBeenCalled();
    for (const { ack, retry } of messages) {
      expect([ack.mock.calls.length, retry.mock.calls.length]).toEqual([1, 0]);
    }
    for (const id of ["one", "two", "three"]) expect(await lineOf(id)).toBe(10);
    const { results } = await env.DB.prepare("select count(*) as n from jobs").all();
    expect(results).toEqual([{ n: 3 * 8 }]);
  });

  it("overlapping messages count each entry once", async () => {
    await consumeProjections(batchOf([messageOf(1, 3)]), unreachable());
    // The account knows that D1 has 3 entries. Its second message repeats a part of the first one.
    const messages = [messageOf(6, 8), messageOf(4, 9)];
    await consumeProjections(batchOf(messages), unreachable());
    expect(await lineOf()).toBe(9);
    const [totals] = await readDailyTotals(env.DB, 20_000, 20_001, null);
    expect(totals).toMatchObject({ jobs: 7, reserved: 14 });
  });

  it("a repeated message that others follow is acknowledged, and the others are counted once", async () => {
    await consumeProjections(batchOf([messageOf(1, 3)]), unreachable());
    const messages = [messageOf(1, 3), messageOf(4, 5), messageOf(6, 8)];
    await consumeProjections(batchOf(messages), unreachable());
    for (const { ack, retry } of messages)
      expect([ack.mock.calls.length, retry.mock.calls.length]).toEqual([1, 0]);
    expect(await lineOf()).toBe(8);
    const [totals] = await readDailyTotals(env.DB, 20_000, 20_001, null);
    expect(totals).toMatchObject({ jobs: 6, reserved: 12 });
  });

  it("messages that follow one another become one delivery and count the account once", async () => {
    await consumeProjections(batchOf([messageOf(1, 3)]), unreachable());
    const batch = vi.spyOn(Object.getPrototypeOf(env.DB), "batch");
    const messages = [messageOf(6, 8), messageOf(4, 5), messageOf(9, 9)];
    await consumeProjections(batchOf(messages), unreachable());
    expect(batch).toHaveBeenCalledTimes(1);
    expect(await lineOf()).toBe(9);
    const [totals] = await readDailyTotals(env.DB, 20_000, 20_001, null);
    expect(totals).toMatchObject({ jobs: 7, active_accounts: 1 });
  });

  it("a message that is repeated after later ones is acknowledged and changes nothing", async () => {
    await consumeProjections(batchOf([messageOf(1, 3)]), unreachable());
    await consumeProjections(batchOf([messageOf(4, 9)]), unreachable());
    const counted = await readDailyTotals(env.DB, 20_000, 20_001, null);
    const again = messageOf(4, 6);
    await consumeProjections(batchOf([again]), unreachable());
    expect([again.ack.mock.calls.length, again.retry.mock.calls.length]).toEqual([1, 0]);
    expect(await readDailyTotals(env.DB, 20_000, 20_001, null)).toEqual(counted);
    expect(await lineOf()).toBe(9);
  });

  it("a dead letter whose account cannot be reached counts as a failed delivery", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const options = unreachable();
    const dead = messageOf(1, 3);
    await consumeProjections(batchOf([dead], "passbook-projections-dead"), options);
    expect(dead.retry).toHaveBeenCalledOnce();
    const oldest_at_ms = dead.timestamp.getTime();
    expect(options.countFailure.mock.calls).toEqual([
      [{ reason: "Error", count: 1, oldest_at_ms }],
    ]);
  });

  it("several accounts of one day are counted together", async () => {
    const messages = ["one", "two", "three"].map((id) => messageOf(1, 4, id));
    await consumeProjections(batchOf(messages), unreachable());
    const [totals] = await readDailyTotals(env.DB, 20_000, 20_001, "demo");
    expect(totals).toMatchObject({ granted: 300, jobs: 6, active_accounts: 3 });
  });

  it("a message with missing earlier entries makes its account catch up, and other messages are kept", async () => {
    const catchUp = vi.fn(() => Promise.resolve());
    const lacking = messageOf(6, 9, "lacking");
    const well = messageOf(1, 3, "well");
    await consumeProjections(batchOf([lacking, well]), {
      projector: direct(),
      catchUp,
      countFailure: vi.fn(),
    });
    expect(catchUp).toHaveBeenCalledExactlyOnceWith("user_contract of lacking");
    expect([await lineOf("lacking"), await lineOf("well")]).toEqual([null, 3]);
    expect(lacking.ack).toHaveBeenCalledOnce();
  });

  it("a message is retried with growing pauses while D1 or its account is unavailable", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const message = messageOf(6, 9);
    const options = unreachable();
    await consumeProjections(batchOf([message]), options);
    expect(message.retry).toHaveBeenCalledExactlyOnceWith({ delaySeconds: 5 });
    await env.DB.exec("alter table jobs rename to jobs_away");
    const again = messageOf(1, 3, "account", 4);
    const old = messageOf(1, 3, "other", 20);
    await consumeProjections(batchOf([again, old]), options);
    expect(again.retry).toHaveBeenCalledExactlyOnceWith({ delaySeconds: 40 });
    expect(old.retry).toHaveBeenCalledExactlyOnceWith({ delaySeconds: 900 });
    expect([again.ack, old.ack].map((ack) => ack.mock.calls.length)).toEqual([0, 0]);
  });

  it("a message that D1 never accepts does not block the others for long", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const poison = messageOf(1, 3, "poison", 4);
    Object.assign(poison.body.rows.account, { identity_id: null });
    const well = messageOf(1, 3, "well", 4);
    const options = { projector: direct(), catchUp: vi.fn(), countFailure: vi.fn() };
    await consumeProjections(batchOf([poison, well]), options);
    expect([poison.ack, well.ack].map((ack) => ack.mock.calls.length)).toEqual([0, 1]);
    expect(await lineOf("well")).toBe(3);
  });

  it.each([
    ["accounts", (at: number) => messageOf(1, 400, `account ${at}`)],
    ["entries of one account", (at: number) => messageOf(400 * at + 1, 400 * at + 400)],
  ])("large messages of many %s are split into batches that D1 accepts", async (_, numbered) => {
    const messages = Array.from({ length: 40 }, (_, at) => {
      const message = numbered(at);
      const jobs = message.body.rows.jobs.map((job) => ({ ...job, action: "x".repeat(200) }));
      Object.assign(message.body.rows, { jobs });
      return message;
    });
    const batch = vi.spyOn(Object.getPrototypeOf(env.DB), "batch");
    const options = { projector: direct(), catchUp: vi.fn(), countFailure: vi.fn() };
    await consumeProjections(batchOf(messages), options);
    expect(batch.mock.calls.length).toBeGreaterThan(1);
    for (const { ack } of messages) expect(ack).toHaveBeenCalledOnce();
  });
});

/** Refused messages are retried at once. The pauses that the consumer requests are tested above. */
function retryAtOnce(): void {
  const consume = worker.queue;
  vi.spyOn(worker, "queue").mockImplementation((batch, ...rest) => {
    for (const message of batch.messages) {
      const retry = message.retry.bind(message);
      message.retry = () => retry();
    }
    return consume(batch, ...rest);
  });
}

describe("an account that delivers through the queue", () => {
  const ADA = "ada";
  const accountOf = () => env.ACCOUNT.getByName(ADA);
  const act = async (credits: number): Promise<void> => {
    await accountOf().adjustCredits({ amount: credits, note: "a gift" }, null);
  };
  it("an account whose messages were lost reads what D1 has and sends them again", async () => {
    await accountOf().wallet(session, { app: { slug: "demo", starter_credits: 100 } });
    await fireAlarm(ADA);
    await expectReadModel(ADA);
    // The object assumes that D1 has everything, but the queue gave up a message.
    await act(5);
    await fireAlarm(ADA);
    await env.DB.exec("update accounts set line = 2, credits = 100, updated_at_ms = 0");
    const [two] = await query<{ at_ms: number }>(ADA, "select at_ms from entries where line = 2");
    await env.DB.prepare("update accounts set updated_at_ms = ?").bind(two?.at_ms).run();
    expect(await fireAlarm(ADA)).toBe(false);
    await accountOf().catchUp();
    expect(await fireAlarm(ADA)).toBe(true);
    await expectReadModel(ADA);
  });

  it("dead letters make the account deliver again through the platform's own queues", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    await accountOf().wallet(session, { app: { slug: "demo", starter_credits: 100 } });
    await fireAlarm(ADA);
    const [account] = (await env.DB.prepare("select * from accounts").all()).results;
    const rows = rowsBetween(3, 4, String(account?.["id"]));
    const lost = { ...rows, account: { ...rows.account, identity_id: ADA, plan: null as never } };
    // The constraint fails each try until the platform gives the message up.
    const catchUp = vi.fn();
    const account_of = await import("../../../src/account/object.ts");
    vi.spyOn(account_of.Account.prototype, "catchUp").mockImplementation(catchUp);
    retryAtOnce();
    await createQueueProjector(env.TEST_PROJECTIONS, direct()).apply(lost, account as never);
    await vi.waitFor(() => expect(catchUp).toHaveBeenCalled(), 40_000);
    expect(await lineOf(String(account?.["id"]))).toBe(2);
  });
});
