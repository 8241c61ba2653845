/**
 * `POST /signin/dev`: signs in a local user by e-mail address. Only if `DEV_SIGNIN` is true, and only for
 * requests to a loopback host, because another site's host name may point here (DNS rebinding).
 */
import * as z from "zod/mini";
import { factory, type AppContext } from "../../http/context.ts";
import { isFromForeignPage } from "../../http/middleware/origins.ts";
import { isLoopbackRequest } from "../../http/middleware/canonical_host.ts";
import { acceptsHtml, refuseByAccept } from "../../http/refusal_page.ts";
import { readRedirectTo } from "../../http/redirect_to.ts";
import { refuse } from "../../http/refusals.ts";
import { validForm } from "../../http/validation.ts";
import { returnToRequest } from "../authorize/new_sign_in.ts";
import { SignInPage } from "./signin_page.tsx";
import { choicesFor } from "./choices.ts";
import { takeLanguage } from "../../http/caller/page_language.ts";
import { respondSignedIn } from "./signed_in.ts";

const emailAddress = z.email().check(z.maxLength(254));

const signInDevelopmentForm = z.object({
  email: z.string("must be a string"),
  redirect_to: z.optional(z.string("must be a string")),
});

export const signInDevelopment = factory.createHandlers(
  validForm(signInDevelopmentForm),
  async (context) => {
    const { identity } = context.get("services");
    if (identity.signInDevelopment === null) return refuseByAccept(context, { code: "not_found" });
    if (!isLoopbackRequest(context)) return refuseByAccept(context, { code: "loopback_required" });
    if (await isFromForeignPage(context)) {
      return refuseByAccept(context, { code: "origin_not_allowed" });
    }
    const { email, redirect_to } = context.req.valid("form");
    const target = await readRedirectTo(context, redirect_to);
    if (!target.ok) return refuseByAccept(context, target.refusal);
    if (!emailAddress.safeParse(email).success) return showFormAgain(context, email, target.value);
    const signed_in = await identity.signInDevelopment(
      email,
      context.req.raw,
      context.get("base_url"),
    );
    const proven = await returnToRequest(context, signed_in.session, target.value);
    await takeLanguage(context, signed_in.session);
    return respondSignedIn(context, signed_in, proven);
  },
);

/** Shows the form again to a browser; a program gets the refusal. */
async function showFormAgain(
  context: AppContext,
  email: string,
  target: URL | null,
): Promise<Response> {
  if (!acceptsHtml(context)) {
    return refuse(context, { code: "invalid_request", detail: "email must be an e-mail address." });
  }
  const choices = await choicesFor(context, target);
  const state = {
    kind: "choose",
    choices,
    notice: null,
    again: false,
    refused_email: email,
  } as const;
  return context.html(<SignInPage state={state} />, 400);
}
