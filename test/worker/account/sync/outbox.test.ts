import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { webhookListOf } from "../../../../src/directory/webhook_list.ts";
import { Outbox, DELIVERY_BATCHES_MAX } from "../../../../src/account/sync/outbox.ts";
import { DEFAULT_POLICY } from "../../../../src/domain/app_policy.ts";
import {
  PROJECTION_RETRY_MAX_MS,
  PROJECTION_RETRY_MIN_MS,
} from "../../../../src/domain/back_off.ts";
import { PROJECTION_BATCH_LINES } from "../../../../src/readmodel/projector.ts";
import { deleteLeftJobs } from "../../../../src/readmodel/retention.ts";
import { passTime } from "../../support/clock.ts";
import { moodOfD1 } from "./d1_faults.ts";
import { expectInvariants, expectReadModel } from "../invariants.ts";
import { change, evict, fireAlarm, query, repeatAlarm } from "../../support/account_object.ts";

const ADA = "ada";
const session = { kind: "holder" } as const;
const accountOf = (identity_id = ADA) => env.ACCOUNT.getByName(identity_id);

/** Moves the Worker's clock ahead of real time, so that no alarm fires by itself during a test. */
beforeEach(() => passTime(60 * 60 * 1000));

async function open(credits = 100): Promise<void> {
  const app = { slug: "demo", starter_credits: credits, is_registered: true };
  await accountOf().wallet(session, { app });
}

async function createJob(cost_estimate = 1, ttl_seconds = 3_600): Promise<string> {
  const job = {
    app_slug: "demo",
    policy: DEFAULT_POLICY,
    action: "draw",
    ttl_seconds,
    metadata_json: null,
  };
  const answer = await accountOf().createJob(session, { ...job, cost_estimate }, null);
  return answer.ok ? answer.value.value.job_id : expect.fail("refused");
}

function armedAt(identity_id = ADA): Promise<number | null> {
  return runInDurableObject(accountOf(identity_id), (_, state) => state.storage.getAlarm());
}

/** Deletes the alarm and evicts the object, as after an alarm that the platform dropped. */
async function loseAlarm(): Promise<void> {
  await runInDurableObject(accountOf(), (_, state) => state.storage.deleteAlarm());
  await evict(ADA);
}

async function d1Accounts(): Promise<Record<string, unknown>[]> {
  return (await env.DB.prepare("select * from accounts").all()).results;
}

describe("every kind of line", () => {
  it("every kind of entry moves the balance in D1, and a new plan has an entry of amount 0", async () => {
    await open();
    await fireAlarm(ADA);
    const taken = { amount: -130, note: "a mistake", allow_negative: true };
    const adjusted = await accountOf().adjustCredits(taken, null);
    expect(adjusted).toMatchObject({
      value: { value: { credits: -30, entry: { kind: "adjustment", note: "a mistake" } } },
    });
    await accountOf().changePlan({ plan: "studio", note: "an upgrade" }, null);
    await fireAlarm(ADA);
    expect(await d1Accounts()).toMatchObject([{ credits: -30, plan: "studio", line: 4 }]);
    const lines = await query(
      ADA,
      "select kind, amount, balance_after from entries where line = 4",
    );
    expect(lines).toEqual([{ kind: "plan", amount: 0, balance_after: -30 }]);
    await expectInvariants(ADA);
  });

  it("a grant in D1 has the time when it was made, not when its app was added", async () => {
    await open(0);
    passTime(60_000);
    await open(70);
    await fireAlarm(ADA);
    const [app] = await query<{ created_at_ms: number; granted_at_ms: number }>(
      ADA,
      "select created_at_ms, granted_at_ms from apps",
    );
    expect(app?.granted_at_ms).toBeGreaterThan(app?.created_at_ms ?? Infinity);
    expect((await env.DB.prepare("select * from grants").all()).results).toMatchObject([
      { app_slug: "demo", amount: 70, granted_at_ms: app?.granted_at_ms },
    ]);
    await expectReadModel(ADA);
  });

  it("an entry counts once with its Idempotency-Key, and another request with that key is refused", async () => {
    await open();
    const guard = { key: "gift", fingerprint: "5" };
    for (const replayed of [false, true]) {
      const answer = await accountOf().adjustCredits({ amount: 5, note: "a gift" }, guard);
      expect(answer).toMatchObject({ value: { value: { credits: 105 }, replayed } });
    }
    const other = { key: "gift", fingerprint: "6" };
    const refused = await accountOf().adjustCredits({ amount: 6, note: "a gift" }, other);
    expect(refused).toMatchObject({ refusal: { code: "idempotency_key_reused" } });
  });
});

