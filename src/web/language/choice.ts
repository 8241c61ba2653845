/**
 * The language of a page, and `POST /language` (form: `language`), which changes it: in this browser, and for a signed-in
 * person also in browsers that they sign in with later.
 */
import * as z from "zod/mini";
import { acceptedLanguage, isLanguage, type Language } from "../../domain/language.ts";
import { hostCookie, hostCookieName, readCookies } from "../../identity/cookies.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { setCookies } from "../../http/caller/session_cookies.ts";
import { countRequest, resumeSession } from "../../http/middleware/rate_limits.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";

const COOKIE = "passbook_language";
const COOKIE_TTL_SECONDS = 31_536_000;

/** The language that a person chose in this browser; otherwise the one that the browser accepts. The console is English. */
export function languageOf(context: AppContext): Language {
  const { path } = context.req;
  if (path === "/console" || path.startsWith("/console/")) return "en";
  const accepted = context.req.header("Accept-Language") ?? "";
  return chosenLanguage(context) ?? acceptedLanguage(accepted);
}

const languageForm = z.object({ language: z.enum(["en", "de"], "must be en or de") });

export const chooseLanguage = factory.createHandlers(validForm(languageForm), async (context) => {
  const { language } = context.req.valid("form");
  const resumed = await resumeSession(context);
  if (resumed.kind === "session") {
    const { identity_id } = resumed.session;
    const limited = await countRequest(context, "writes", identity_id);
    if (limited !== null) return refuseWithPage(context, limited);
    setCookies(context, resumed.set_cookies);
    await context.get("services").identity.chooseLanguage(identity_id, language);
  }
  rememberLanguage(context, language);
  // Our pages name themselves to each other, and to nobody else: see `middleware/headers.ts`.
  const from = URL.parse(context.req.header("Referer") ?? "");
  return context.redirect(from?.origin === context.get("base_url") ? from.href : "/account", 303);
});

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
function rememberLanguage(context: AppContext, language: Language): void {
  const cookie = { name: COOKIE, value: language, max_age_seconds: COOKIE_TTL_SECONDS };
  setCookies(context, [hostCookie(context.get("base_url"), cookie, "Lax")]);
}
