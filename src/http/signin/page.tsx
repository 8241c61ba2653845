/** `GET /signin[?redirect_to=]`: the sign-in page; whoever is signed in goes straight back. */
import { SignInPage } from "../../pages/signin.tsx";
import { readNotice } from "../../pages/words.ts";
import { factory } from "../context.ts";
import { allowedRedirect } from "../origins.ts";
import { refuseWithPage } from "../problem.tsx";
import { resumeSession } from "../rate_limits.ts";
import { choicesFor } from "./choices.ts";
import { land, redirectTo } from "./land.ts";

export const showSignIn = factory.createHandlers(async (context) => {
  const redirect_to = context.req.query("redirect_to");
  const target = redirect_to === undefined ? null : await allowedRedirect(context, redirect_to);
  if (redirect_to !== undefined && target === null) {
    return refuseWithPage(context, { code: "redirect_not_allowed" });
  }
  const resumed = await resumeSession(context);
  switch (resumed.kind) {
    case "session":
      return land(context, resumed, target);
    case "redirect":
      return redirectTo(context, resumed);
    case "none": {
      const notice = readNotice(context.req.query("notice"));
      const choices = choicesFor(context, target);
      return context.html(<SignInPage state={{ kind: "choose", choices, notice }} />);
    }
  }
});
