/** `POST /signin/continue` (form: `redirect_to`): sends a signed-in person back to the app. */
import * as z from "zod/mini";
import { factory } from "../../http/context.ts";
import { refuseByAccept } from "../../http/refusal_page.ts";
import { resumeSession } from "../../http/middleware/rate_limits.ts";
import { readRedirectTo } from "../../http/redirect_to.ts";
import { validForm } from "../../http/validation.ts";
import { respondSignedIn } from "./signed_in.ts";

const continueForm = z.object({ redirect_to: z.string("must be a string") });

export const continueSignedIn = factory.createHandlers(validForm(continueForm), async (context) => {
  const { redirect_to } = context.req.valid("form");
  const target = await readRedirectTo(context, redirect_to);
  if (!target.ok) return refuseByAccept(context, target.refusal);
  const resumed = await resumeSession(context);
  return resumed.kind === "session"
    ? respondSignedIn(context, resumed, target.value)
    : context.redirect(`/signin?${new URLSearchParams({ redirect_to }).toString()}`, 303);
});
