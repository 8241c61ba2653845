import { describe, expect, it } from "vitest";
import { shownAt, withAttempt, type RecordedAttempt } from "../../../../src/webhooks/attempts.ts";
import { createDeliveryRecords } from "../../../../src/webhooks/delivery_records.ts";
import { readState } from "../../../../src/webhooks/state.ts";
import { NOW_MS } from "./sending.ts";

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;

const attemptAt = (at_ms: number, reason: string | null = null) =>
  ({ event_id: `event at ${at_ms}`, at_ms, reason }) as RecordedAttempt;

describe("the last attempts", () => {
  it("the last attempts are 20, the newest first", () => {
    let known: readonly RecordedAttempt[] = [];
    for (let at = 0; at < 22; at += 1) known = withAttempt(known, attemptAt(NOW_MS + at));
    expect(known.map(({ at_ms }) => at_ms - NOW_MS)).toEqual(
      Array.from({ length: 20 }, (_, at) => 21 - at),
    );
  });

  it("an attempt is shown for seven days", () => {
    const known = [attemptAt(NOW_MS + 1), attemptAt(NOW_MS)];
    expect(shownAt(known, NOW_MS + 7 * DAY_MS - 1)).toEqual(known);
    expect(shownAt(known, NOW_MS + 7 * DAY_MS)).toEqual([known[0]]);
    expect(withAttempt(known, attemptAt(NOW_MS + 8 * DAY_MS))).toHaveLength(1);
  });
});

describe("what senders tell a webhook's object", () => {
  /** Records of an isolate, and the attempts that arrive. */
  function open() {
    const state = { is_down: false, arrived: [] as string[] };
    const named = (uid: string) => ({
      async record({ at_ms, reason }: RecordedAttempt) {
        if (state.is_down) throw new Error("the object is overloaded");
        state.arrived.push(`${uid} ${at_ms - NOW_MS} ${reason ?? "accepted"}`);
      },
    });
    return { state, records: createDeliveryRecords({ getByName: named } as never) };
  }

  it("one success a minute is told for each webhook, and every failure", async () => {
    const { state, records } = open();
    const at_ms = NOW_MS - (NOW_MS % MINUTE_MS);
    const first = at_ms - NOW_MS;
    await records.record("one", attemptAt(at_ms));
    await records.record("one", attemptAt(at_ms + MINUTE_MS - 1));
    await records.record("two", attemptAt(at_ms + 1));
    await records.record("one", attemptAt(at_ms + MINUTE_MS));
    await records.record("one", attemptAt(at_ms + MINUTE_MS + 1, "timeout"));
    await records.record("one", attemptAt(at_ms + MINUTE_MS + 2, "timeout"));
    await records.record("one", attemptAt(at_ms + MINUTE_MS + 3));
    await records.record("one", attemptAt(at_ms + MINUTE_MS + 4));
    expect(state.arrived).toEqual([
      `one ${first} accepted`,
      `two ${first + 1} accepted`,
      `one ${first + MINUTE_MS} accepted`,
      `one ${first + MINUTE_MS + 1} timeout`,
      `one ${first + MINUTE_MS + 2} timeout`,
      `one ${first + MINUTE_MS + 3} accepted`,
    ]);
  });

  it("a success that could not be told is told with the next one of its minute", async () => {
    const { state, records } = open();
    const at_ms = NOW_MS - (NOW_MS % MINUTE_MS);
    state.is_down = true;
    await expect(records.record("one", attemptAt(at_ms))).rejects.toThrow("overloaded");
    state.is_down = false;
    await records.record("one", attemptAt(at_ms + 1));
    expect(state.arrived).toHaveLength(1);
  });
});

it("a new sender has delivered nothing, and its account is not deleted", () => {
  const empty = { get: () => undefined, put: () => expect.fail("nothing is stored") };
  expect(readState(empty as never)).toEqual({
    generation: 0,
    position: null,
    news: null,
    waiting: null,
    attempts: [],
    balance_at_ms: 0,
    last: null,
    is_done: false,
  });
});
