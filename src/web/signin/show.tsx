/**
 * `GET /signin[?redirect_to=]`: the sign-in page. A signed-in person must confirm before another origin gets
 * a token: a link by itself must not give one away, and the person may want to use another account. An OAuth client may
 * require that they sign in again.
 */
import { needsNewSignIn } from "../authorize/new_sign_in.ts";
import { SignInPage } from "./signin_page.tsx";
import { noticeText } from "../layout/messages.ts";
import type { BrowserSession } from "../../identity/port.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { readRedirectTo } from "../../http/redirect_to.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { resumeSession } from "../../http/middleware/rate_limits.ts";
import { choicesFor, requestingAppOf } from "./choices.ts";
import { respondSignedIn, signInFor, stoppedAppOf } from "./signed_in.ts";
import { showStoppedApp } from "./stopped_app.tsx";

export const showSignIn = factory.createHandlers(async (context) => {
  const redirect_to = context.req.query("redirect_to");
  const target = await readRedirectTo(context, redirect_to);
  if (!target.ok) return refuseWithPage(context, target.refusal);
  const again = needsNewSignIn(context, target.value);
  const resumed = again ? null : await resumeSession(context);
  if (resumed?.kind === "session") {
    const confirmation =
      target.value && (await confirmationPage(context, resumed.session, target.value));
    return confirmation ?? respondSignedIn(context, resumed, target.value);
  }
  const notice = noticeText(context.req.query("notice"));
  const choices = await choicesFor(context, target.value);
  return context.html(
    <SignInPage state={{ kind: "choose", choices, notice, again, refused_email: null }} />,
  );
});

/**
 * The confirmation page, or the one of an app that the person stopped; null for one of our own pages, or if the session's
 * person was deleted.
 */
async function confirmationPage(
  context: AppContext,
  session: BrowserSession,
  target: URL,
): Promise<Response | null> {
  const { identity_id } = session;
  const stopped = await stoppedAppOf(context, session, target);
  if (stopped !== null) {
    return showStoppedApp(context, { slug: stopped, back: signInFor(context, target) });
  }
  const requesting_app = await requestingAppOf(context, target);
  const person = await context.get("services").identity.readPerson(identity_id);
  if (requesting_app === null || person === null) return null;
  const state = {
    kind: "continue",
    requesting_app,
    person: { name: person.name, email: person.email },
    redirect_to: target.href,
    this_page: signInFor(context, target),
  } as const;
  return context.html(<SignInPage state={state} />);
}
