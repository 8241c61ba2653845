/**
 * `POST /language` (form: `language`): changes the language of pages in this browser, and for a signed-in person also in
 * browsers that they sign in with later.
 */
import * as z from "zod/mini";
import { LANGUAGE_TAGS } from "../../domain/language.ts";
import { rememberLanguage } from "../../http/caller/page_language.ts";
import { setCookies } from "../../http/caller/session_cookies.ts";
import { factory } from "../../http/context.ts";
import { countRequest, resumeSession } from "../../http/middleware/rate_limits.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";

const languageForm = z.object({
  language: z.enum(LANGUAGE_TAGS, `must be ${LANGUAGE_TAGS.join(" or ")}`),
});

export const chooseLanguage = factory.createHandlers(validForm(languageForm), async (context) => {
  const { language } = context.req.valid("form");
  rememberLanguage(context, language);
  const resumed = await resumeSession(context);
  if (resumed.kind === "session") {
    const { identity_id } = resumed.session;
    const limited = await countRequest(context, "writes", identity_id);
    if (limited !== null) return refuseWithPage(context, limited);
    setCookies(context, resumed.set_cookies);
    await context.get("services").identity.chooseLanguage(identity_id, language);
  }
  // Our pages name themselves to each other, and to nobody else: see `middleware/headers.ts`.
  const from = URL.parse(context.req.header("Referer") ?? "");
  return context.redirect(from?.origin === context.get("base_url") ? from.href : "/account", 303);
});
