/** `POST /account/link` and `POST /account/unlink` (form: `provider`): sign-in methods of an account. */
import * as z from "zod/mini";
import { factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { redirectToProvider } from "../../http/caller/session_cookies.ts";
import { validForm } from "../../http/validation.ts";

const form = z.object({ provider: z.string("must be a string") });

/** Sends the browser to a provider, to link a further sign-in method to the same person. */
export const linkMethod = factory.createHandlers(validForm(form), async (context) => {
  const started = await context.get("services").identity.startSignIn({
    method_id: context.req.valid("form").provider,
    base_url: context.get("base_url"),
    redirect_to: null,
    link_to: context.get("session"),
    again: false,
  });
  return started.kind === "redirect"
    ? redirectToProvider(context, started)
    : refuseWithPage(context, { code: "not_found" });
});

/** Removes a sign-in method from the person, but never the last one. */
export const unlinkMethod = factory.createHandlers(validForm(form), async (context) => {
  const { provider } = context.req.valid("form");
  const unlinked = await context.get("services").identity.unlink(context.get("session"), provider);
  const notice = unlinked.kind === "unlinked" ? unlinked.kind : unlinked.reason;
  return context.redirect(`/account/security?notice=${notice}`, 303);
});
