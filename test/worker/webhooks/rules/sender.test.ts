import { describe, expect, it, vi } from "vitest";
import { WEBHOOK_ATTEMPTS_MAX } from "../../../../src/domain/webhook_retries.ts";
import { balance, HOUR_MS, job, NOW_MS, SECOND_MS, Sending } from "./sending.ts";

const PAUSED_CHECK_MS = 6 * HOUR_MS;
const LAST = { id: "last", line: 9, body: "{}", at_ms: NOW_MS };

const waitingFor = (event_id: string, attempts: number, type = "job.completed" as const) => ({
  event_id,
  type,
  line: 1,
  attempts,
  reason: "status_500",
  at_ms: NOW_MS - SECOND_MS,
  retry_at_ms: NOW_MS,
});

describe("sending an account's events to a webhook", () => {
  it("the events go out in order, each once, and the end of the page is stored with the last one", async () => {
    const sending = new Sending(job("one"), job("two"));
    sending.other_entries = 3;
    expect(await sending.round()).toBe("idle");
    expect(sending.receiver.ids).toEqual(["one", "two"]);
    const { position, news, waiting } = sending.state;
    expect([position?.line, news, waiting]).toEqual([5, "5.0", null]);
    expect(sending.told).toEqual([
      ["record", "one", 1, null],
      ["record", "two", 1, null],
    ]);
    expect(await sending.round()).toBe("idle");
    expect(sending.receiver.ids).toEqual(["one", "two"]);
  });

  it("a sender requests what its webhook wants, after what it has delivered", async () => {
    const sending = new Sending(job("one"));
    await sending.round();
    await sending.round();
    const { app_slug, events, thresholds, created_at_ms: since_ms } = sending.webhook!;
    const request = { app_slug, events, thresholds, since_ms };
    expect(sending.requests).toMatchObject([
      { ...request, after: null },
      { ...request, after: { line: 1 } },
    ]);
  });

  it("a sender sends nothing for a webhook that was deleted, and never will", async () => {
    const sending = new Sending(job("one"));
    sending.webhook = null;
    expect(await sending.round()).toBe("over");
    expect(sending.receiver.ids).toEqual([]);
  });

  it("an alarm sends two pages, and the next one goes on at once", async () => {
    const sending = new Sending(...["1", "2", "3", "4", "5"].map(job));
    expect(await sending.round()).toBe(NOW_MS);
    expect(sending.receiver.ids).toEqual(["1", "2", "3", "4"]);
    expect(sending.state).toMatchObject({ news: null, position: { line: 4 } });
    expect(await sending.round()).toBe("idle");
    expect(sending.receiver.ids).toEqual(["1", "2", "3", "4", "5"]);
  });

  it("the position is stored after each event, and after a page without events", async () => {
    const sending = new Sending(job("one"), job("two"));
    const lines: (number | undefined)[] = [];
    sending.meanwhile.receiving = () => lines.push(sending.state.position?.line);
    await sending.round();
    expect(lines).toEqual([undefined, 1]);
    sending.other_entries = 4;
    expect(await sending.round()).toBe("idle");
    expect(sending.state).toMatchObject({ news: "6.0", position: { line: 6 } });
  });
});

