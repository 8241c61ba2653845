/** The object of a webhook's deliveries: what it tells the directory, whom it calls, and when its next round is. */
import { describe, expect, it, vi } from "vitest";
import type {
  ActiveAccount,
  ActiveSince,
  WebhookOutcome,
} from "../../../src/domain/webhook_delivery.ts";
import type { DeliveriesParts } from "../../../src/webhooks/deliveries.ts";
import type { ListedDelivery } from "../../../src/webhooks/deliveries_contract.ts";
import type { Webhook } from "../../../src/webhooks/sender_contract.ts";
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  NOW_MS,
  SECOND_MS,
  setClock,
  WEBHOOK,
  withDeliveries,
} from "./objects.ts";

const ALL = { status: null, after_identity_id: "", limit: 10_000 } as const;
const CHECK_MS = 10 * MINUTE_MS;
const RETRY_MS = 30 * SECOND_MS;

/** What the object tells the directory and the senders, whose calls succeed until a test decides otherwise. */
class Around implements DeliveriesParts {
  webhook: Webhook | null = WEBHOOK;
  readonly outcomes: WebhookOutcome[] = [];
  readonly calls: string[] = [];
  readonly replays: string[] = [];
  readonly walks: ActiveSince[] = [];
  accounts: readonly ActiveAccount[] = [];
  /** Happens before a call ends. @returns whether an event waits at the sender. */
  onCall: (identity_id: string) => boolean | Promise<boolean> = () => true;
  onReplay: () => void | Promise<void> = () => undefined;
  onOutcome: () => void | Promise<void> = () => undefined;

  findWebhook = async (uid: string) => (uid === WEBHOOK.uid ? this.webhook : expect.fail(uid));

  saveOutcome = async (uid: string, outcome: WebhookOutcome): Promise<void> => {
    expect(uid).toBe(WEBHOOK.uid);
    this.outcomes.push(outcome);
    await this.onOutcome();
  };

  listActive = async (after: ActiveSince, limit: number) => {
    this.walks.push(after);
    const at = this.accounts.findIndex(({ account_id }) => account_id === after.account_id);
    return this.accounts.slice(at + 1, at + 1 + limit);
  };

  replay = async (_: Webhook, identity_id: string, since_ms: number): Promise<void> => {
    this.replays.push(`${identity_id} ${since_ms}`);
    await this.onReplay();
  };

  callSender = async (how: "wake" | "resume", uid: string, identity_id: string) => {
    expect(uid).toBe(WEBHOOK.uid);
    this.calls.push(`${how} ${identity_id}`);
    return this.onCall(identity_id);
  };
}

type Test = (
  opened: Parameters<Parameters<typeof withDeliveries>[1]>[0] & { readonly around: Around },
) => Promise<void>;

async function withObject(test: Test): Promise<void> {
  const around = new Around();
  await withDeliveries(around, (opened) => test({ ...opened, around }));
}

const deliveryOf = (
  identity_id: string,
  columns: Partial<ListedDelivery> = {},
): ListedDelivery => ({
  identity_id,
  event_id: `evt_${identity_id}`,
  type: "job.completed",
  line: 2,
  attempts: 1,
  status: "pending",
  reason: "status_500",
  at_ms: NOW_MS,
  retry_at_ms: NOW_MS + 5 * SECOND_MS,
  ...columns,
});

const attemptOf = (reason: string | null, identity_id = "ada", at_ms = Date.now()) => ({
  identity_id,
  event_id: `evt_${identity_id}`,
  type: "job.completed" as const,
  line: 2,
  attempts: 1,
  at_ms,
  status: reason === null ? 200 : 500,
  duration_ms: 4,
  reason,
  response: null,
});

/** Identities in their order, from one number to another. */
const namesOf = (first: number, last: number): readonly string[] =>
  Array.from({ length: last - first + 1 }, (_, at) => `p${String(first + at).padStart(4, "0")}`);