describe("D1's row of the account", () => {
  it("an older delivery replaces neither the account's row in D1 nor a job's", async () => {
    await open();
    const job_id = await createJob(30);
    const d1 = moodOfD1();
    await fireAlarm(ADA);
    // D1 stores this delivery, but its response is lost. Then an older delivery arrives after a newer one.
    await accountOf().completeJob(session, { job_id, actual_cost: 3, metadata_json: null }, null);
    d1.mood = "fails after";
    vi.spyOn(console, "warn").mockReturnValue();
    await fireAlarm(ADA);
    d1.mood = "well";
    await expectReadModel(ADA);
    const [known] = await d1Accounts();
    await env.DB.exec("update accounts set line = 99; update jobs set line = 99, actual_cost = 77");
    const { createProjector } = await import("../../../../src/readmodel/adapters.ts");
    const account = { ...known, line: 98, credits: 1 } as never;
    const [job] = (await env.DB.prepare("select * from jobs").all()).results;
    const older = { ...job, line: 98, actual_cost: 1 } as never;
    const older_rows = { account, grants: [], jobs: [older], days: [], money: [], owed: [] };
    const [now] = await d1Accounts();
    await createProjector(env).apply(older_rows, now as never);
    expect(await d1Accounts()).toMatchObject([{ line: 99, credits: 97 }]);
    expect(await env.DB.prepare("select actual_cost from jobs").first("actual_cost")).toBe(77);
  });

  it("a row in D1 that names an entry which the object never sent causes a rebuild", async () => {
    await open();
    await createJob();
    await fireAlarm(ADA);
    await env.DB.exec("update accounts set line = 99, credits = 5; update jobs set line = 99");
    await evict(ADA);
    await createJob();
    await fireAlarm(ADA);
    await expectReadModel(ADA);
  });

  it.each([
    "credits = 5",
    "reserved = 5",
    "plan = 'gold'",
    "created_at_ms = 5",
    "updated_at_ms = 5",
  ])(
    "a row in D1 with %s, which the object never had at that entry, causes a rebuild",
    async (altered) => {
      await open();
      await createJob();
      await fireAlarm(ADA);
      await env.DB.exec(`update accounts set ${altered}; update jobs set reserved = 77`);
      await evict(ADA);
      await repeatAlarm(ADA);
      await expectReadModel(ADA);
      expect(await env.DB.prepare("select reserved from jobs").first("reserved")).toBe(1);
    },
  );

  it("the rows of an identity's former account are deleted from D1, with their jobs", async () => {
    await open();
    await createJob();
    await fireAlarm(ADA);
    await runInDurableObject(accountOf(), async (_, state) => {
      await state.storage.deleteAlarm();
      await state.storage.deleteAll();
    });
    await evict(ADA);
    await open(50);
    await fireAlarm(ADA);
    expect(await d1Accounts()).toMatchObject([{ credits: 50 }]);
    await deleteLeftJobs(env.DB);
    expect(await env.DB.prepare("select count(*) as n from jobs").first("n")).toBe(0);
    await expectReadModel(ADA);
  });

  it("a D1 that was emptied while the object runs is filled again", async () => {
    await open();
    await createJob();
    await fireAlarm(ADA);
    await env.DB.exec("delete from accounts; delete from jobs; delete from grants");
    await createJob();
    await fireAlarm(ADA);
    await expectReadModel(ADA);
  });
});

