/** `GET /signin/{id}[?redirect_to=]`: leaves for a provider. Writes to no store. */
import { factory } from "../context.ts";
import { readRedirect } from "../origins.ts";
import { refuseWithPage } from "../problem.tsx";
import { redirectTo } from "./land.ts";

export const startSignIn = factory.createHandlers(async (context) => {
  const redirect = await readRedirect(context, context.req.query("redirect_to"));
  if (!redirect.ok) return refuseWithPage(context, redirect.refusal);
  const started = await context.get("services").identity.startSignIn({
    way_id: context.req.param("id") ?? "",
    base_url: context.get("base_url"),
    redirect_to: redirect.value?.href ?? null,
    link_to: null,
  });
  return started.kind === "redirect"
    ? redirectTo(context, started)
    : refuseWithPage(context, { code: "not_found" });
});
