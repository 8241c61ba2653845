/** `GET` and `POST /account/delete` (form: `confirmation`): the holder deletes their account. */
import * as z from "zod/mini";
import { DeletedPage, DeletePage, isConfirmed } from "./delete_page.tsx";
import { readOperatorRights } from "../../http/caller/operator.ts";
import { callerOf, factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { clearSessionCookies } from "../../http/caller/session_cookies.ts";
import { validOr, validForm } from "../../http/validation.ts";
import { finishAccountDeletion, isAccountDeleted } from "../../http/caller/deleted_account.ts";
import { errorName } from "../../domain/result.ts";

const form = z.object({ confirmation: validOr("", z.string().check(z.maxLength(100))) });

export const showDeletion = factory.createHandlers((context) => showForm(context, null));

export const deleteAccount = factory.createHandlers(validForm(form), async (context) => {
  const { confirmation } = context.req.valid("form");
  if (!isConfirmed(confirmation)) return showForm(context, confirmation);
  const { account_deletion } = context.get("services");
  const { identity_id } = context.get("session");
  const deleted = await account_deletion.deleteAccount(identity_id, "holder");
  if (!deleted.ok) {
    return isAccountDeleted(deleted.refusal)
      ? finishAccountDeletion(context, identity_id, null)
      : refuseWithPage(context, deleted.refusal);
  }
  clearSessionCookies(context, await signOut(context));
  return context.html(<DeletedPage />);
});

/** The cookies that sign out this browser. If they can't be made, the old cookies prove nothing: the account is gone. */
async function signOut(context: AppContext): Promise<readonly string[]> {
  try {
    return (await context.get("services").identity.signOut(context.req.raw)).set_cookies;
  } catch (error) {
    const reason = errorName(error);
    console.warn({ event: "deleted_session_cookie_left", reason });
    return [];
  }
}

/** `typed`: the wrong confirmation that was sent; null when the page is opened. */
async function showForm(context: AppContext, typed: string | null): Promise<Response> {
  const { accounts, identity, payments } = context.get("services");
  const { identity_id } = context.get("session");
  const account = accounts(identity_id);
  const [person, overview, tokens, owed, operator] = await Promise.all([
    identity.readPerson(identity_id),
    account.readOverview(callerOf(context), { from_ms: Date.now() }),
    account.listAllowances(callerOf(context)),
    account.readOwed(),
    readOperatorRights(context, identity_id),
  ]);
  if (!overview.ok) return refuseWithPage(context, overview.refusal);
  if (!tokens.ok) return refuseWithPage(context, tokens.refusal);
  const {
    account: { credits },
    held,
    open_jobs,
  } = overview.value;
  const lost = {
    credits,
    held,
    owed: owed.credits,
    open_jobs,
    tokens: tokens.value.length,
  };
  const page = (
    <DeletePage
      holder={person?.email ?? person?.name ?? null}
      lost={lost}
      sells={payments !== null}
      is_operator={operator !== null}
      typed={typed}
    />
  );
  return context.html(page, typed === null ? 200 : 400);
}
