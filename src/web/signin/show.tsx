/**
 * `GET /signin[?redirect_to=]`: the sign-in page. Whoever is signed in is asked before another origin gets
 * a token of theirs: a link alone must not hand one out, and they may want another account there.
 */
import { SignInPage } from "./signin_page.tsx";
import { readNotice } from "../layout/words.ts";
import type { BrowserSession } from "../../identity/port.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { readRedirectTo } from "../../http/redirect_to.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { resumeSession } from "../../http/middleware/rate_limits.ts";
import { askingFrom, choicesFor } from "./choices.ts";
import { answerSignedIn } from "./signed_in.ts";

export const showSignIn = factory.createHandlers(async (context) => {
  const redirect_to = context.req.query("redirect_to");
  const target = await readRedirectTo(context, redirect_to);
  if (!target.ok) return refuseWithPage(context, target.refusal);
  const resumed = await resumeSession(context);
  if (resumed.kind === "session") {
    const offer = target.value && (await offerToContinue(context, resumed.session, target.value));
    return offer ?? answerSignedIn(context, resumed, target.value);
  }
  const notice = readNotice(context.req.query("notice"));
  const choices = await choicesFor(context, target.value);
  return context.html(
    <SignInPage state={{ kind: "choose", choices, notice, refused_email: null }} />,
  );
});

/** Null where nobody is asking: one of our own pages, or a session of somebody who is no more. */
async function offerToContinue(
  context: AppContext,
  { identity_id }: BrowserSession,
  target: URL,
): Promise<Response | Promise<Response> | null> {
  const asking = await askingFrom(context, target);
  const person = await context.get("services").identity.readPerson(identity_id);
  if (asking === null || person === null) return null;
  const whose = { name: person.name, email: person.email };
  const redirect_to = target.href;
  const again = new URL("/signin", context.get("base_url"));
  again.searchParams.set("redirect_to", redirect_to);
  const state = { kind: "continue", asking, whose, redirect_to, again: again.href } as const;
  return context.html(<SignInPage state={state} />);
}