/** Deliveries that wait, without a retry that could be overdue. */
async function fill(
  object: Parameters<Test>[0]["object"],
  names: readonly string[],
  columns: Partial<ListedDelivery> = { retry_at_ms: null },
): Promise<void> {
  for (const name of names) await object.save(deliveryOf(name, columns));
}

const listed = (object: Parameters<Test>[0]["object"]) =>
  object.list(ALL).deliveries.map(({ identity_id }) => identity_id);

describe("the list", () => {
  it("has each delivery with all that its sender said, by status too, and plans a round", () =>
    withObject(async ({ object, alarmAt }) => {
      const [ada, bob] = [deliveryOf("ada"), deliveryOf("bob", { status: "failed" })];
      await object.save(bob);
      await object.save(ada);
      const page = { looked_at_to: null, replays_since_ms: null };
      expect(object.list(ALL)).toStrictEqual({ ...page, deliveries: [ada, bob] });
      const failed = { ...ALL, status: "failed" } as const;
      expect(object.list(failed)).toStrictEqual({ ...page, deliveries: [bob] });
      expect(object.list({ ...ALL, after_identity_id: "ada", limit: 1 }).deliveries).toEqual([bob]);
      expect(await alarmAt()).toBe(NOW_MS + CHECK_MS);
      object.drop("ada");
      expect(listed(object)).toEqual(["bob"]);
    }));

  it("a delivery does not postpone a round, and brings a later one forward", () =>
    withObject(async ({ object, storage, alarmAt }) => {
      await storage.setAlarm(NOW_MS + SECOND_MS);
      await object.save(deliveryOf("ada"));
      expect(await alarmAt()).toBe(NOW_MS + SECOND_MS);
      await storage.setAlarm(NOW_MS + DAY_MS);
      await object.save(deliveryOf("ada"));
      expect(await alarmAt()).toBe(NOW_MS + CHECK_MS);
    }));

  it("a deleted account leaves with its delivery and its attempts, and no other does", () =>
    withObject(async ({ object }) => {
      for (const name of ["ada", "bob"]) {
        await object.save(deliveryOf(name));
        await object.record(attemptOf("timeout", name));
      }
      object.forget("ada");
      expect(listed(object)).toEqual(["bob"]);
      expect(object.attempts().map(({ identity_id }) => identity_id)).toEqual(["bob"]);
    }));

  it("without attempts there is nothing to show and nothing to forget", () =>
    withObject(async ({ object, fire, output }) => {
      expect(object.attempts()).toEqual([]);
      object.forget("ada");
      await fire();
      expect(output).toEqual([]);
    }));
});