describe("an account whose alarm the platform dropped", () => {
  it("after a dropped alarm, the next entry delivers everything that D1 lacks", async () => {
    await open();
    await fireAlarm(ADA);
    await env.DB.exec("delete from accounts; delete from grants");
    await loseAlarm();
    await createJob();
    await vi.waitFor(() => expectReadModel(ADA));
  });

  it("if jobs are started, a read after a dropped alarm delivers the rest and arms their expiry again", async () => {
    await open();
    await createJob(40, 60);
    await fireAlarm(ADA);
    await env.DB.exec("delete from jobs; delete from grants; delete from accounts");
    await loseAlarm();
    await accountOf().listEntries(session, { limit: 1 });
    expect(await armedAt()).toBeLessThanOrEqual(Date.now());
    await fireAlarm(ADA);
    await expectReadModel(ADA);
    const [job] = await query<{ expires_at_ms: number }>(ADA, "select * from jobs");
    expect(await armedAt()).toBe(job?.expires_at_ms);
  });

  it("if the read model is recorded as behind, a read after a dropped alarm arms the alarm again", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const d1 = moodOfD1();
    d1.mood = "fails before";
    await open();
    await fireAlarm(ADA);
    await loseAlarm();
    await accountOf().listEntries(session, { limit: 1 });
    expect(await armedAt()).not.toBeNull();
    d1.mood = "well";
    await fireAlarm(ADA);
    await expectReadModel(ADA);
  });

  it("an account that is only read makes no call to D1, and arms no alarm if D1 lacks nothing", async () => {
    await open();
    await fireAlarm(ADA);
    await loseAlarm();
    const d1 = moodOfD1();
    await accountOf().listEntries(session, { limit: 1 });
    await accountOf().wallet(session, { app: null });
    expect([d1.calls, await armedAt()]).toEqual([0, null]);
  });
});

describe("the alarm", () => {
  it("the alarm delivers an idle account's entries once D1 is back", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const d1 = moodOfD1();
    d1.mood = "fails before";
    await open();
    expect(await fireAlarm(ADA)).toBe(true);
    expect(await fireAlarm(ADA)).toBe(true);
    d1.mood = "well";
    // The isolate reads the list of webhooks again some seconds after a read that failed.
    passTime(2 * 60 * 60 * 1000);
    expect(await fireAlarm(ADA)).toBe(true);
    await expectReadModel(ADA);
    expect(await fireAlarm(ADA)).toBe(false);
  });

  it("the alarm never rejects: a part that fails is repeated, and the other parts run", async () => {
    const errors = vi.spyOn(console, "error").mockReturnValue();
    await open();
    await createJob();
    await query(ADA, "alter table stuck_jobs rename to out_of_reach");
    // Fires the alarm instead of calling its handler, so that storage afterwards holds only a newly armed alarm.
    expect(await fireAlarm(ADA)).toBe(true);
    expect(errors).toHaveBeenCalledWith(expect.objectContaining({ event: "alarm_failed" }));
    await expectReadModel(ADA);
    const soon_ms = Date.now() + PROJECTION_RETRY_MAX_MS;
    expect(await armedAt()).toBeLessThan(soon_ms);
    await query(ADA, "alter table out_of_reach rename to stuck_jobs");
    expect(await fireAlarm(ADA)).toBe(true);
    // Only the job's expiry is left.
    expect(await armedAt()).toBeGreaterThan(soon_ms);
  });

  it("the alarm does not fire again for a job that has ended", async () => {
    await open();
    const job_id = await createJob();
    await fireAlarm(ADA);
    expect(await armedAt()).not.toBeNull();
    await accountOf().failJob(
      session,
      { job_id, refund: true, reason: null, metadata_json: null },
      null,
    );
    await fireAlarm(ADA);
    expect(await armedAt()).toBeNull();
  });

  it("the alarm is armed in the transaction that adds an entry", async () => {
    // Creates the tables first, because the migration has its own transaction.
    await accountOf().checkCaller(session);
    const armed = await runInDurableObject(accountOf(), (instance, state) => {
      const calls: string[] = [];
      const { storage } = state;
      const setAlarm = () => {
        calls.push("armed");
        return Promise.resolve();
      };
      vi.spyOn(Object.getPrototypeOf(storage), "setAlarm").mockImplementation(setAlarm as never);
      const transactionSync = storage.transactionSync.bind(storage);
      vi.spyOn(Object.getPrototypeOf(storage), "transactionSync").mockImplementation(((
        work: () => unknown,
      ) => {
        const value = transactionSync(work);
        calls.push("committed");
        return value;
      }) as never);
      instance.wallet(session, { app: null });
      return calls;
    });
    expect(armed).toEqual(["armed", "committed"]);
  });
});

