/** `POST /account/end-session` (form: `session_id`): ends another browser's session. */
import * as z from "zod/mini";
import { factory } from "../context.ts";
import { validForm } from "../validation.ts";

const form = z.object({
  session_id: z.string("must be a string").check(z.maxLength(64, "is too long")),
});

/** One that has ended already is what was wanted. */
export const endSession = factory.createHandlers(validForm(form), async (context) => {
  const { session_id } = context.req.valid("form");
  const { identity } = context.get("services");
  await identity.endSession(context.get("session").identity_id, session_id);
  return context.redirect("/account?notice=session_ended", 303);
});