describe("how deliveries go", () => {
  it("the directory knows at once that they begin to fail, and in a minute how they go on", () =>
    withObject(async ({ object, fire, alarmAt, around }) => {
      await object.record(attemptOf("status_500"));
      const first = {
        last_success_at_ms: null,
        last_error: "status_500",
        last_error_at_ms: NOW_MS,
        failing_since_ms: NOW_MS,
      };
      expect(around.outcomes).toEqual([first]);
      const later_ms = NOW_MS + 10 * MINUTE_MS;
      setClock(later_ms);
      await object.record(attemptOf("timeout"));
      expect(around.outcomes).toHaveLength(1);
      expect(await alarmAt()).toBe(NOW_MS + MINUTE_MS);
      await fire();
      const second = { ...first, last_error: "timeout", last_error_at_ms: later_ms };
      expect(around.outcomes).toEqual([first, second]);
      await fire();
      expect(around.outcomes).toHaveLength(2);
    }));

  it("the first success after a failure is noted at once too", () =>
    withObject(async ({ object, around }) => {
      await object.record(attemptOf("timeout"));
      setClock(NOW_MS + MINUTE_MS);
      await object.record(attemptOf(null));
      expect(around.outcomes.slice(1)).toEqual([
        {
          last_success_at_ms: NOW_MS + MINUTE_MS - (NOW_MS % MINUTE_MS),
          last_error: "timeout",
          last_error_at_ms: NOW_MS,
          failing_since_ms: null,
        },
      ]);
    }));

  it("a success in the minute of an earlier one ends a failure too", () =>
    withObject(async ({ object, fire, around }) => {
      for (const reason of [null, "timeout", null]) await object.record(attemptOf(reason));
      await fire();
      expect(around.outcomes.at(-1)).toMatchObject({
        last_error: "timeout",
        failing_since_ms: null,
      });
    }));

  it("changes again and again are one note a minute, not earlier and not later", () =>
    withObject(async ({ object, alarmAt, around }) => {
      await object.record(attemptOf("timeout"));
      setClock(NOW_MS + MINUTE_MS - 1);
      await object.record(attemptOf(null));
      expect(around.outcomes).toHaveLength(1);
      setClock(NOW_MS + MINUTE_MS);
      await object.record(attemptOf("timeout"));
      expect(around.outcomes).toHaveLength(2);
      expect(await alarmAt()).toBe(NOW_MS + MINUTE_MS);
    }));

  it("successes are noted with their minute, once a minute", () =>
    withObject(async ({ object, fire, around }) => {
      const minute_ms = NOW_MS - (NOW_MS % MINUTE_MS);
      await object.record(attemptOf(null));
      expect(around.outcomes).toEqual([]);
      await fire();
      const noted = (last_success_at_ms: number) => ({
        last_success_at_ms,
        last_error: null,
        last_error_at_ms: null,
        failing_since_ms: null,
      });
      expect(around.outcomes).toEqual([noted(minute_ms)]);
      setClock(minute_ms + MINUTE_MS - 1);
      await object.record(attemptOf(null));
      await fire();
      expect(around.outcomes).toHaveLength(1);
      setClock(minute_ms + MINUTE_MS);
      await object.record(attemptOf(null));
      await fire();
      expect(around.outcomes).toEqual([noted(minute_ms), noted(minute_ms + MINUTE_MS)]);
    }));

  it("what happens while the directory is told is told with the next round", () =>
    withObject(async ({ object, fire, alarmAt, around }) => {
      await object.record(attemptOf(null));
      around.onOutcome = async () => {
        around.onOutcome = () => undefined;
        await object.record(attemptOf("timeout"));
      };
      await fire();
      expect(around.outcomes).toMatchObject([{ failing_since_ms: null }]);
      expect(await alarmAt()).toBe(NOW_MS + MINUTE_MS);
      await fire();
      expect(around.outcomes).toMatchObject([
        { failing_since_ms: null },
        { failing_since_ms: NOW_MS },
      ]);
    }));

  it("the directory that did not respond is told again soon, and then the object looks once a day", () =>
    withObject(async ({ object, fire, alarmAt, around, output }) => {
      await object.record(attemptOf(null));
      around.onOutcome = () => Promise.reject(new Error("D1_ERROR"));
      await fire();
      expect(output).toMatchObject([{ event: "webhook_deliveries_failed" }]);
      expect(await alarmAt()).toBe(NOW_MS + RETRY_MS);
      around.onOutcome = () => undefined;
      await fire();
      expect(around.outcomes).toHaveLength(2);
      expect(await alarmAt()).toBe(NOW_MS + DAY_MS);
      await fire();
      expect(around.outcomes).toHaveLength(2);
    }));
});

