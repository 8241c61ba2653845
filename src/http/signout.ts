/** `POST /signout` (form: `redirect_to`): ends this browser's session. */
import * as z from "zod";
import { forgetSignedIn } from "./authenticate.ts";
import type { Session } from "../identity/port.ts";
import { factory, type AppContext } from "./context.ts";
import { allowedRedirect } from "./origins.ts";
import { acceptsHtml, refuseByAccept } from "./problem.tsx";
import { validForm } from "./validation.ts";

/** Ends the personal access tokens that were to end with these sessions. */
export async function endWhatHangsOn(
  context: AppContext,
  sessions: readonly Session[],
): Promise<void> {
  const { accounts } = context.get("services");
  await Promise.all(sessions.map(({ id, identity_id }) => accounts(identity_id).endSessions([id])));
}

const form = z.object({ redirect_to: z.string().optional() });

/** A page goes on to `redirect_to` or `/signin`; a program that reads no HTML gets `{ ok: true }`. */
export const signOut = factory.createHandlers(validForm(form), async (context) => {
  const { redirect_to } = context.req.valid("form");
  const target = redirect_to === undefined ? null : await allowedRedirect(context, redirect_to);
  if (redirect_to !== undefined && target === null) {
    return refuseByAccept(context, { code: "redirect_not_allowed" });
  }
  const signed_out = await context.get("services").identity.signOut(context.req.raw);
  if (signed_out.kind === "signed_out") await endWhatHangsOn(context, signed_out.ended);
  forgetSignedIn(context, signed_out.set_cookies);
  if (signed_out.kind === "redirect") return context.redirect(signed_out.to, 303);
  if (target !== null) return context.redirect(target.href, 303);
  if (!acceptsHtml(context)) return context.json({ ok: true });
  return context.redirect("/signin?notice=signed_out", 303);
});
