import { expect, it, vi } from "vitest";

/** Each creates one of the runtime's language tables, which takes up to 28 ms of processor time. */
const FORMATTERS = [
  [Number.prototype, "toLocaleString"],
  [BigInt.prototype, "toLocaleString"],
  [Array.prototype, "toLocaleString"],
  [Date.prototype, "toLocaleString"],
  [Date.prototype, "toLocaleDateString"],
  [Date.prototype, "toLocaleTimeString"],
  [String.prototype, "localeCompare"],
] as const;

it("no module of the Worker creates an Intl object or formats for a locale when it is imported", async () => {
  const used: string[] = [];
  const constructors = Object.getOwnPropertyNames(Intl).filter((name) => /^[A-Z]/.test(name));
  expect(constructors).toContain("NumberFormat");
  const intl = Intl as unknown as Record<string, new (...args: unknown[]) => object>;
  const originals = constructors.map((name) => [name, intl[name]] as const);
  for (const [name, original] of originals) {
    if (original === undefined) continue;
    const trap = (): object => {
      used.push(`Intl.${name}`);
      throw new Error(`Intl.${name} is used at import`);
    };
    intl[name] = new Proxy(original, { construct: trap, apply: trap });
  }
  for (const [prototype, name] of FORMATTERS) {
    vi.spyOn(prototype as unknown as Record<string, () => string>, name).mockImplementation(() => {
      used.push(name);
      return "";
    });
  }
  try {
    vi.resetModules();
    await import("../../src/worker.ts").catch((error: unknown) => used.push(String(error)));
  } finally {
    for (const [name, original] of originals) if (original !== undefined) intl[name] = original;
    vi.restoreAllMocks();
  }
  expect(used).toEqual([]);
});