describe("a round of the deliveries", () => {
  it("of a webhook that nothing was sent to is the last one", () =>
    withObject(async ({ fire, alarmAt, output }) => {
      await fire();
      expect(await alarmAt()).toBeNull();
      expect(output).toEqual([]);
    }));

  it("writes nothing if there is nothing to do", () =>
    withObject(async ({ object, fire, storage }) => {
      await object.record(attemptOf("timeout"));
      await fire();
      const put = vi.spyOn(Object.getPrototypeOf(storage.kv), "put");
      await fire();
      expect(put).not.toHaveBeenCalled();
    }));

  it("forgets deliveries after 30 days and attempts after 7, and no earlier ones", () =>
    withObject(async ({ object, fire, storage }) => {
      const old = { at_ms: NOW_MS - 30 * DAY_MS - 1, retry_at_ms: null };
      await object.save(deliveryOf("old", old));
      await object.save(deliveryOf("young", { ...old, at_ms: NOW_MS - 30 * DAY_MS }));
      const kept = attemptOf("timeout", "ada", NOW_MS - 7 * DAY_MS + 1);
      storage.kv.put("attempts", [kept, attemptOf("timeout", "ada", NOW_MS - 7 * DAY_MS)]);
      await fire();
      expect(listed(object)).toEqual(["young"]);
      expect(storage.kv.get("attempts")).toEqual([kept]);
    }));

  it("of a deleted webhook deletes everything, a thousand deliveries at once, and then there are no more", () =>
    withObject(async ({ object, fire, storage, alarmAt, around }) => {
      await object.record(attemptOf("timeout"));
      await object.replay(NOW_MS);
      await fill(object, namesOf(1, 1_001));
      around.webhook = null;
      await fire();
      expect(listed(object)).toHaveLength(1);
      expect(await alarmAt()).toBe(NOW_MS);
      expect([...storage.kv.list()]).toEqual([]);
      await fire();
      expect(listed(object)).toEqual([]);
      expect(await alarmAt()).toBeNull();
      expect(around.outcomes).toHaveLength(1);
    }));

  it("wakes the senders whose retry is 15 minutes late, and those that have nothing leave the list", () =>
    withObject(async ({ object, fire, alarmAt, around }) => {
      const late_ms = NOW_MS - 15 * MINUTE_MS;
      await object.save(deliveryOf("ada", { retry_at_ms: late_ms - 1 }));
      await object.save(deliveryOf("bob", { retry_at_ms: late_ms - 2 }));
      await object.save(deliveryOf("cleo", { retry_at_ms: late_ms }));
      around.onCall = (identity_id) => identity_id === "ada";
      await fire();
      expect(around.calls).toEqual(["wake bob", "wake ada"]);
      expect(listed(object)).toEqual(["ada", "cleo"]);
      expect(await alarmAt()).toBe(NOW_MS + CHECK_MS);
    }));

  it("that finds a hundred late senders is soon followed by another, and by none so soon if it finds fewer", () =>
    withObject(async ({ object, fire, alarmAt, around }) => {
      await fill(object, namesOf(1, 100), { retry_at_ms: NOW_MS - HOUR_MS });
      await fire();
      expect(around.calls).toHaveLength(100);
      expect(await alarmAt()).toBe(NOW_MS + RETRY_MS);
      object.drop("p0001");
      await fire();
      expect(await alarmAt()).toBe(NOW_MS + CHECK_MS);
    }));

  it("keeps a delivery that its sender saved again during the call", () =>
    withObject(async ({ object, fire, around }) => {
      await object.save(deliveryOf("ada", { retry_at_ms: NOW_MS - HOUR_MS }));
      around.onCall = async () => {
        await object.save(deliveryOf("ada", { at_ms: NOW_MS + 1 }));
        return false;
      };
      await fire();
      expect(listed(object)).toEqual(["ada"]);
    }));

  it("calls a sender that fails three times, the others once, and logs how many it did not reach", () =>
    withObject(async ({ object, fire, around, output }) => {
      await fill(object, ["ada", "bob", "cleo", "dan"], { retry_at_ms: NOW_MS - HOUR_MS });
      let failures = 0;
      around.onCall = (identity_id) => {
        const times = around.calls.filter((call) => call === `wake ${identity_id}`).length;
        if (identity_id === "bob" && times < 3) throw new RangeError("bob is busy");
        if (identity_id !== "cleo" || failures === 20) return true;
        failures += 1;
        throw new TypeError("cleo is gone");
      };
      await fire();
      const timesOf = (name: string) => around.calls.filter((call) => call === `wake ${name}`);
      expect(["ada", "bob", "cleo", "dan"].map((name) => timesOf(name).length)).toEqual([
        1, 3, 3, 1,
      ]);
      expect(output).toMatchObject([
        { event: "webhook_calls_failed", calls: 1, reason: "TypeError" },
      ]);
      expect(listed(object)).toEqual(["ada", "bob", "cleo", "dan"]);
    }));

  it("is planned again by the schedule if there is work, and only then", () =>
    withObject(async ({ object, storage, alarmAt }) => {
      await object.check();
      expect(await alarmAt()).toBeNull();
      await object.save(deliveryOf("ada"));
      await storage.deleteAlarm();
      await object.check();
      expect(await alarmAt()).toBe(NOW_MS + CHECK_MS);
      object.drop("ada");
      await object.replay(NOW_MS);
      await storage.deleteAlarm();
      await object.check();
      expect(await alarmAt()).toBe(NOW_MS + CHECK_MS);
    }));
});

