/** The language of a page: the one that a person chose in this browser, otherwise the one that the browser accepts. */
import { acceptedLanguage, isLanguage, type Language } from "../../domain/language.ts";
import { hostCookie, hostCookieName, readCookies } from "../../identity/cookies.ts";
import type { StartedSession } from "../../identity/port.ts";
import type { AppContext } from "../context.ts";
import { setCookies } from "./session_cookies.ts";

const COOKIE = "passbook_language";
const COOKIE_TTL_SECONDS = 31_536_000;

/** The end of a cookie that was taken at a sign-in. */
const TAKEN = "~";

/** The console is in English. */
export function languageOf(context: AppContext): Language {
  const { path } = context.req;
  if (path === "/console" || path.startsWith("/console/")) return "en";
  const accepted = context.req.header("Accept-Language") ?? "";
  return keptLanguage(context)?.language ?? acceptedLanguage(accepted);
}

/**
 * After a sign-in: a browser in which nobody chose a language takes the one of the person, and leaves the one of the person
 * before. A person who has none yet takes the one that was chosen in this browser.
 */
export async function takeLanguage(
  context: AppContext,
  { identity_id, language }: StartedSession,
): Promise<void> {
  const kept = keptLanguage(context);
  if (kept !== null && !kept.is_taken) {
    if (language !== null) return;
    // A failure must not end the sign-in. The next one tries again.
    const { identity } = context.get("services");
    await identity.chooseLanguage(identity_id, kept.language).catch(() => null);
  } else if (language !== null) {
    setLanguageCookie(context, `${language}${TAKEN}`, COOKIE_TTL_SECONDS);
  } else if (kept !== null) {
    setLanguageCookie(context, "", 0);
  }
}

/** The language that this browser keeps, and whether it was taken at a sign-in and not chosen here. */
function keptLanguage(
  context: AppContext,
): { readonly language: Language; readonly is_taken: boolean } | null {
  const name = hostCookieName(context.get("base_url"), COOKIE);
  for (const value of readCookies(context.req.raw, name)) {
    const is_taken = value.endsWith(TAKEN);
    const language = is_taken ? value.slice(0, -TAKEN.length) : value;
    if (isLanguage(language)) return { language, is_taken };
  }
  return null;
}

/** Keeps a choice in this browser. */
export function rememberLanguage(context: AppContext, language: Language): void {
  setLanguageCookie(context, language, COOKIE_TTL_SECONDS);
}

function setLanguageCookie(context: AppContext, value: string, max_age_seconds: number): void {
  const cookie = { name: COOKIE, value, max_age_seconds };
  setCookies(context, [hostCookie(context.get("base_url"), cookie, "Lax")]);
}
