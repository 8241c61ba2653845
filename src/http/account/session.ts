/** Pages for the signed-in person. */
import { keepSignedIn } from "../authenticate.ts";
import { factory } from "../context.ts";
import { redirectTo } from "../signin/land.ts";

/** Requires a living session, known by cookie alone; anyone else goes to `/signin`. */
export const requireSession = factory.createMiddleware(async (context, next) => {
  const resumed = await context.get("services").identity.resume(context.req.raw);
  if (resumed.kind === "none") return context.redirect("/signin", 303);
  if (resumed.kind === "redirect") return redirectTo(context, resumed);
  // Not on forms: one of them takes the cookies away.
  if (context.req.method === "GET") {
    await keepSignedIn(context, resumed.session, resumed.set_cookies);
  }
  context.set("session", resumed.session);
  return next();
});
