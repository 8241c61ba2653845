/** The object that sends one account's events to one webhook: when it sends, what it stores, and when it forgets. */
import { describe, expect, it, vi } from "vitest";
import type { SenderParts } from "../../../src/webhooks/sender.ts";
import { readState, saveState, type SenderState } from "../../../src/webhooks/state.ts";
import { DAY_MS, HOUR_MS, NOW_MS, SECOND_MS, setClock, WEBHOOK, withSender } from "./objects.ts";

const POSITION = { line: 8, low_left: true, unnumbered: 3, balance_line: 6 };
const BEGIN = { line: 4, low_left: true, unnumbered: 1, balance_line: 2 };
const WAITING = {
  event_id: "evt_9",
  type: "job.completed",
  line: 9,
  attempts: 4,
  reason: "status_500",
  at_ms: NOW_MS - 5 * SECOND_MS,
  retry_at_ms: NOW_MS + HOUR_MS,
} as const;
const DUE = { ...WAITING, attempts: 0, retry_at_ms: 0 };
const LAST = { id: "evt_last", line: 12, body: "{}", at_ms: NOW_MS };
const ATTEMPT = {
  identity_id: "ada",
  event_id: "evt_9",
  type: "job.completed",
  line: 9,
  attempts: 4,
  at_ms: NOW_MS - 5 * SECOND_MS,
  status: 500,
  duration_ms: 4,
  reason: "status_500",
  response: null,
} as const;

/** Parts of an account without events, whose list of deliveries notes what it forgets. */
function partsOf(given: Partial<SenderParts> = {}) {
  const forgotten: unknown[] = [];
  const unexpected = () => expect.fail("not expected here");
  const parts: SenderParts = {
    is_development: false,
    findWebhook: async () => WEBHOOK,
    secretsOf: unexpected,
    readEvents: async () => ({
      events: [],
      begin: BEGIN,
      position: POSITION,
      news: "8.0",
      has_app: true,
    }),
    pause: unexpected,
    deliveries: {
      save: unexpected,
      drop: async () => undefined,
      forget: async (...who) => void forgotten.push(who),
      record: unexpected,
    },
    ...given,
  };
  return { parts, forgotten };
}

type Test = (
  opened: Parameters<Parameters<typeof withSender>[1]>[0] & {
    readonly stored: () => SenderState;
  },
) => Promise<void>;

/** A sender that has stored these columns. */
async function withState(
  columns: Partial<SenderState> | null,
  test: Test,
  { parts } = partsOf(),
): Promise<void> {
  await withSender(parts, async (opened) => {
    const { kv } = opened.storage;
    if (columns !== null) saveState(kv, columns);
    await test({ ...opened, stored: () => readState(kv) });
  });
}

describe("a call that the account has something new", () => {
  it("makes a new sender send now", () =>
    withState(null, async ({ object, alarmAt }) => {
      expect(await object.wake("9.0")).toBe(false);
      expect(await alarmAt()).toBe(NOW_MS);
    }));

  it("changes nothing if the sender has delivered it already, or is done", async () => {
    for (const columns of [{ news: "9.0" }, { news: "8.0", is_done: true }])
      await withState(columns, async ({ object, alarmAt }) => {
        expect(await object.wake("9.0")).toBe(false);
        expect(await alarmAt()).toBeNull();
      });
  });

  it("does not bring the planned attempt of an event forward", () =>
    withState({ waiting: WAITING }, async ({ object, storage, alarmAt }) => {
      await storage.setAlarm(WAITING.retry_at_ms);
      expect(await object.wake("9.0")).toBe(true);
      expect(await alarmAt()).toBe(WAITING.retry_at_ms);
    }));

  it("sets the alarm of a waiting event again that the platform lost", () =>
    withState({ waiting: WAITING }, async ({ object, alarmAt }) => {
      expect(await object.wake("9.0")).toBe(true);
      expect(await alarmAt()).toBe(NOW_MS);
    }));

  it("brings an alarm forward that no event waits for", () =>
    withState({ news: "8.0" }, async ({ object, storage, alarmAt }) => {
      await storage.setAlarm(NOW_MS + HOUR_MS);
      expect(await object.wake("9.0")).toBe(false);
      expect(await alarmAt()).toBe(NOW_MS);
    }));
});

