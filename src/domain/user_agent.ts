/**
 * What a `User-Agent` says in a few words, such as "Firefox on Windows". Only these words are ever kept of
 * one. They are its sender's own, and so for people to recognise, never to decide by. Pure.
 */

/** The first that fits counts: many name others that they are like, before or after themselves. */
const PROGRAMS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(A|iOS)?\//, "Microsoft Edge"],
  [/\bOP[RT]\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/(Chrome|Chromium|\bCriOS)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^curl\//i, "curl"],
  [/^wget\//i, "Wget"],
  [/\bdeno\b/i, "Deno"],
  [/\bbun\b/i, "Bun"],
  [/\bnode\b|\bundici\b/i, "Node.js"],
  [/\bpython\b|aiohttp|httpx/i, "Python"],
  [/^go-http-client/i, "Go"],
  [/\bokhttp\b|\bjava\b/i, "Java"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bWindows\b/, "Windows"],
  [/\biPhone\b|\biPad\b/, "iOS"],
  [/\bMac OS X\b|\bDarwin\b/, "macOS"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** The program and its system; null where neither is known. */
export function programOf(user_agent: string): string | null {
  const named = (list: typeof PROGRAMS) => list.find(([sign]) => sign.test(user_agent))?.[1];
  const program = named(PROGRAMS);
  const system = named(SYSTEMS);
  if (program === undefined) return system ?? null;
  return system === undefined ? program : `${program} on ${system}`;
}
