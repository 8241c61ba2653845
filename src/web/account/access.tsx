/** `GET /account/access` lists what has access; `GET` and `POST /account/access/revoke` (`id`) ends an allowance. */
import * as z from "zod/mini";
import { readAccessList } from "../../http/allowances/access_list.ts";
import { accountOf, callerOf, factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";
import { languageOf } from "../../http/caller/page_language.ts";
import { appLooks } from "../layout/app_icon.tsx";
import { noticeText } from "../layout/messages.ts";
import { AccessPage, RevokePage } from "./access_page.tsx";
import { appNames } from "./apps.ts";

export const showAccess = factory.createHandlers(async (context) => {
  const [read, appLook] = await Promise.all([
    readAccessList(context, languageOf(context)),
    appLooks(context),
  ]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const notice = noticeText(context.req.query("notice"));
  const page = (
    <AccessPage access={read.value} appLook={appLook} now_ms={Date.now()} notice={notice} />
  );
  return context.html(page);
});

/** Asks before an allowance is revoked. */
export const confirmRevoke = factory.createHandlers(async (context) => {
  const [read, appName] = await Promise.all([
    accountOf(context).listAllowances(callerOf(context)),
    appNames(context),
  ]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const allowance = read.value.find(({ id }) => id === context.req.query("id"));
  if (allowance === undefined) return context.redirect(REVOKED, 303);
  const below = countBelow(read.value, allowance.id);
  const page = <RevokePage allowance={allowance} appName={appName} children_count={below} />;
  return context.html(page);
});

/** One that is not listed any more has lost its access too. */
const REVOKED = "/account/access?notice=revoked";

const form = z.object({ id: z.string("must be a string") });

/** One that was already revoked is not an error. */
export const revokeAllowance = factory.createHandlers(validForm(form), async (context) => {
  const { id } = context.req.valid("form");
  const revoked = await accountOf(context).revokeAllowance(callerOf(context), { id });
  if (!revoked.ok && revoked.refusal.code !== "personal_token_not_found") {
    return refuseWithPage(context, revoked.refusal);
  }
  return context.redirect(REVOKED, 303);
});

function countBelow(
  listed: readonly { readonly id: string; readonly parent_id: string | null }[],
  id: string,
): number {
  const children = listed.filter(({ parent_id }) => parent_id === id);
  return children.reduce((sum, child) => sum + 1 + countBelow(listed, child.id), 0);
}
