/** `GET /account/tokens` lists the personal tokens; `GET` and `POST /account/tokens/revoke` (`personal_token_id`). */
import * as z from "zod/mini";
import { PersonalTokensPage, RevokeTokenPage } from "./tokens_page.tsx";
import { accountOf, callerOf, factory } from "../../http/context.ts";
import { appNames } from "./apps.ts";
import { noticeText } from "../layout/messages.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";

export const showTokens = factory.createHandlers(async (context) => {
  const account = accountOf(context);
  const [read, appName] = await Promise.all([
    account.listAllowances(callerOf(context)),
    appNames(context),
  ]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const notice = noticeText(context.req.query("notice"));
  return context.html(<PersonalTokensPage tokens={read.value} appName={appName} notice={notice} />);
});

/** Asks before a token is revoked. */
export const confirmRevoke = factory.createHandlers(async (context) => {
  const [read, appName] = await Promise.all([
    accountOf(context).listAllowances(callerOf(context)),
    appNames(context),
  ]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const token = read.value.find(({ id }) => id === context.req.query("personal_token_id"));
  if (token === undefined) return context.redirect(REVOKED, 303);
  return context.html(<RevokeTokenPage token={token} appName={appName} />);
});

/** A token that is not listed any more has lost its access too. */
const REVOKED = "/account/tokens?notice=token_revoked";

const form = z.object({ personal_token_id: z.string("must be a string") });

/** A token that was already revoked is not an error. */
export const revokeFromPage = factory.createHandlers(validForm(form), async (context) => {
  const account = accountOf(context);
  const { personal_token_id: id } = context.req.valid("form");
  const revoked = await account.revokeAllowance(callerOf(context), { id });
  if (!revoked.ok && revoked.refusal.code !== "personal_token_not_found") {
    return refuseWithPage(context, revoked.refusal);
  }
  return context.redirect(REVOKED, 303);
});