describe("an object that woke and writes", () => {
  const columns = ["line = 1", "credits = 5", "reserved = 5", "created_at_ms = 5"];
  const wake = async (): Promise<ReturnType<typeof moodOfD1>> => {
    await open();
    await createJob();
    await fireAlarm(ADA);
    await evict(ADA);
    return moodOfD1();
  };

  /** An instance that ended before its delivery, and so left no note of a failure. */
  const endBeforeDelivery = async (): Promise<ReturnType<typeof moodOfD1>> => {
    const d1 = await wake();
    d1.mood = "fails before";
    vi.spyOn(console, "warn").mockReturnValue();
    await createJob();
    await vi.waitFor(() => expect(d1.calls).toBe(1));
    await change(ADA, "delete from read_model_behind");
    await evict(ADA);
    return Object.assign(d1, { mood: "well" as const, calls: 0 });
  };

  it("an object that woke makes one call for each delivery, and does not read D1's row first", async () => {
    const d1 = await wake();
    await createJob();
    // It waits for the delivery under way, and finds nothing to send.
    await fireAlarm(ADA);
    expect(d1.calls).toBe(1);
    await expectReadModel(ADA);
    d1.calls = 0;
    await createJob();
    await fireAlarm(ADA);
    expect(d1.calls).toBe(1);
    d1.calls = 0;
    await fireAlarm(ADA);
    expect(d1.calls).toBe(0);
    await expectReadModel(ADA);
  });

  it("an object that woke with nothing to send reads D1's row once, and sends what an ended instance left", async () => {
    const d1 = await endBeforeDelivery();
    await repeatAlarm(ADA);
    expect(d1.calls).toBe(2);
    await expectReadModel(ADA);
    d1.calls = 0;
    await repeatAlarm(ADA);
    expect(d1.calls).toBe(0);
  });

  it("an object that woke and supposes too much sends what D1 lacks", async () => {
    await endBeforeDelivery();
    await createJob();
    await vi.waitFor(() => expectReadModel(ADA));
  });

  it.each([...columns, "updated_at_ms = 5", "line = 9"])(
    "an object that woke sends the whole account again if D1's row is not what it sent: %s",
    async (altered) => {
      const d1 = await wake();
      await env.DB.exec(`update accounts set ${altered}; update jobs set reserved = 77`);
      d1.calls = 0;
      await createJob();
      await vi.waitFor(() => expectReadModel(ADA));
      expect(await env.DB.prepare("select sum(reserved) as sum from jobs").first("sum")).toBe(2);
    },
  );

  it("an object that woke and finds D1 emptied fills it", async () => {
    await wake();
    await env.DB.exec("delete from accounts; delete from jobs; delete from grants");
    await createJob();
    await vi.waitFor(() => expectReadModel(ADA));
  });

  it("an object that was restored to an earlier time replaces D1's row, even if it has written past it", async () => {
    await wake();
    for (let times = 0; times < 3; times += 1) await createJob();
    await fireAlarm(ADA);
    await change(ADA, "delete from entries where line > 4; delete from jobs where line > 4");
    const job = { app_slug: "demo", policy: DEFAULT_POLICY, action: "draw", cost_estimate: 2 };
    const request = { ...job, ttl_seconds: 3_600, metadata_json: null };
    // Writes entries 5 to 9. D1 has jobs of the undone entries 5 and 6.
    await accountOf().createJobs(
      session,
      Array.from({ length: 5 }, () => request),
      null,
    );
    await vi.waitFor(() => expectReadModel(ADA));
    expect((await d1Accounts())[0]).toMatchObject({ line: 9, reserved: 12 });
  });

  it("the pauses grow if D1 accepts nothing although its row was read", async () => {
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    // Selects the longest pause, because the test itself takes some milliseconds of it.
    vi.spyOn(Math, "random").mockReturnValue(0);
    await wake();
    await env.DB.exec("insert into forgotten_accounts (id) select id from accounts");
    await env.DB.exec("delete from accounts; delete from grants; delete from jobs");
    await createJob();
    await vi.waitFor(() => expect(warned).toHaveBeenCalled());
    expect(((await armedAt()) ?? 0) - Date.now()).toBeGreaterThanOrEqual(
      PROJECTION_RETRY_MIN_MS / 2,
    );
    await env.DB.exec("delete from forgotten_accounts");
    await fireAlarm(ADA);
    await expectReadModel(ADA);
  });

  it("an entry that was rolled back is never sent", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const d1 = await wake();
    await env.DB.exec("delete from accounts; delete from jobs; delete from grants");
    await runInDurableObject(accountOf(), (instance, { storage }) => {
      const original = storage.transactionSync.bind(storage);
      const failing = vi
        .spyOn(Object.getPrototypeOf(storage), "transactionSync")
        .mockImplementation(((work: () => unknown) =>
          original(() => {
            work();
            throw new Error("disk full");
          })) as never);
      const gift = { amount: 3, note: "a gift" };
      expect(() => instance.adjustCredits(gift, null)).toThrow("disk full");
      failing.mockRestore();
    });
    d1.calls = 0;
    await repeatAlarm(ADA);
    expect(d1.calls).toBeGreaterThan(1);
    await expectReadModel(ADA);
  });
});

