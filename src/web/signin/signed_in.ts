/** The end of every sign-in: cookies set, and the browser sent back with its token. */
import { HOLDER } from "../../account/contract.ts";
import type { SignedIn } from "../../identity/port.ts";
import { finishAccountDeletion, isAccountDeleted } from "../../http/caller/deleted_account.ts";
import type { AppContext } from "../../http/context.ts";
import { refuseByAccept } from "../../http/refusal_page.ts";
import { originOf } from "../../domain/origins.ts";
import { setSessionCookies } from "../../http/caller/session_cookies.ts";

/**
 * Answers 303 to `redirect_to` (null: `/account`) with `token` added to its query. The service's own
 * pages get no token: they have the cookies, and an address in the history should hold no credential.
 * Who is let in no more gets neither cookies nor token: other services would take one for a quarter of
 * an hour.
 */
export async function answerSignedIn(
  context: AppContext,
  signed_in: SignedIn,
  redirect_to: URL | null,
): Promise<Response> {
  const base_url = context.get("base_url");
  const { accounts, session_tokens } = context.get("services");
  const { identity_id } = signed_in.session;
  const admitted = await accounts(identity_id).checkCaller(HOLDER);
  if (!admitted.ok) {
    // Deleted between the two steps of that: the next sign-in makes somebody new.
    return isAccountDeleted(admitted.refusal)
      ? finishAccountDeletion(context, identity_id, redirect_to)
      : refuseByAccept(context, admitted.refusal);
  }
  await setSessionCookies(context, signed_in.session, signed_in.set_cookies);
  const target = new URL(redirect_to ?? `${base_url}/account`);
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
