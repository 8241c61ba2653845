/** `POST /signout` (form: `redirect_to`): ends this browser's session. */
import * as z from "zod";
import type { Session } from "../identity/port.ts";
import { factory, type AppContext } from "./context.ts";
import { acceptsHtml, refuseByAccept } from "./problem.tsx";
import { readRedirectTo } from "./redirect_to.ts";
import { forgetSignedIn } from "./session_cookies.ts";
import { validForm } from "./validation.ts";

/** Ends the personal access tokens that were to end with these sessions. */
export async function endWhatHangsOn(
  context: AppContext,
  sessions: readonly Session[],
): Promise<void> {
  const { accounts } = context.get("services");
  await Promise.all(sessions.map(({ id, identity_id }) => accounts(identity_id).endSessions([id])));
}

export const signOutForm = z.object({ redirect_to: z.string().optional() });

/** A page goes on to `redirect_to` or `/signin`; a program that reads no HTML gets `{ ok: true }`. */
export const signOut = factory.createHandlers(validForm(signOutForm), async (context) => {
  const { redirect_to } = context.req.valid("form");
  const target = await readRedirectTo(context, redirect_to);
  if (!target.ok) return refuseByAccept(context, target.refusal);
  const signed_out = await context.get("services").identity.signOut(context.req.raw);
  if (signed_out.kind === "signed_out") await endWhatHangsOn(context, signed_out.ended_sessions);
  forgetSignedIn(context, signed_out.set_cookies);
  if (signed_out.kind === "redirect") return context.redirect(signed_out.to, 303);
  if (target.value !== null) return context.redirect(target.value.href, 303);
  if (!acceptsHtml(context)) return context.json({ ok: true });
  return context.redirect("/signin?notice=signed_out", 303);
});