describe("an event that a receiver does not accept", () => {
  it("an event that is not accepted holds up those after it, and is tried again with its id", async () => {
    const sending = new Sending(job("one"), job("two"));
    sending.fail();
    expect(await sending.round()).toBe(NOW_MS + 5 * SECOND_MS);
    const retry_at_ms = NOW_MS + 5 * SECOND_MS;
    const waiting = { ...waitingFor("one", 1), at_ms: NOW_MS };
    expect(sending.state).toMatchObject({ position: null, news: null });
    expect(sending.state.waiting).toEqual({ ...waiting, retry_at_ms });
    const listed = { ...waiting, identity_id: "ada", status: "pending", retry_at_ms };
    expect(sending.told).toEqual([
      ["save", listed],
      ["record", "one", 1, "status_500"],
    ]);
    vi.setSystemTime(retry_at_ms - 1);
    expect(await sending.round()).toBe(retry_at_ms);
    expect(sending.receiver.ids).toEqual(["one"]);
    vi.setSystemTime(retry_at_ms);
    expect(await sending.round()).toBe(retry_at_ms + 30 * SECOND_MS);
    expect(sending.state.waiting).toMatchObject({ event_id: "one", attempts: 2 });
    sending.recover();
    vi.setSystemTime(retry_at_ms + 30 * SECOND_MS);
    sending.told.length = 0;
    expect(await sending.round()).toBe("idle");
    expect(sending.receiver.ids).toEqual(["one", "one", "one", "two"]);
    expect(sending.state.waiting).toBeNull();
    expect(sending.told).toEqual([
      ["record", "one", 3, null],
      ["drop", "uid 1", "ada"],
      ["record", "two", 1, null],
    ]);
  });

  it("an event after one that was accepted late begins with its own first attempt", async () => {
    const sending = new Sending(job("one"), job("two"));
    sending.set({ waiting: waitingFor("one", 4) });
    sending.receiver.respond = ({ headers }) =>
      new Response("", { status: headers.get("webhook-id") === "one" ? 200 : 500 });
    expect(await sending.round()).toBe(NOW_MS + 5 * SECOND_MS);
    expect(sending.state).toMatchObject({ position: { line: 1 }, waiting: { attempts: 1 } });
  });

  it("after the last attempt the webhook is paused, and its sender looks again six hours later", async () => {
    const sending = new Sending(job("one"));
    sending.set({ waiting: waitingFor("one", WEBHOOK_ATTEMPTS_MAX - 1) });
    sending.fail();
    expect(await sending.round()).toBe(NOW_MS + PAUSED_CHECK_MS);
    const waiting = { ...waitingFor("one", WEBHOOK_ATTEMPTS_MAX), at_ms: NOW_MS };
    expect(sending.state.waiting).toEqual({ ...waiting, retry_at_ms: NOW_MS + PAUSED_CHECK_MS });
    expect(sending.told).toEqual([
      ["pause", "uid 1", "status_500"],
      ["save", { ...waiting, identity_id: "ada", status: "failed", retry_at_ms: null }],
      ["record", "one", WEBHOOK_ATTEMPTS_MAX, "status_500"],
    ]);
  });

  it("the attempts begin again when a webhook that was paused after the last one is active again", async () => {
    const sending = new Sending(job("one"));
    sending.set({ waiting: waitingFor("one", WEBHOOK_ATTEMPTS_MAX) });
    sending.fail();
    expect(await sending.round()).toBe(NOW_MS + 5 * SECOND_MS);
    expect(sending.state.waiting?.attempts).toBe(1);
  });

  it.each(["credits.changed", "job.progressed"] as const)(
    "a newer %s takes the place of one that waits, and its attempts go on",
    async (type) => {
      const sending = new Sending({ id: "newer", type });
      sending.set({ waiting: { ...waitingFor("older", 2), type } });
      sending.fail();
      await sending.round();
      expect(sending.state.waiting).toMatchObject({ event_id: "newer", attempts: 3 });
    },
  );

  it.each([
    ["job.completed", "job.completed"],
    ["credits.changed", "job.progressed"],
    ["job.completed", "credits.changed"],
  ] as const)(
    "an event that waits has no attempts for another one: %s before %s",
    async (older, type) => {
      const sending = new Sending({ id: "newer", type });
      sending.set({ waiting: { ...waitingFor("older", 2), type: older } });
      sending.fail();
      await sending.round();
      expect(sending.state.waiting).toMatchObject({ event_id: "newer", attempts: 1 });
    },
  );

  it("an event that the app may not receive any more is not waited for", async () => {
    const sending = new Sending();
    sending.set({ waiting: waitingFor("gone", 2) });
    expect(await sending.round()).toBe("idle");
    expect(sending.state.waiting).toBeNull();
    expect(sending.told).toEqual([["drop", "uid 1", "ada"]]);
  });

  it("the last 20 attempts are kept, without the receivers' responses", async () => {
    const sending = new Sending(job("one"));
    sending.receiver.respond = () => new Response("a secret", { status: 500 });
    await sending.round();
    expect(sending.state.attempts).toMatchObject([
      { event_id: "one", attempts: 1, status: 500, reason: "status_500", response: null },
    ]);
    sending.recover();
    vi.setSystemTime(NOW_MS + 5 * SECOND_MS);
    await sending.round();
    expect(sending.state.attempts).toMatchObject([
      { attempts: 2, status: 200, reason: null },
      { attempts: 1, status: 500 },
    ]);
  });
});

describe("a paused webhook", () => {
  it("a paused webhook gets nothing: the event waits in the list, without an attempt", async () => {
    const sending = new Sending(job("one"), job("two"));
    sending.webhook = { ...sending.webhook!, paused_at_ms: NOW_MS };
    const retry_at_ms = NOW_MS + PAUSED_CHECK_MS;
    expect(await sending.round()).toBe(retry_at_ms);
    expect(sending.receiver.ids).toEqual([]);
    const waiting = { ...waitingFor("one", 0), reason: null, at_ms: NOW_MS };
    expect(sending.state.waiting).toEqual({ ...waiting, retry_at_ms });
    const listed = { ...waiting, identity_id: "ada", status: "pending", retry_at_ms: null };
    expect(sending.told).toEqual([["save", listed]]);
    vi.setSystemTime(retry_at_ms - 1);
    expect(await sending.round()).toBe(retry_at_ms);
    expect(sending.told).toHaveLength(1);
    vi.setSystemTime(retry_at_ms);
    expect(await sending.round()).toBe(retry_at_ms + PAUSED_CHECK_MS);
    expect(sending.told).toEqual([
      ["save", listed],
      ["save", listed],
    ]);
  });

  it.each([
    [2, "pending"],
    [WEBHOOK_ATTEMPTS_MAX, "failed"],
  ])(
    "an event that was tried %i times before its webhook was paused is listed as %s",
    async (attempts, status) => {
      const sending = new Sending(job("one"));
      sending.webhook = { ...sending.webhook!, paused_at_ms: NOW_MS };
      const waiting = waitingFor("one", attempts);
      sending.set({ waiting });
      await sending.round();
      const listed = { ...waiting, identity_id: "ada", status, retry_at_ms: null };
      expect(sending.told).toEqual([["save", listed]]);
    },
  );

  it("an event that the app may not receive any more is not waited for in a paused webhook either", async () => {
    const sending = new Sending();
    sending.webhook = { ...sending.webhook!, paused_at_ms: NOW_MS };
    sending.set({ waiting: { ...waitingFor("gone", 2), retry_at_ms: NOW_MS + HOUR_MS } });
    expect(await sending.round()).toBe("idle");
    expect(sending.state.waiting).toBeNull();
  });

  it("an event of a paused webhook does not take over the attempts of another", async () => {
    const sending = new Sending(job("newer"));
    sending.webhook = { ...sending.webhook!, paused_at_ms: NOW_MS };
    sending.set({ waiting: waitingFor("older", 2) });
    await sending.round();
    expect(sending.state.waiting).toMatchObject({ event_id: "newer", attempts: 0, reason: null });
  });
});

