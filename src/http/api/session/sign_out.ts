/** `POST /signout` (form: `redirect_to`): ends this browser's session. */
import * as z from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { acceptsHtml, refuseByAccept } from "../../refusal_page.ts";
import { readRedirectTo } from "../../redirect_to.ts";
import { clearSessionCookies } from "../../caller/session_cookies.ts";

const signOutForm = z.object({ redirect_to: z.optional(z.string("must be a string")) });

/** Redirects a browser to `redirect_to` or `/signin`. A client that does not accept HTML gets `{ ok: true }`. */
export const signOut = endpoint(
  {
    at: "POST /signout",
    caller: "anyone",
    rate: "session_lookups",
    form: signOutForm,
    refusals: ["redirect_not_allowed"],
  },
  async (context, { body: { redirect_to } }) => {
    const target = await readRedirectTo(context, redirect_to);
    if (!target.ok) return refuseByAccept(context, target.refusal);
    const signed_out = await context.get("services").identity.signOut(context.req.raw);
    clearSessionCookies(context, signed_out.set_cookies);
    if (target.value !== null) return context.redirect(target.value.href, 303);
    if (!acceptsHtml(context)) return context.json({ ok: true });
    return context.redirect("/signin?notice=signed_out", 303);
  },
);
