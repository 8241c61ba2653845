/** The response to every successful sign-in: it sets cookies and redirects with a token. */
import { HOLDER } from "../../account/contract.ts";
import type { BrowserSession, Session } from "../../identity/port.ts";
import { accountCallerOf } from "../../http/caller/account_caller.ts";
import { finishAccountDeletion, isAccountDeleted } from "../../http/caller/deleted_account.ts";
import type { AppContext } from "../../http/context.ts";
import { refuseByAccept } from "../../http/refusal_page.ts";
import { originOf } from "../../domain/origins.ts";
import { setSessionCookies } from "../../http/caller/session_cookies.ts";

/** The refusal of a sign-in to a suspended or deleted account; null: the person may enter. */
export async function refuseEntry(
  context: AppContext,
  identity_id: string,
  redirect_to: URL | null,
): Promise<Response | null> {
  const admitted = await context.get("services").accounts(identity_id).checkCaller(HOLDER);
  if (admitted.ok) return null;
  // The account was deleted, but the identity not yet: the next sign-in creates a new identity.
  return isAccountDeleted(admitted.refusal)
    ? finishAccountDeletion(context, identity_id, redirect_to)
    : refuseByAccept(context, admitted.refusal);
}

/** The app of the target's origin that the person stopped; null: they stopped none, or it is one of our own pages. */
export async function stoppedAppOf(
  context: AppContext,
  { id: session_id, identity_id }: Session,
  target: URL,
): Promise<string | null> {
  const proof = { kind: "session", session_id, azp: originOf(target) } as const;
  const caller = await accountCallerOf(context, proof);
  if (caller.kind === "holder") return null;
  const admitted = await context.get("services").accounts(identity_id).checkCaller(caller);
  const is_stopped = !admitted.ok && admitted.refusal.code === "app_stopped";
  return is_stopped ? admitted.refusal.app_slug : null;
}

/** The sign-in page for an address. */
export function signInFor(context: AppContext, target: URL): string {
  const page = new URL("/signin", context.get("base_url"));
  page.searchParams.set("redirect_to", target.href);
  return page.href;
}

/**
 * Redirects to `redirect_to` (null: `/account`) with `token` in its query. Our own pages get no token: they
 * have the cookies, and the browser's history should not contain a credential. A suspended or deleted account
 * gets neither cookies nor a token, because other services would accept the token for 15 minutes. An app that the person
 * stopped gets no token either: the sign-in page asks the person first.
 */
export async function respondSignedIn(
  context: AppContext,
  signed_in: { readonly session: BrowserSession; readonly set_cookies: readonly string[] },
  redirect_to: URL | null,
): Promise<Response> {
  const base_url = context.get("base_url");
  const { session_tokens } = context.get("services");
  const { identity_id } = signed_in.session;
  const refused = await refuseEntry(context, identity_id, redirect_to);
  if (refused !== null) return refused;
  await setSessionCookies(context, signed_in.session, signed_in.set_cookies);
  const target = new URL(redirect_to ?? `${base_url}/account`);
  if ((await stoppedAppOf(context, signed_in.session, target)) !== null) {
    return context.redirect(signInFor(context, target), 303);
  }
  const azp = originOf(target);
  if (azp !== base_url) {
    const proof = { kind: "session", session_id: signed_in.session.id, azp } as const;
    const claims = { identity_id, proof, binding: null };
    target.searchParams.set("token", await session_tokens.sign(base_url, claims));
  }
  context.header("Referrer-Policy", "no-referrer");
  context.header("Cache-Control", "no-store");
  return context.redirect(target.href, 303);
}
