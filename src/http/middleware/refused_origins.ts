/** Logs refused origins, with the setting that would allow them. Responses do not name the setting. */
import { originOf, parseAbsoluteUrl, parseAllowedOrigin } from "../../domain/origins.ts";
import type { Services } from "../services.ts";
import type { AppContext } from "../context.ts";

/** Different refused origins that an isolate logs in each window. */
const REFUSED_ORIGINS_LOGGED_MAX = 20;
const REFUSED_ORIGINS_WINDOW_MS = 60_000;

type OriginUse = "redirect_to" | "return_to" | "cors";

/** The origins logged in the current window, per isolate: an isolate has one configuration. */
const logged = new WeakMap<
  Services["config"],
  { readonly since_ms: number; readonly origins: Set<string> }
>();

/**
 * Logs the origin of `address` without path and query, which may contain secrets. Logs each origin once per window and a
 * limited number in all, since anyone can send any origin and log lines cost money.
 */
export function logRefusedOrigin(context: AppContext, use: OriginUse, address: string): void {
  const { config } = context.get("services");
  const now_ms = Date.now();
  const known = logged.get(config);
  const current =
    known !== undefined && now_ms - known.since_ms < REFUSED_ORIGINS_WINDOW_MS
      ? known
      : { since_ms: now_ms, origins: new Set<string>() };
  logged.set(config, current);
  const url = parseAbsoluteUrl(address);
  const origin = url === null ? null : originOf(url);
  const key = `${use} ${origin}`;
  if (current.origins.has(key) || current.origins.size >= REFUSED_ORIGINS_LOGGED_MAX) return;
  current.origins.add(key);
  console.warn({ event: "origin_refused", use, origin, ...remedy(origin) });
}

function remedy(origin: string | null): { readonly setting: string | null; readonly hint: string } {
  if (origin === null)
    return { setting: null, hint: "No setting can allow this: it is not a valid URL." };
  if (parseAllowedOrigin(origin) === null) {
    return {
      setting: null,
      hint: "No setting can allow this: only loopback hosts may use plain http.",
    };
  }
  const hint = `Add ${origin} to ALLOWED_ORIGINS, or to the origins of its registered app.`;
  return { setting: "ALLOWED_ORIGINS", hint };
}
