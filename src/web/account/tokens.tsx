/** `GET /account/tokens` and `POST /account/tokens/revoke`: tokens for people to see and to end. */
import * as z from "zod/mini";
import { PersonalTokensPage, type PersonalTokenLine } from "./tokens_page.tsx";
import type { ListedPersonalToken } from "../../account/contract.ts";
import { accountOf, callerOf, factory } from "../../http/context.ts";
import { appNames } from "./app_names.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";

export const showTokens = factory.createHandlers(async (context) => {
  const account = accountOf(context);
  const [answer, appName] = await Promise.all([
    account.listPersonalTokens(callerOf(context)),
    appNames(context),
  ]);
  if (!answer.ok) return refuseWithPage(context, answer.refusal);
  return context.html(
    <PersonalTokensPage tokens={answer.value.map(personalTokenLine)} appName={appName} />,
  );
});

const form = z.object({ personal_token_id: z.string("must be a string") });

/** Ends a token; one that has ended already is what was wanted. */
export const revokeFromPage = factory.createHandlers(validForm(form), async (context) => {
  const account = accountOf(context);
  const { personal_token_id: id } = context.req.valid("form");
  const answer = await account.revokePersonalToken(callerOf(context), { id });
  if (!answer.ok && answer.refusal.code !== "personal_token_not_found") {
    return refuseWithPage(context, answer.refusal);
  }
  return context.redirect("/account/tokens", 303);
});

function personalTokenLine(token: ListedPersonalToken): PersonalTokenLine {
  const { id, label, limits, spent, created_at_ms, last_used_at_ms, expires_at_ms } = token;
  return {
    id,
    label,
    limits,
    spent,
    created_at: new Date(created_at_ms),
    last_used_at: last_used_at_ms === null ? null : new Date(last_used_at_ms),
    expires_at: new Date(expires_at_ms),
    ends_with_session: token.ends_with_session,
  };
}
