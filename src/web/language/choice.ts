/** The language of a page, and `POST /language` (form: `language`, `back_to`), which changes it. */
import * as z from "zod/mini";
import { acceptedLanguage, isLanguage, type Language } from "../../domain/language.ts";
import { hostCookie, hostCookieName, readCookies } from "../../identity/cookies.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { setCookies } from "../../http/caller/session_cookies.ts";
import { validForm } from "../../http/validation.ts";

const COOKIE = "passbook_language";
const COOKIE_TTL_SECONDS = 31_536_000;

/** The language that the person chose in this browser; otherwise the one that the browser accepts. The console is English. */
export function languageOf(context: AppContext): Language {
  const { path, raw } = context.req;
  if (path === "/console" || path.startsWith("/console/")) return "en";
  const [chosen = ""] = readCookies(raw, hostCookieName(context.get("base_url"), COOKIE));
  return isLanguage(chosen)
    ? chosen
    : acceptedLanguage(context.req.header("Accept-Language") ?? "");
}

const languageForm = z.object({
  language: z.enum(["en", "de"], "must be en or de"),
  back_to: z.string("must be a path of this service"),
});

export const chooseLanguage = factory.createHandlers(validForm(languageForm), async (context) => {
  const { language, back_to } = context.req.valid("form");
  rememberLanguage(context, language);
  const base_url = context.get("base_url");
  const target = URL.parse(back_to, base_url);
  return context.redirect(target?.origin === base_url ? target.href : "/account", 303);
});

/** Keeps the language in this browser. */
function rememberLanguage(context: AppContext, language: Language): void {
  const cookie = { name: COOKIE, value: language, max_age_seconds: COOKIE_TTL_SECONDS };
  setCookies(context, [hostCookie(context.get("base_url"), cookie, "Lax")]);
}
