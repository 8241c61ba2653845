/** `POST /signin/dev`: signs in a local user by e-mail address. Only where `DEV_SIGNIN` is true. */
import * as z from "zod";
import { factory } from "../context.ts";
import { allowedRedirect, isFromForeignPage } from "../origins.ts";
import { refuseByAccept } from "../problem.tsx";
import { validForm } from "../validation.ts";
import { land } from "./land.ts";

export const signInDevelopmentForm = z.object({
  email: z.email("must be an e-mail address").max(254),
  redirect_to: z.string().optional(),
});

export const signInDevelopment = factory.createHandlers(
  validForm(signInDevelopmentForm),
  async (context) => {
    const { identity } = context.get("services");
    if (identity.signInDevelopment === null) return refuseByAccept(context, { code: "not_found" });
    if (await isFromForeignPage(context)) {
      return refuseByAccept(context, { code: "origin_not_allowed" });
    }
    const { email, redirect_to } = context.req.valid("form");
    const target = redirect_to === undefined ? null : await allowedRedirect(context, redirect_to);
    if (redirect_to !== undefined && target === null) {
      return refuseByAccept(context, { code: "redirect_not_allowed" });
    }
    return land(context, await identity.signInDevelopment(email), target);
  },
);
