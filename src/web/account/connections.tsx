/** `GET /account/connections` lists the allowances; `GET` and `POST /account/connections/revoke` (`id`) ends one. */
import * as z from "zod/mini";
import { accountOf, callerOf, factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";
import { noticeText } from "../layout/messages.ts";
import { appNames } from "./apps.ts";
import { ConnectionsPage, RevokePage } from "./connections_page.tsx";

export const showConnections = factory.createHandlers(async (context) => {
  const [read, appName] = await Promise.all([listAllowances(context), appNames(context)]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const notice = noticeText(context.req.query("notice"));
  const page = <ConnectionsPage allowances={read.value} appName={appName} notice={notice} />;
  return context.html(page);
});

/** Asks before a connection is revoked. */
export const confirmRevoke = factory.createHandlers(async (context) => {
  const [read, appName] = await Promise.all([listAllowances(context), appNames(context)]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const allowance = read.value.find(({ id }) => id === context.req.query("id"));
  if (allowance === undefined) return context.redirect(REVOKED, 303);
  const below = countBelow(read.value, allowance.id);
  const page = <RevokePage allowance={allowance} appName={appName} children_count={below} />;
  return context.html(page);
});

/** One that is not listed any more has lost its access too. */
const REVOKED = "/account/connections?notice=token_revoked";

const form = z.object({ id: z.string("must be a string") });

/** A connection that was already revoked is not an error. */
export const revokeConnection = factory.createHandlers(validForm(form), async (context) => {
  const { id } = context.req.valid("form");
  const revoked = await accountOf(context).revokeAllowance(callerOf(context), { id });
  if (!revoked.ok && revoked.refusal.code !== "personal_token_not_found") {
    return refuseWithPage(context, revoked.refusal);
  }
  return context.redirect(REVOKED, 303);
});

/** The valid allowances of the person. */
function listAllowances(context: AppContext) {
  return accountOf(context).listAllowances(callerOf(context));
}

function countBelow(
  listed: readonly { readonly id: string; readonly parent_id: string | null }[],
  id: string,
): number {
  const children = listed.filter(({ parent_id }) => parent_id === id);
  return children.reduce((sum, child) => sum + 1 + countBelow(listed, child.id), 0);
}