describe("a resumption", () => {
  it("makes a waiting event due now with all its attempts, and a round that is under way stores nothing", () =>
    withState(
      { generation: 5, waiting: WAITING, news: "8.0" },
      async ({ object, alarmAt, stored }) => {
        expect(object.resume()).toBe(true);
        expect(stored()).toMatchObject({ generation: 6, waiting: DUE, news: null });
        expect(await alarmAt()).toBe(NOW_MS);
      },
    ));

  it("makes a sender without a waiting event look for events", () =>
    withState({ generation: 5, news: "8.0" }, async ({ object, alarmAt, stored }) => {
      expect(object.resume()).toBe(false);
      expect(stored()).toMatchObject({ generation: 6, waiting: null, news: null });
      expect(await alarmAt()).toBe(NOW_MS);
    }));

  it("does not wake the sender of a deleted account", () =>
    withState({ generation: 5, is_done: true }, async ({ object, alarmAt, stored }) => {
      expect(object.resume()).toBe(false);
      expect(stored().generation).toBe(5);
      expect(await alarmAt()).toBeNull();
    }));
});

describe("a replay", () => {
  it("goes back to an earlier entry, and forgets no event without a number", () =>
    withState(
      { generation: 5, position: POSITION, waiting: WAITING, news: "8.0" },
      async ({ object, alarmAt, stored }) => {
        object.replay(7, BEGIN);
        expect(stored()).toMatchObject({
          generation: 6,
          position: { line: 7, low_left: false, unnumbered: 3, balance_line: 7 },
          waiting: DUE,
          news: null,
        });
        expect(await alarmAt()).toBe(NOW_MS);
      },
    ));

  it("from the entry where the sender is, or a later one, skips nothing", async () => {
    for (const after_line of [8, 9])
      await withState({ position: POSITION }, async ({ object, alarmAt, stored }) => {
        object.replay(after_line, BEGIN);
        expect(stored().position).toEqual(POSITION);
        expect(await alarmAt()).toBe(NOW_MS);
      });
  });

  it("before the first delivery begins where the events of the webhook begin", () =>
    withState({ position: null }, async ({ object, stored }) => {
      object.replay(100, BEGIN);
      expect(stored()).toMatchObject({ position: BEGIN, waiting: null });
    }));

  it("does not wake the sender of a deleted account", () =>
    withState({ generation: 5, is_done: true }, async ({ object, alarmAt, stored }) => {
      object.replay(0, BEGIN);
      expect(stored()).toMatchObject({ generation: 5, position: null });
      expect(await alarmAt()).toBeNull();
    }));
});

describe("the deletion of the account", () => {
  it("is delivered after what the sender has not sent yet", () =>
    withState({ news: "8.0" }, async ({ object, alarmAt, stored }) => {
      expect(object.close("9.0", LAST)).toBe(false);
      expect(stored().last).toEqual(LAST);
      expect(await alarmAt()).toBe(NOW_MS);
    }));

  it("is sent now if everything before it was delivered", () =>
    withState({ news: "9.0" }, async ({ object, alarmAt, stored }) => {
      expect(object.close("9.0", LAST)).toBe(true);
      expect(stored().last).toEqual(LAST);
      expect(await alarmAt()).toBe(NOW_MS);
    }));

  it("keeps its first event when the account repeats it", () =>
    withState({ news: "9.0", last: LAST }, async ({ object, stored }) => {
      expect(object.close("9.0", { ...LAST, id: "evt_other" })).toBe(true);
      expect(stored().last).toEqual(LAST);
      expect(object.close("9.0", null)).toBe(true);
      expect(stored().last).toEqual(LAST);
    }));

  it("makes a sender without the event deliver what is left first", () =>
    withState({ news: "8.0" }, async ({ object, alarmAt, stored }) => {
      expect(object.close("9.0", null)).toBe(false);
      expect(stored().last).toBeNull();
      expect(await alarmAt()).toBe(NOW_MS);
    }));

  it("needs no round if everything was delivered and the app does not receive the event", () =>
    withState({ news: "9.0" }, async ({ object, alarmAt }) => {
      expect(object.close("9.0", null)).toBe(true);
      expect(await alarmAt()).toBeNull();
    }));

  it("stores nothing in a sender that has nothing to keep", () =>
    withState(null, async ({ object, storage }) => {
      expect(object.close("9.0", null)).toBe(false);
      expect([...storage.kv.list()]).toEqual([]);
    }));

  it("is not sent twice: a sender that is done stays done", () =>
    withState({ is_done: true, news: "8.0" }, async ({ object, alarmAt, stored }) => {
      expect(object.close("9.0", LAST)).toBe(true);
      expect(stored().last).toBeNull();
      expect(await alarmAt()).toBeNull();
    }));
});