describe("a resumption of all senders", () => {
  it("wakes each sender once, by a hundred, one round right after another", () =>
    withObject(async ({ object, fire, storage, alarmAt, around }) => {
      await fill(object, namesOf(1, 150));
      await storage.deleteAlarm();
      await object.resume();
      const called = (first: number, last: number) =>
        namesOf(first, last).map((name) => `resume ${name}`);
      expect(around.calls).toEqual(called(1, 100));
      expect(await alarmAt()).toBe(NOW_MS);
      await fire();
      expect(around.calls).toEqual(called(1, 150));
      expect(await alarmAt()).toBe(NOW_MS + CHECK_MS);
      await fire();
      expect(around.calls).toHaveLength(150);
    }));

  it("goes on if the platform lost the alarm between two rounds", () =>
    withObject(async ({ object, fire, storage, alarmAt, around }) => {
      await fill(object, namesOf(1, 250));
      await object.resume();
      await fire();
      expect(around.calls).toHaveLength(200);
      expect(await alarmAt()).toBe(NOW_MS);
      await storage.deleteAlarm();
      await object.check();
      await fire();
      expect(around.calls).toHaveLength(250);
    }));

  it("that begins again during a round starts from the first sender, even if its request is cut off", () =>
    withObject(async ({ object, fire, around }) => {
      await fill(object, namesOf(1, 150));
      await object.resume();
      const gate = Promise.withResolvers<void>();
      const again: Promise<void>[] = [];
      around.onCall = async (identity_id) => {
        if (again.length === 0) again.push(object.resume());
        // The calls of the other resumption do not end.
        if (identity_id <= "p0100") await gate.promise;
        return true;
      };
      await fire();
      around.onCall = () => true;
      around.calls.length = 0;
      await fire();
      await fire();
      expect(around.calls).toEqual(namesOf(1, 150).map((name) => `resume ${name}`));
      gate.resolve();
      await Promise.all(again);
    }));

  it("that begins again during its second part wakes that part again", () =>
    withObject(async ({ object, fire, around }) => {
      await fill(object, namesOf(1, 250));
      await object.resume();
      const gate = Promise.withResolvers<void>();
      around.onCall = async (identity_id) => {
        if (identity_id > "p0100") await gate.promise;
        return true;
      };
      const round = fire();
      await vi.waitFor(() => expect(around.calls).toHaveLength(200));
      around.calls.length = 0;
      await object.resume();
      gate.resolve();
      await round;
      await fire();
      await fire();
      expect(around.calls).toEqual(namesOf(1, 250).map((name) => `resume ${name}`));
    }));

  it("of which two rounds do the same part goes on at once", () =>
    withObject(async ({ object, fire, alarmAt, around }) => {
      await fill(object, namesOf(1, 150));
      const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      around.onCall = async () => {
        // The first hundred calls are those of the request, which ends first.
        await (around.calls.length > 100 ? second : first).promise;
        return true;
      };
      const resumed = object.resume();
      await vi.waitFor(() => expect(around.calls).toHaveLength(100));
      const round = fire();
      await vi.waitFor(() => expect(around.calls).toHaveLength(200));
      first.resolve();
      await resumed;
      second.resolve();
      await round;
      // Waiting passes the time of the test's clock.
      expect(await alarmAt()).toBe(Date.now());
      await fire();
      expect(around.calls.slice(200)).toEqual(namesOf(101, 150).map((name) => `resume ${name}`));
    }));
});