describe("a request to catch up", () => {
  it("a request to catch up during a call to D1 makes the next flush read D1's row", async () => {
    await open();
    await fireAlarm(ADA);
    const statement = Object.getPrototypeOf(env.DB.prepare("select 1"));
    const original = statement.raw;
    const emptied = async function (this: unknown, ...args: unknown[]) {
      const answer = await Reflect.apply(original, this, args);
      asking.mockRestore();
      await env.DB.exec("delete from accounts; delete from grants");
      await accountOf().catchUp();
      return answer;
    };
    const asking = vi.spyOn(statement, "raw").mockImplementation(emptied as never);
    await accountOf().catchUp();
    await fireAlarm(ADA);
    await fireAlarm(ADA);
    await expectReadModel(ADA);
  });

  it("a request to catch up during a delivery makes the next flush read D1's row", async () => {
    await open();
    await createJob();
    const database = Object.getPrototypeOf(env.DB);
    const batch = database.batch;
    const doubted = async function (this: unknown, ...args: unknown[]) {
      const sent = await Reflect.apply(batch, this, args);
      await accountOf().catchUp();
      return sent;
    };
    const sending = vi.spyOn(database, "batch").mockImplementation(doubted as never);
    await fireAlarm(ADA);
    sending.mockRestore();
    await env.DB.exec("update accounts set credits = 5");
    await fireAlarm(ADA);
    await expectReadModel(ADA);
  });
});

describe("a read model that is behind", () => {
  it("D1 is behind since the oldest entry that it lacks, in every instance", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    vi.spyOn(Math, "random").mockReturnValue(0);
    await open();
    await fireAlarm(ADA);
    const d1 = moodOfD1();
    d1.mood = "fails before";
    await createJob(1, 86_400);
    const [line] = await query<{ at_ms: number }>(ADA, "select at_ms from entries where line = 3");
    passTime(100_000);
    await fireAlarm(ADA);
    const behind = "select since_ms, rebuilt_to_job_id from read_model_behind";
    expect(await query(ADA, behind)).toEqual([{ since_ms: line?.at_ms, rebuilt_to_job_id: null }]);
    for (let tries = 0; tries < 6; tries += 1) {
      await evict(ADA);
      vi.setSystemTime((await armedAt()) ?? 0);
      await fireAlarm(ADA);
      const pause_ms = ((await armedAt()) ?? 0) - Date.now();
      expect(pause_ms).toBeGreaterThan(99_000);
      expect(pause_ms).toBeLessThanOrEqual(PROJECTION_RETRY_MAX_MS);
    }
    expect(((await armedAt()) ?? 0) - Date.now()).toBe(PROJECTION_RETRY_MAX_MS);
    expect(await query(ADA, behind)).toEqual([{ since_ms: line?.at_ms, rebuilt_to_job_id: null }]);
    d1.mood = "well";
    await fireAlarm(ADA);
    expect(await query(ADA, behind)).toEqual([]);
    await expectReadModel(ADA);
  });

  it("after hours of failures the object tries rarely, at once when it is used, and soon when an operator asks", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    vi.spyOn(Math, "random").mockReturnValue(0);
    await open();
    await fireAlarm(ADA);
    const d1 = moodOfD1();
    d1.mood = "fails before";
    await accountOf().adjustCredits({ amount: 1, note: "a gift" }, null);
    const pause = async () => ((await armedAt()) ?? 0) - Date.now();
    passTime(8 * 3_600_000);
    await fireAlarm(ADA);
    expect(await pause()).toBeGreaterThanOrEqual(2 * 3_600_000);
    await accountOf().rebuild();
    passTime(1_000);
    await fireAlarm(ADA);
    expect(await pause()).toBeLessThanOrEqual(PROJECTION_RETRY_MIN_MS);
    passTime(8 * 3_600_000);
    await fireAlarm(ADA);
    await accountOf().catchUp();
    passTime(1_000);
    await fireAlarm(ADA);
    expect(await pause()).toBeLessThanOrEqual(PROJECTION_RETRY_MIN_MS);
    passTime(8 * 3_600_000);
    await fireAlarm(ADA);
    d1.mood = "well";
    passTime(60_000);
    await accountOf().adjustCredits({ amount: 1, note: "a gift" }, null);
    await vi.waitFor(() => expectReadModel(ADA));
  });

  it("D1 is behind since the oldest missing entry after a part was delivered", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    await open();
    await fireAlarm(ADA);
    const d1 = moodOfD1();
    d1.mood = "fails before";
    await createJob(1, 86_400);
    await fireAlarm(ADA);
    const since = async () =>
      (await query<{ since_ms: number }>(ADA, "select since_ms from read_model_behind"))[0]
        ?.since_ms;
    const noted_ms = (await since()) ?? 0;
    passTime(100_000);
    for (let line = 0; line < PROJECTION_BATCH_LINES; line += 1) {
      await accountOf(ADA).adjustCredits({ amount: 1, note: "a line" }, null);
    }
    await evict(ADA);
    // D1 returns its row and accepts one batch. Then it fails again.
    const calls_before = d1.calls;
    const mood = () => (d1.calls - calls_before > 2 ? "fails before" : "well");
    Object.defineProperty(d1, "mood", { get: mood, configurable: true });
    await fireAlarm(ADA);
    expect(await since()).toBeGreaterThanOrEqual(noted_ms + 100_000);
    Object.defineProperty(d1, "mood", { value: "well" });
    await fireAlarm(ADA);
    expect(await since()).toBeUndefined();
    await expectReadModel(ADA);
  });
});

