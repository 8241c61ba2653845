/**
 * `GET /signin/{id}[?redirect_to=]`: redirects to a provider, and writes to no store. A provider may sign the
 * person in without asking, so a link from another site first leads to the sign-in page, which names the app.
 */
import { factory } from "../../http/context.ts";
import { isNavigationFromOwnPage } from "../../http/middleware/origins.ts";
import { readRedirectTo } from "../../http/redirect_to.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { redirectToProvider } from "../../http/caller/session_cookies.ts";
import { needsNewSignIn } from "../authorize/new_sign_in.ts";

export const startSignIn = factory.createHandlers(async (context) => {
  const redirect_to = context.req.query("redirect_to");
  const target = await readRedirectTo(context, redirect_to);
  if (!target.ok) return refuseWithPage(context, target.refusal);
  const is_for_app = target.value !== null && target.value.origin !== context.get("base_url");
  if (is_for_app && !isNavigationFromOwnPage(context)) {
    const query = new URLSearchParams({ redirect_to: target.value.href }).toString();
    return context.redirect(`/signin?${query}`, 303);
  }
  const started = await context.get("services").identity.startSignIn({
    method_id: context.req.param("id") ?? "",
    base_url: context.get("base_url"),
    redirect_to: target.value?.href ?? null,
    link_to: null,
    again: needsNewSignIn(context, target.value),
  });
  return started.kind === "redirect"
    ? redirectToProvider(context, started)
    : refuseWithPage(context, { code: "not_found" });
});
