/** Makes calls to D1 fail as a network does: before D1 does anything, or after it has done everything. */
import { env } from "cloudflare:workers";
import { vi } from "vitest";

export type D1Mood = "well" | "fails before" | "fails after";

type Call = (this: unknown, ...args: unknown[]) => Promise<unknown>;

/**
 * Applies a mood to every call to D1 until the test ends. Use it in tests that call account objects directly,
 * because signing in writes to D1 too.
 */
export function moodOfD1(): { mood: D1Mood; calls: number } {
  const state = { mood: "well" as D1Mood, calls: 0 };
  const statement = Object.getPrototypeOf(env.DB.prepare("select 1"));
  const database = Object.getPrototypeOf(env.DB);
  for (const [target, name] of [
    [database, "batch"],
    [statement, "raw"],
    [statement, "all"],
  ] as const) {
    const original: Call = target[name];
    const faulty: Call = async function (...args) {
      state.calls += 1;
      const { mood } = state;
      if (mood === "fails before") throw new Error("D1_ERROR: out of reach");
      const answer = await Reflect.apply(original, this, args);
      if (mood === "fails after") throw new Error("D1_ERROR: no answer");
      return answer;
    };
    vi.spyOn(target, name).mockImplementation(faulty as never);
  }
  return state;
}
