/** Requests with a credential of a deleted account. */
import type { Refusal } from "../../domain/refusals.ts";
import type { AppContext } from "../context.ts";
import { clearSessionCookies } from "./session_cookies.ts";

export function isAccountDeleted(refusal: Refusal): boolean {
  return "reason" in refusal && refusal.reason === "account_deleted";
}

/**
 * Finishes a deletion that was interrupted or is still running, and redirects to sign-in. `redirect_to` is the address
 * after sign-in; null means the account page.
 */
export async function finishAccountDeletion(
  context: AppContext,
  identity_id: string,
  redirect_to: URL | null,
): Promise<Response> {
  const { account_deletion, identity } = context.get("services");
  await account_deletion.finish(identity_id);
  const signed_out = await identity.signOut(context.req.raw);
  clearSessionCookies(context, signed_out.set_cookies);
  const signin = new URL("/signin?notice=account_deleted", context.get("base_url"));
  if (redirect_to !== null) signin.searchParams.set("redirect_to", redirect_to.href);
  return context.redirect(signin.href, 303);
}
