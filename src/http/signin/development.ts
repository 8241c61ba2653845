/** `POST /signin/dev`: signs in a local user by e-mail address. Only where `DEV_SIGNIN` is true. */
import * as z from "zod";
import { factory } from "../context.ts";
import { allowedRedirect } from "../origins.ts";
import { refuse } from "../refusals.ts";
import { validForm } from "../validation.ts";
import { land } from "./land.ts";

const form = z.object({
  email: z.email("must be an e-mail address").max(254),
  redirect_to: z.string().optional(),
});

export const signInDevelopment = factory.createHandlers(validForm(form), async (context) => {
  const { identity } = context.get("services");
  if (identity.signInDevelopment === null) return refuse(context, { code: "not_found" });
  const { email, redirect_to } = context.req.valid("form");
  const target = await allowedRedirect(context, redirect_to ?? `${context.get("base_url")}/signin`);
  if (target === null) return refuse(context, { code: "redirect_not_allowed" });
  return land(context, await identity.signInDevelopment(email), target);
});
