import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { Alarm, AlarmRound, type AlarmPart } from "../../../../src/account/sync/alarm.ts";

/** Runs a round in a real object; `prepare` may change its storage first. */
function run(
  parts: readonly AlarmPart[],
  prepare?: (storage: DurableObjectStorage) => void,
): Promise<{ readonly failure: string | null; readonly armed_at_ms: number | null }> {
  return runInDurableObject(env.ACCOUNT.getByName("alarm"), async (_, { storage }) => {
    prepare?.(storage);
    const round = new AlarmRound(new Alarm(storage, null));
    const failure = await round.run(parts).then(
      () => null,
      (error: Error) => error.message,
    );
    return { failure, armed_at_ms: await storage.getAlarm() };
  });
}

const fails = (properties: object = {}): AlarmPart => [
  "clean-up",
  () => {
    throw Object.assign(new Error("broken"), properties);
  },
];

describe("an alarm whose work fails", () => {
  it("a defect in one part of the alarm's work is retried by an alarm of our own", async () => {
    const other = vi.fn(() => null);
    const { failure, armed_at_ms } = await run([fails(), ["projection", other]]);
    expect(failure).toBeNull();
    expect(other).toHaveBeenCalledOnce();
    expect(armed_at_ms).toBeGreaterThan(Date.now());
  });

  it.each(["durableObjectReset", "retryable", "overloaded"])(
    "an error that the platform marks %s rejects, so that the platform retries the alarm, and an alarm of our own is set",
    async (flag) => {
      const { failure, armed_at_ms } = await run([fails({ [flag]: true })]);
      expect(failure).toBe("broken");
      // The object may go on although the platform gives up.
      expect(armed_at_ms).toBeGreaterThan(Date.now());
    },
  );

  it("the alarm rejects if storage does not take the next alarm", async () => {
    const { failure } = await run([fails()], (storage) => {
      vi.spyOn(storage, "sync").mockRejectedValue(new Error("storage was reset"));
    });
    expect(failure).toBe("storage was reset");
  });
});

it("storage keeps the alarm that fired until all its work is done, because the platform repeats only that one", async () => {
  const now_ms = Date.now();
  const times = { fired: now_ms, a_month: now_ms + 30 * 86_400_000, soon: now_ms + 900_000 };
  const stored = await runInDurableObject(
    env.ACCOUNT.getByName("alarm"),
    async (_, { storage }) => {
      await storage.setAlarm(times.fired + 60_000);
      const alarm = new Alarm(storage, times.fired + 60_000);
      let during: number | null = null;
      await new AlarmRound(alarm).run([
        ["expiry", () => (alarm.by(times.a_month), null)],
        [
          "projection",
          async () => {
            during = await storage.getAlarm();
            return times.soon;
          },
        ],
      ]);
      return { during, after: await storage.getAlarm() };
    },
  );
  expect(stored).toEqual({ during: times.fired + 60_000, after: times.soon });
});