describe("a round", () => {
  it("of a sender that has nothing to send sets no alarm", () =>
    withState(null, async ({ fire, storage, alarmAt, stored, output }) => {
      const set = vi.spyOn(storage, "setAlarm");
      await fire();
      expect(set).not.toHaveBeenCalled();
      expect(stored()).toMatchObject({ position: POSITION, news: "8.0" });
      expect(await alarmAt()).toBeNull();
      expect(output).toEqual([]);
    }));

  it("sets the alarm for the next attempt of the waiting event", () =>
    withState({ waiting: WAITING }, async ({ fire, alarmAt, stored }) => {
      await fire();
      expect(await alarmAt()).toBe(WAITING.retry_at_ms);
      expect(stored()).toMatchObject({ waiting: WAITING, is_done: false });
    }));

  it("of a deleted webhook forgets the account, and a week later that it was done", async () => {
    const { parts, forgotten } = partsOf({ findWebhook: async () => null });
    const before = { waiting: WAITING, last: LAST, attempts: [ATTEMPT] };
    await withState(
      before,
      async ({ object, fire, alarmAt, stored, storage, output }) => {
        expect(object.attempts()).toEqual([ATTEMPT]);
        await fire();
        expect(forgotten).toEqual([[WEBHOOK.uid, "ada"]]);
        expect(stored()).toMatchObject({ is_done: true, waiting: null, last: null, attempts: [] });
        expect(await alarmAt()).toBe(NOW_MS + 7 * DAY_MS);
        setClock(NOW_MS + 7 * DAY_MS);
        await fire();
        expect([...storage.kv.list()]).toEqual([]);
        expect(await alarmAt()).toBeNull();
        expect(forgotten).toHaveLength(1);
        expect(output).toEqual([]);
      },
      { parts, forgotten },
    );
  });

  it("is not done before the list of deliveries has forgotten the account", async () => {
    const { parts, forgotten } = partsOf({ findWebhook: async () => null });
    const error = new Error("overloaded");
    vi.spyOn(parts.deliveries, "forget").mockRejectedValueOnce(error);
    await withState(
      { waiting: WAITING },
      async ({ fire, alarmAt, stored }) => {
        await fire();
        expect(stored()).toMatchObject({ is_done: false, waiting: WAITING });
        expect(await alarmAt()).not.toBeNull();
        await fire();
        expect(stored()).toMatchObject({ is_done: true });
        expect(forgotten).toEqual([[WEBHOOK.uid, "ada"]]);
      },
      { parts, forgotten },
    );
  });

  it("that fails is repeated after a pause as long as the failure, and the first pause is short again after a success", async () => {
    let error: Error | null = new Error("D1_ERROR");
    const findWebhook = async () => {
      if (error !== null) throw error;
      return WEBHOOK;
    };
    vi.spyOn(Math, "random").mockReturnValue(0);
    await withState(
      null,
      async ({ fire, alarmAt, output }) => {
        await fire();
        expect(await alarmAt()).toBe(NOW_MS + 2 * SECOND_MS);
        expect(output).toMatchObject([{ event: "webhook_sender_failed" }]);
        const later_ms = NOW_MS + 100 * SECOND_MS;
        setClock(later_ms);
        await fire();
        expect(await alarmAt()).toBe(later_ms + 100 * SECOND_MS);
        error = null;
        await fire();
        expect(await alarmAt()).toBeNull();
        error = new Error("D1_ERROR");
        await fire();
        expect(await alarmAt()).toBe(later_ms + 2 * SECOND_MS);
      },
      partsOf({ findWebhook }),
    );
  });

  it("that fails with its storage makes the platform repeat the alarm", async () => {
    const findWebhook = () => Promise.reject(new Error("D1_ERROR"));
    await withState(
      null,
      async ({ fire, storage }) => {
        vi.spyOn(storage, "sync").mockRejectedValue(new Error("disk"));
        await expect(fire()).rejects.toThrow("disk");
      },
      partsOf({ findWebhook }),
    );
  });
});
