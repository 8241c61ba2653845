/**
 * A short description of the client that sent a request: its program and approximate location. Only these words
 * are stored, not the `User-Agent`. The client can claim anything, so they help people recognise a session or
 * device, and nothing is decided by them. Pure.
 */
import type { Language } from "./language.ts";

/** Longest city name that is kept, in characters. */
const CITY_MAX_LENGTH = 100;

/** An approximate location, derived by the platform from the IP address. Null: unknown, as always in development. */
export interface Location {
  readonly city: string | null;
  /** An ISO 3166-1 code, or "T1", Cloudflare's code for Tor. */
  readonly country: string | null;
}

export function locationOf(request: { readonly cf?: unknown }): Location {
  const { city, country } = (request.cf ?? {}) as { city?: unknown; country?: unknown };
  const known = country === "XX" ? null : textOf(country);
  return { city: textOf(city), country: known };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, CITY_MAX_LENGTH) : null;
}

/** "Lisbon, Portugal"; null if nothing is known. */
export function locationName(
  { city, country }: Location,
  language: Language = "en",
): string | null {
  const names = [city, country === null ? null : countryName(country, language)];
  return names.filter((name) => name !== null).join(", ") || null;
}

const TOR_NAMES: Readonly<Record<Language, string>> = { en: "the Tor network", de: "das Tor-Netz" };

function countryName(country: string, language: Language): string {
  if (country === "T1") return TOR_NAMES[language];
  try {
    return new Intl.DisplayNames([language], { type: "region" }).of(country) ?? country;
  } catch {
    return country;
  }
}

/** The first match counts. Many programs also name others that they are compatible with. */
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

/** The program and its system, such as "Firefox on Windows"; null if neither is known. */
export function programOf(user_agent: string): string | null {
  const named = (list: typeof PROGRAMS) => list.find(([sign]) => sign.test(user_agent))?.[1];
  const program = named(PROGRAMS);
  const system = named(SYSTEMS);
  if (program === undefined) return system ?? null;
  return system === undefined ? program : `${program} on ${system}`;
}