describe("a replay for all accounts of a webhook", () => {
  const accountOf = (name: string): ActiveAccount => ({
    day: 20_000,
    app_slug: "demo",
    account_id: `account ${name}`,
    identity_id: name,
    is_known: false,
  });

  it("goes over the accounts by a hundred, and leaves out those that it met or that are gone", () =>
    withObject(async ({ object, fire, alarmAt, around }) => {
      const names = namesOf(1, 150);
      around.accounts = names.map((name) => ({
        ...accountOf(name),
        ...(name === "p0002" && { is_known: true }),
        ...(name === "p0003" && { identity_id: null }),
      }));
      await object.replay(NOW_MS - DAY_MS);
      expect(await alarmAt()).toBe(NOW_MS);
      expect(object.list(ALL).replays_since_ms).toBe(NOW_MS - DAY_MS);
      await fire();
      expect(around.replays).toHaveLength(98);
      expect(await alarmAt()).toBe(NOW_MS);
      await fire();
      const wanted = names.filter((name) => name !== "p0002" && name !== "p0003");
      expect(around.replays).toEqual(wanted.map((name) => `${name} ${NOW_MS - DAY_MS}`));
      expect(object.list(ALL).replays_since_ms).toBeNull();
      expect(await alarmAt()).toBeNull();
      const day = Math.floor((NOW_MS - DAY_MS) / DAY_MS);
      expect(around.walks).toMatchObject([
        { first_day: day, day, app_slug: "", account_id: "" },
        { first_day: day, day: 20_000, app_slug: "demo", account_id: "account p0100" },
      ]);
    }));

  it("of exactly a hundred accounts ends with a round that finds no more", () =>
    withObject(async ({ object, fire, around }) => {
      around.accounts = namesOf(1, 100).map(accountOf);
      await object.replay(NOW_MS);
      await fire();
      expect(object.list(ALL).replays_since_ms).toBe(NOW_MS);
      await fire();
      expect(object.list(ALL).replays_since_ms).toBeNull();
      expect(around.replays).toHaveLength(100);
    }));

  it("becomes a part of another one that begins during it, from the earlier time", () =>
    withObject(async ({ object, fire, alarmAt, around }) => {
      around.accounts = [accountOf("ada")];
      await object.replay(NOW_MS - HOUR_MS);
      around.onReplay = () => {
        around.onReplay = () => undefined;
        return object.replay(NOW_MS - DAY_MS);
      };
      await fire();
      expect(object.list(ALL).replays_since_ms).toBe(NOW_MS - DAY_MS);
      expect(await alarmAt()).toBe(NOW_MS);
      await object.replay(NOW_MS);
      await fire();
      expect(around.replays).toEqual([`ada ${NOW_MS - HOUR_MS}`, `ada ${NOW_MS - DAY_MS}`]);
    }));

  it("waits while the webhook is paused, and late senders are woken meanwhile", () =>
    withObject(async ({ object, fire, alarmAt, around }) => {
      around.accounts = [accountOf("ada")];
      around.webhook = { ...WEBHOOK, paused_at_ms: NOW_MS };
      await object.save(deliveryOf("bob", { retry_at_ms: NOW_MS - HOUR_MS }));
      await object.replay(NOW_MS);
      await fire();
      expect(around.walks).toEqual([]);
      expect(around.calls).toEqual(["wake bob"]);
      expect(await alarmAt()).toBe(NOW_MS + CHECK_MS);
      around.webhook = WEBHOOK;
      await fire();
      expect(around.replays).toEqual([`ada ${NOW_MS}`]);
    }));
});
