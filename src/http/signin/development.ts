/**
 * `POST /signin/dev`: signs in a local user by e-mail address. Only where `DEV_SIGNIN` is true,
 * and for requests to a loopback host: a name of a stranger's may point here (DNS rebinding).
 */
import * as z from "zod/mini";
import { factory } from "../context.ts";
import { isFromForeignPage } from "../origins.ts";
import { isSentToLoopback } from "../own_address.ts";
import { refuseByAccept } from "../problem.tsx";
import { readRedirectTo } from "../redirect_to.ts";
import { validForm } from "../validation.ts";
import { answerSignedIn } from "./signed_in.ts";

export const signInDevelopmentForm = z.object({
  email: z.email("must be an e-mail address").check(z.maxLength(254)),
  redirect_to: z.optional(z.string("must be a string")),
});

export const signInDevelopment = factory.createHandlers(
  validForm(signInDevelopmentForm),
  async (context) => {
    const { identity } = context.get("services");
    if (identity.signInDevelopment === null) return refuseByAccept(context, { code: "not_found" });
    if (!isSentToLoopback(context)) return refuseByAccept(context, { code: "loopback_required" });
    if (await isFromForeignPage(context)) {
      return refuseByAccept(context, { code: "origin_not_allowed" });
    }
    const { email, redirect_to } = context.req.valid("form");
    const target = await readRedirectTo(context, redirect_to);
    if (!target.ok) return refuseByAccept(context, target.refusal);
    const session = await identity.signInDevelopment(
      email,
      context.req.raw,
      context.get("base_url"),
    );
    return answerSignedIn(context, session, target.value);
  },
);