describe("events of the balance", () => {
  it("two balances of one account are a second apart, and other events do not wait", async () => {
    const sending = new Sending(balance("one"), job("two"));
    await sending.round();
    expect(sending.state.balance_at_ms).toBe(NOW_MS);
    sending.events = [...sending.events!, balance("three")];
    vi.setSystemTime(NOW_MS + 400);
    expect(await sending.round()).toBe(NOW_MS + SECOND_MS);
    expect(sending.receiver.ids).toEqual(["one", "two"]);
    vi.setSystemTime(NOW_MS + SECOND_MS - 1);
    expect(await sending.round()).toBe(NOW_MS + SECOND_MS);
    vi.setSystemTime(NOW_MS + SECOND_MS);
    expect(await sending.round()).toBe("idle");
    expect(sending.receiver.ids).toEqual(["one", "two", "three"]);
  });

  it("only a delivered balance begins the second", async () => {
    const sending = new Sending(job("one"));
    await sending.round();
    expect(sending.state.balance_at_ms).toBe(0);
  });

  it("a balance does not wait if the clock went back, or in the millisecond of the one before plus a second", async () => {
    const sending = new Sending(balance("one"));
    sending.set({ balance_at_ms: NOW_MS + HOUR_MS });
    expect(await sending.round()).toBe("idle");
    const other = new Sending(balance("one"));
    other.set({ balance_at_ms: NOW_MS });
    expect(await other.round()).toBe(NOW_MS + SECOND_MS);
  });
});

describe("an operator who changes the position meanwhile", () => {
  it.each(["reading", "receiving", "recording"] as const)(
    "a round stores nothing more and begins again if the position was changed while %s",
    async (moment) => {
      const sending = new Sending(job("one"));
      sending.meanwhile[moment] = () => {
        sending.meanwhile = {};
        sending.set({ generation: 1, position: null, news: null });
      };
      expect(await sending.round()).toBe(NOW_MS);
      expect(sending.state).toMatchObject({ generation: 1, position: null, news: null });
      expect(sending.receiver.ids).toHaveLength(moment === "reading" ? 0 : 1);
      expect(await sending.round()).toBe("idle");
      expect(sending.receiver.ids.at(-1)).toBe("one");
    },
  );
});

describe("a deleted account", () => {
  it("its last event goes out after all others, and then nothing ever again", async () => {
    const sending = new Sending(job("one"));
    sending.set({ last: LAST });
    expect(await sending.round()).toBe("over");
    expect(sending.receiver.ids).toEqual(["one", "last"]);
    expect(sending.state).toMatchObject({ last: null, waiting: null });
  });

  it("its last event is tried again for 30 days after its rows are erased", async () => {
    const sending = new Sending();
    sending.events = null;
    sending.set({ last: LAST });
    sending.fail();
    expect(await sending.round()).toBe(NOW_MS + 5 * SECOND_MS);
    expect(sending.state.waiting).toMatchObject({ event_id: "last", type: "account.deleted" });
    sending.set({ waiting: null });
    const end_ms = NOW_MS + 30 * 24 * HOUR_MS;
    vi.setSystemTime(end_ms - 1);
    expect(await sending.round()).toBe(end_ms - 1 + 5 * SECOND_MS);
    sending.set({ waiting: null });
    sending.recover();
    vi.setSystemTime(end_ms);
    expect(await sending.round()).toBe("over");
    expect(sending.receiver.ids).toEqual(["last", "last"]);
  });

  it("an account without rows and without a last event is over", async () => {
    const sending = new Sending();
    sending.events = null;
    expect(await sending.round()).toBe("over");
    expect(sending.receiver.ids).toEqual([]);
  });
});

describe("parts that fail", () => {
  it("the events go out although the operators' list cannot be reached", async () => {
    const sending = new Sending(job("one"), job("two"));
    sending.meanwhile.recording = () => {
      throw new Error("the object is overloaded");
    };
    expect(await sending.round()).toBe("idle");
    expect(sending.receiver.ids).toEqual(["one", "two"]);
  });
});
