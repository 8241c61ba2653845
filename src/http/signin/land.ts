/** The end of every sign-in: cookies set, and the browser sent back with its token. */
import type { SendElsewhere, SignedIn } from "../../identity/port.ts";
import { keepSignedIn, setCookies } from "../authenticate.ts";
import type { AppContext } from "../context.ts";

/**
 * Answers 303 to `redirect_to` (null: `/account`) with `token` added to its query. The service's own
 * pages get no token: they have the cookies, and an address in the history should hold no credential.
 */
export async function land(
  context: AppContext,
  signed_in: SignedIn,
  redirect_to: URL | null,
): Promise<Response> {
  const base_url = context.get("base_url");
  const token = await keepSignedIn(context, signed_in.session, signed_in.set_cookies);
  const target = new URL(redirect_to ?? `${base_url}/account`);
  if (target.origin !== base_url) target.searchParams.set("token", token);
  context.header("Referrer-Policy", "no-referrer");
  context.header("Cache-Control", "no-store");
  return context.redirect(target.href, 303);
}

/** Sends the browser on where an identity provider wants it. */
export function redirectTo(context: AppContext, elsewhere: SendElsewhere): Response {
  setCookies(context, elsewhere.set_cookies);
  context.header("Referrer-Policy", "no-referrer");
  return context.redirect(elsewhere.to, 303);
}
