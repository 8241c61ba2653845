/** Origins that were refused, told to operators with what would allow them: in the log alone. */
import { originOf, parseAbsoluteUrl, parseAllowedOrigin } from "../../domain/origins.ts";
import type { Services } from "../services.ts";
import type { AppContext } from "../context.ts";

/** Different refused origins that an isolate logs in each window. */
const REFUSED_ORIGINS_LOGGED_MAX = 20;
const REFUSED_ORIGINS_WINDOW_MS = 60_000;

/** What an origin was refused for. */
export type OriginUse = "redirect_to" | "cors";

/** What was told of in the current window, for each isolate's services. */
const told = new WeakMap<Services, { readonly since_ms: number; readonly origins: Set<string> }>();

/**
 * Logs the origin of `address`, never its path or query, which may hold what is secret. Each once in a
 * while, and so many in all: strangers choose them, and lines of a log cost money.
 */
export function logRefusedOrigin(context: AppContext, use: OriginUse, address: string): void {
  const services = context.get("services");
  const now_ms = Date.now();
  const known = told.get(services);
  const current =
    known !== undefined && now_ms - known.since_ms < REFUSED_ORIGINS_WINDOW_MS
      ? known
      : { since_ms: now_ms, origins: new Set<string>() };
  told.set(services, current);
  const url = parseAbsoluteUrl(address);
  const origin = url === null ? null : originOf(url);
  const key = `${use} ${origin}`;
  if (current.origins.has(key) || current.origins.size >= REFUSED_ORIGINS_LOGGED_MAX) return;
  current.origins.add(key);
  console.warn({ event: "origin_refused", use, origin, ...remedy(origin) });
}

function remedy(origin: string | null): { readonly setting: string | null; readonly hint: string } {
  if (origin === null) return { setting: null, hint: "It is no address that could be allowed." };
  if (parseAllowedOrigin(origin) === null) {
    return { setting: null, hint: "Nothing allows it: plain http is for loopback hosts alone." };
  }
  const hint = `Add ${origin} to ALLOWED_ORIGINS, or to the origins of its registered app.`;
  return { setting: "ALLOWED_ORIGINS", hint };
}
