/** `POST /account/signout-everywhere`: ends every session of the person. */
import { factory } from "../context.ts";
import { forgetSignedIn, sendElsewhere } from "../session_cookies.ts";

export const signOutEverywhere = factory.createHandlers(async (context) => {
  const { identity } = context.get("services");
  await identity.signOutEverywhere(context.get("session").identity_id);
  const signed_out = await identity.signOut(context.req.raw);
  forgetSignedIn(context, signed_out.set_cookies);
  if (signed_out.kind === "redirect") return sendElsewhere(context, signed_out);
  return context.redirect("/signin?notice=signed_out_everywhere", 303);
});
