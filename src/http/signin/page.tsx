/** `GET /signin[?redirect_to=]`: the sign-in page; whoever is signed in goes straight back. */
import { SignInPage } from "../../pages/signin.tsx";
import { readNotice } from "../../pages/words.ts";
import { factory } from "../context.ts";
import { readRedirectTo } from "../redirect_to.ts";
import { refuseWithPage } from "../problem.tsx";
import { resumeSession } from "../rate_limits.ts";
import { choicesFor } from "./choices.ts";
import { sendElsewhere } from "../session_cookies.ts";
import { answerSignedIn } from "./signed_in.ts";

export const showSignIn = factory.createHandlers(async (context) => {
  const redirect_to = context.req.query("redirect_to");
  const target = await readRedirectTo(context, redirect_to);
  if (!target.ok) return refuseWithPage(context, target.refusal);
  const resumed = await resumeSession(context);
  switch (resumed.kind) {
    case "session":
      return answerSignedIn(context, resumed, target.value);
    case "redirect":
      return sendElsewhere(context, resumed);
    case "none": {
      const notice = readNotice(context.req.query("notice"));
      const choices = choicesFor(context, target.value);
      return context.html(<SignInPage state={{ kind: "choose", choices, notice }} />);
    }
  }
});
