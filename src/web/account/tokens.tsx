/** `GET /account/tokens` lists the personal tokens; `POST /account/tokens/revoke` (form: `personal_token_id`). */
import * as z from "zod/mini";
import { PersonalTokensPage } from "./tokens_page.tsx";
import { accountOf, callerOf, factory } from "../../http/context.ts";
import { appNames } from "./apps.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";

export const showTokens = factory.createHandlers(async (context) => {
  const account = accountOf(context);
  const [read, appName] = await Promise.all([
    account.listPersonalTokens(callerOf(context)),
    appNames(context),
  ]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  return context.html(<PersonalTokensPage tokens={read.value} appName={appName} />);
});

const form = z.object({ personal_token_id: z.string("must be a string") });

/** A token that was already revoked is not an error. */
export const revokeFromPage = factory.createHandlers(validForm(form), async (context) => {
  const account = accountOf(context);
  const { personal_token_id: id } = context.req.valid("form");
  const revoked = await account.revokePersonalToken(callerOf(context), { id });
  if (!revoked.ok && revoked.refusal.code !== "personal_token_not_found") {
    return refuseWithPage(context, revoked.refusal);
  }
  return context.redirect("/account/tokens", 303);
});
