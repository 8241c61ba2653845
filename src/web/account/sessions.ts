/** Forms that end sessions: `POST /account/end-session` and `POST /account/signout-everywhere`. */
import * as z from "zod/mini";
import { factory } from "../../http/context.ts";
import { clearSessionCookies } from "../../http/caller/session_cookies.ts";
import { validForm } from "../../http/validation.ts";

const personal_tokens = z.optional(z.literal("end", "must be end"));

const endSessionForm = z.object({
  session_id: z.string("must be a string").check(z.maxLength(64, "is too long")),
  personal_tokens,
});

/**
 * Ends another browser's session and, with `personal_tokens=end`, the personal tokens that it approved. A
 * session that has already ended is not an error.
 */
export const endSession = factory.createHandlers(validForm(endSessionForm), async (context) => {
  const { session_id, personal_tokens } = context.req.valid("form");
  const { accounts, identity } = context.get("services");
  const { identity_id } = context.get("session");
  // The session first: once it has ended, no device login that it approved can collect a token.
  await identity.endSession(identity_id, session_id);
  if (personal_tokens === "end") {
    await accounts(identity_id).revokeApprovedBy({ kind: "session", session_id });
  }
  return context.redirect("/account?notice=session_ended", 303);
});

const signOutEverywhereForm = z.object({ personal_tokens });

/** Ends all sessions of the person and, with `personal_tokens=end`, all their personal tokens. */
export const signOutEverywhere = factory.createHandlers(
  validForm(signOutEverywhereForm),
  async (context) => {
    const { accounts, identity } = context.get("services");
    const { identity_id } = context.get("session");
    const with_tokens = context.req.valid("form").personal_tokens === "end";
    // Sessions first: once they have ended, no device login that they approved can collect a token.
    await identity.signOutEverywhere(identity_id);
    if (with_tokens) await accounts(identity_id).revokeAllPersonalTokens();
    const signed_out = await identity.signOut(context.req.raw);
    clearSessionCookies(context, signed_out.set_cookies);
    const notice = with_tokens ? "signed_out_and_tokens_ended" : "signed_out_everywhere";
    return context.redirect(`/signin?notice=${notice}`, 303);
  },
);
