/** `GET /account/tokens` lists the personal tokens; `POST /account/tokens/revoke` (form: `personal_token_id`). */
import * as z from "zod/mini";
import { PersonalTokensPage } from "./tokens_page.tsx";
import { accountOf, callerOf, factory } from "../../http/context.ts";
import { appNames } from "./apps.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";

export const showTokens = factory.createHandlers(async (context) => {
  const account = accountOf(context);
  const [answer, appName] = await Promise.all([
    account.listPersonalTokens(callerOf(context)),
    appNames(context),
  ]);
  if (!answer.ok) return refuseWithPage(context, answer.refusal);
  return context.html(<PersonalTokensPage tokens={answer.value} appName={appName} />);
});

const form = z.object({ personal_token_id: z.string("must be a string") });

/** A token that was already revoked is not an error. */
export const revokeFromPage = factory.createHandlers(validForm(form), async (context) => {
  const account = accountOf(context);
  const { personal_token_id: id } = context.req.valid("form");
  const answer = await account.revokePersonalToken(callerOf(context), { id });
  if (!answer.ok && answer.refusal.code !== "personal_token_not_found") {
    return refuseWithPage(context, answer.refusal);
  }
  return context.redirect("/account/tokens", 303);
});
