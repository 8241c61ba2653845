/** `GET /signin[?redirect_to=]`: the sign-in page; whoever is signed in goes straight back. */
import { SignInPage } from "../../pages/signin.tsx";
import { readNotice } from "../../pages/words.ts";
import { factory } from "../context.ts";
import { readRedirect } from "../origins.ts";
import { refuseWithPage } from "../problem.tsx";
import { choicesFor } from "./choices.ts";
import { land, redirectTo } from "./land.ts";

export const showSignIn = factory.createHandlers(async (context) => {
  const redirect = await readRedirect(context, context.req.query("redirect_to"));
  if (!redirect.ok) return refuseWithPage(context, redirect.refusal);
  const resumed = await context.get("services").identity.resume(context.req.raw);
  switch (resumed.kind) {
    case "session":
      return land(context, resumed, redirect.value);
    case "redirect":
      return redirectTo(context, resumed);
    case "none": {
      const notice = readNotice(context.req.query("notice"));
      const choices = choicesFor(context, redirect.value);
      return context.html(<SignInPage state={{ kind: "choose", choices, notice }} />);
    }
  }
});