describe("a flush", () => {
  it("a flush sends the entries that existed when it began, and the alarm sends later ones", async () => {
    await open();
    await createJob();
    let more = 20;
    const database = Object.getPrototypeOf(env.DB);
    const batch = database.batch;
    const whileSent = async function (this: unknown, ...args: unknown[]) {
      if ((more -= 1) > 0) await createJob();
      return Reflect.apply(batch, this, args);
    };
    const sent = vi.spyOn(database, "batch").mockImplementation(whileSent as never);
    await fireAlarm(ADA);
    expect(sent).toHaveBeenCalledTimes(1);
    expect(await armedAt()).not.toBeNull();
    more = 0;
    await fireAlarm(ADA);
    await expectReadModel(ADA);
  });

  it("a flush of a very long backlog continues where it stopped, even after a failure", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    await open();
    const known = async () => (await d1Accounts())[0]?.["line"];
    await vi.waitFor(async () => expect(await known()).toBe(2));
    const lines = PROJECTION_BATCH_LINES * (DELIVERY_BATCHES_MAX + 1);
    await change(
      ADA,
      `with recursive n(line) as (select 3 union all select line + 1 from n where line < ${lines})
       insert into entries (line, kind, amount, balance_after, reserved_after, at_ms)
       select line, 'plan', 0, 100, 0, 5 from n`,
    );
    const d1 = moodOfD1();
    await fireAlarm(ADA);
    expect(await known()).toBe(2 + PROJECTION_BATCH_LINES * DELIVERY_BATCHES_MAX);
    d1.mood = "fails before";
    await fireAlarm(ADA);
    d1.mood = "well";
    d1.calls = 0;
    await fireAlarm(ADA);
    expect(await known()).toBe(lines);
    // One call reads the row and one sends a batch. The third is the test's own query.
    expect(d1.calls).toBeLessThanOrEqual(3);
    expect(await fireAlarm(ADA)).toBe(false);
  });
});

