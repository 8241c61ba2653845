/** Makes calls to R2 fail or wait, as a network does. */
import { env } from "cloudflare:workers";
import { vi } from "vitest";

/** `twice`: R2 gets each write again. `late`: a write fails, and arrives after later ones. */
export type R2Mood = "well" | "fails before" | "fails after" | "hangs" | "twice" | "late";

type Call = (this: unknown, ...args: unknown[]) => Promise<unknown>;

async function untilNotHanging(state: { readonly mood: R2Mood }): Promise<void> {
  while (state.mood === "hangs") await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Applies a mood to every call to R2 until the test ends. `writes` counts attempts to write; `arrive` makes late ones. */
export function moodOfR2() {
  const late: (() => Promise<unknown>)[] = [];
  const state = {
    mood: "well" as R2Mood,
    writes: 0,
    arrive: async (): Promise<void> => {
      for (const write of late.splice(0).toReversed()) await write();
    },
  };
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
      const call = (): Promise<unknown> => Reflect.apply(original, this, args);
      if (name === "put" && mood === "late") {
        late.push(call);
        throw new Error("R2: timed out");
      }
      const response = await call();
      if (name === "put" && mood === "twice") await call();
      if (mood === "fails after") throw new Error("R2: no response");
      return response;
    };
    vi.spyOn(bucket, name).mockImplementation(faulty as never);
  }
  return state;
}
