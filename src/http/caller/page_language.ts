/** The language of a page: the one that a person chose in this browser, otherwise the one that the browser accepts. */
import { acceptedLanguage, isLanguage, type Language } from "../../domain/language.ts";
import { hostCookie, hostCookieName, readCookies } from "../../identity/cookies.ts";
import type { AppContext } from "../context.ts";
import { setCookies } from "./session_cookies.ts";

const COOKIE = "passbook_language";
const COOKIE_TTL_SECONDS = 31_536_000;

/** The console is in English. */
export function languageOf(context: AppContext): Language {
  const { path } = context.req;
  if (path === "/console" || path.startsWith("/console/")) return "en";
  const accepted = context.req.header("Accept-Language") ?? "";
  return chosenLanguage(context) ?? acceptedLanguage(accepted);
}

/** After a sign-in: a browser in which nobody chose a language takes the one of the person. */
export async function takeLanguage(context: AppContext, identity_id: string): Promise<void> {
  if (chosenLanguage(context) !== null) return;
  const person = await context.get("services").identity.readPerson(identity_id);
  if (person?.language) rememberLanguage(context, person.language);
}

function chosenLanguage(context: AppContext): Language | null {
  const name = hostCookieName(context.get("base_url"), COOKIE);
  const [chosen = ""] = readCookies(context.req.raw, name);
  return isLanguage(chosen) ? chosen : null;
}

/** Keeps the language in this browser. */
export function rememberLanguage(context: AppContext, language: Language): void {
  const cookie = { name: COOKIE, value: language, max_age_seconds: COOKIE_TTL_SECONDS };
  setCookies(context, [hostCookie(context.get("base_url"), cookie, "Lax")]);
}