describe("a rebuild", () => {
  it("during a rebuild no account and no job is missing in D1, wherever D1 fails, and the alarm finishes it", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    await open(10_000);
    for (let index = 0; index < 5; index += 1) await createJob();
    await fireAlarm(ADA);
    await env.DB.exec(
      "update jobs set line = 999, actual_cost = 5; insert into grants select account_id, 'stray', 1, 1 from grants",
    );
    const count = (table: string) =>
      env.DB.prepare(`select count(*) as n from ${table}`).first<number>("n");
    const database = Object.getPrototypeOf(env.DB);
    const batch = database.batch;
    for (let failing = 1; failing <= 3; failing += 1) {
      let calls = 0;
      const failOnce = async function (this: unknown, ...args: unknown[]) {
        if ((calls += 1) === failing) throw new Error("D1_ERROR: out of reach");
        return Reflect.apply(batch, this, args);
      };
      vi.spyOn(database, "batch").mockImplementation(failOnce as never);
      await accountOf().rebuild();
      database.batch = batch;
      expect([await count("accounts"), await count("jobs")]).toEqual([1, 5]);
      await evict(ADA);
      await fireAlarm(ADA);
      await expectReadModel(ADA);
    }
  });

  it("a rebuild goes in portions, and loses no entry that is added meanwhile", async () => {
    await open(10_000);
    const jobs = PROJECTION_BATCH_LINES * (DELIVERY_BATCHES_MAX + 1);
    await createJob();
    await change(
      ADA,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${jobs})
       insert into jobs select printf('00000000-%07d', i), 'completed', app_slug, action, 0, 0, 0, 0, null, 0, null,
         null, null, null, null, null,
         created_at_ms, updated_at_ms, expires_at_ms, 1, null, null, null, 0, 0, null, null,
         settle, on_expiry, max_overage_percent, null, null, null from jobs, n`,
    );
    await accountOf().rebuild();
    const [behind] = await query<{ rebuilt_to_job_id: string }>(
      ADA,
      "select * from read_model_behind",
    );
    expect(behind?.rebuilt_to_job_id).toMatch(/^00000000-/);
    await evict(ADA);
    await createJob();
    await fireAlarm(ADA);
    await expectReadModel(ADA);
    expect(await query(ADA, "select * from read_model_behind")).toEqual([]);
  });
});

describe("a line of an account that was quiet", () => {
  it("an entry of a quiet account is sent at once, and its alarm is a guarantee 15 minutes later", async () => {
    const now_ms = Date.now();
    await open();
    await vi.waitFor(() => expectReadModel(ADA));
    const armed_at_ms = (await armedAt()) ?? 0;
    expect(armed_at_ms).toBeGreaterThanOrEqual(now_ms + PROJECTION_RETRY_MAX_MS);
    // A second entry within the same second waits for the alarm.
    await createJob();
    expect(await armedAt()).toBeLessThan(armed_at_ms);
    await fireAlarm(ADA);
    await expectReadModel(ADA);
  });

  it("an entry reaches D1 by its alarm if the object is evicted before it is sent", async () => {
    // So that the list of webhooks is not read below.
    await webhookListOf(env.DIRECTORY).read();
    vi.spyOn(console, "warn").mockReturnValue();
    const d1 = moodOfD1();
    const flushed = vi.spyOn(Outbox.prototype, "flush").mockImplementation(async () => null);
    await open();
    flushed.mockRestore();
    await evict(ADA);
    expect(d1.calls).toBe(0);
    expect(await fireAlarm(ADA)).toBe(true);
    await expectReadModel(ADA);
  });

  it("a job that ends within 15 minutes costs one alarm in total", async () => {
    await open();
    await fireAlarm(ADA);
    const armed = await runInDurableObject(accountOf(), (_, state) =>
      vi.spyOn(Object.getPrototypeOf(state.storage), "setAlarm"),
    );
    await evict(ADA);
    const job_id = await createJob();
    await vi.waitFor(() => expectReadModel(ADA));
    await evict(ADA);
    await accountOf().failJob(
      session,
      { job_id, refund: true, reason: null, metadata_json: null },
      null,
    );
    await vi.waitFor(() => expectReadModel(ADA));
    expect(armed).toHaveBeenCalledTimes(1);
    await fireAlarm(ADA);
    expect(await armedAt()).toBeNull();
    expect(armed).toHaveBeenCalledTimes(1);
  });

  it("the alarm is armed for a job's expiry if that is earlier than the guarantee", async () => {
    await open();
    await fireAlarm(ADA);
    await evict(ADA);
    const now_ms = Date.now();
    await createJob(1, 60);
    const armed_at_ms = (await armedAt()) ?? 0;
    expect(armed_at_ms).toBeGreaterThanOrEqual(now_ms + 60_000);
    expect(armed_at_ms).toBeLessThan(now_ms + PROJECTION_RETRY_MAX_MS);
  });
});
