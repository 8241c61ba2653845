/** `GET /signin/{id}[?redirect_to=]`: leaves for a provider. Writes to no store. */
import { factory } from "../context.ts";
import { allowedRedirect } from "../origins.ts";
import { refuseWithPage } from "../problem.tsx";
import { redirectTo } from "./land.ts";

export const startSignIn = factory.createHandlers(async (context) => {
  const redirect_to = context.req.query("redirect_to");
  const target = redirect_to === undefined ? null : await allowedRedirect(context, redirect_to);
  if (redirect_to !== undefined && target === null) {
    return refuseWithPage(context, { code: "redirect_not_allowed" });
  }
  const started = await context.get("services").identity.startSignIn({
    way_id: context.req.param("id") ?? "",
    base_url: context.get("base_url"),
    redirect_to: target?.href ?? null,
    link_to: null,
  });
  return started.kind === "redirect"
    ? redirectTo(context, started)
    : refuseWithPage(context, { code: "not_found" });
});
