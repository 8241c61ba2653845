/** Makes calls to R2 fail or wait, as a network does. */
import { env } from "cloudflare:workers";
import { vi } from "vitest";

export type R2Mood = "well" | "fails before" | "fails after" | "hangs";

type Call = (this: unknown, ...args: unknown[]) => Promise<unknown>;

async function untilNotHanging(state: { readonly mood: R2Mood }): Promise<void> {
  while (state.mood === "hangs") await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Applies a mood to every call to R2 until the test ends. `writes` counts attempts to write. */
export function moodOfR2(): { mood: R2Mood; writes: number } {
  const state = { mood: "well" as R2Mood, writes: 0 };
  const bucket = Object.getPrototypeOf(env.ARCHIVE);
  for (const name of ["put", "get", "list", "delete"] as const) {
    const original: Call = bucket[name];
    const faulty: Call = async function (...args) {
      if (name === "put") state.writes += 1;
      const { mood } = state;
      if (mood === "fails before") throw new Error("R2: out of reach");
      // A write hangs, and not the look for an unfinished restore before it.
      const may_hang = !String(args[0]).startsWith("restores/");
      if (may_hang) await untilNotHanging(state);
      const response = await Reflect.apply(original, this, args);
      if (mood === "fails after") throw new Error("R2: no response");
      return response;
    };
    vi.spyOn(bucket, name).mockImplementation(faulty as never);
  }
  return state;
}
