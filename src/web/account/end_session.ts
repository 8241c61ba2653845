/**
 * `POST /account/end-session` (form: `session_id`, `personal_tokens=end`): ends another browser's session, and
 * the personal access tokens that it approved where the person asks for it.
 */
import * as z from "zod/mini";
import { factory } from "../../http/context.ts";
import { validForm } from "../../http/validation.ts";

const form = z.object({
  session_id: z.string("must be a string").check(z.maxLength(64, "is too long")),
  personal_tokens: z.optional(z.literal("end", "must be end")),
});

/** One that has ended already is what was wanted. */
export const endSession = factory.createHandlers(validForm(form), async (context) => {
  const { session_id, personal_tokens } = context.req.valid("form");
  const { accounts, identity } = context.get("services");
  const { identity_id } = context.get("session");
  // The session first: from then on no login that it approved gives a token any more.
  await identity.endSession(identity_id, session_id);
  if (personal_tokens === "end") {
    await accounts(identity_id).revokeApprovedBy({ kind: "session", session_id });
  }
  return context.redirect("/account?notice=session_ended", 303);
});
