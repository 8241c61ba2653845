/**
 * `POST /account/signout-everywhere` (form: `personal_tokens=end`): ends every session of the person,
 * what hangs on one, and their personal access tokens too where they ask for it.
 */
import * as z from "zod/mini";
import { factory } from "../../http/context.ts";
import { clearSessionCookies } from "../../http/caller/session_cookies.ts";
import { validForm } from "../../http/validation.ts";

const form = z.object({ personal_tokens: z.optional(z.literal("end", "must be end")) });

export const signOutEverywhere = factory.createHandlers(validForm(form), async (context) => {
  const { accounts, identity } = context.get("services");
  const { identity_id } = context.get("session");
  const too = context.req.valid("form").personal_tokens === "end";
  // Sessions first: from then on no login that they approved gives a token any more.
  await identity.signOutEverywhere(identity_id);
  if (too) await accounts(identity_id).revokeAllPersonalTokens();
  const signed_out = await identity.signOut(context.req.raw);
  clearSessionCookies(context, signed_out.set_cookies);
  const notice = too ? "signed_out_and_tokens_ended" : "signed_out_everywhere";
  return context.redirect(`/signin?notice=${notice}`, 303);
});
