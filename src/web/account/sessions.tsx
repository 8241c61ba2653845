/** Forms that end sessions: `GET` and `POST /account/end-session`, and `POST /account/signout-everywhere`. */
import * as z from "zod/mini";
import { factory } from "../../http/context.ts";
import { clearSessionCookies } from "../../http/caller/session_cookies.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";
import { readSessions } from "./session_items.ts";
import { EndSessionsPage } from "./sessions_section.tsx";

/** The most sessions that one form ends: as many as the account page lists. */
const ENDED_SESSIONS_MAX = 50;

const session_ids = z
  .array(z.string().check(z.maxLength(64, "is too long")))
  .check(z.maxLength(ENDED_SESSIONS_MAX, `has more than ${ENDED_SESSIONS_MAX} sessions`));

/** `GET /account/end-session?session_id=`: asks before these sessions end. */
export const confirmEndSession = factory.createHandlers(async (context) => {
  const wanted = context.req.queries("session_id") ?? [];
  const sessions = await readSessions(context);
  if (!sessions.ok) return refuseWithPage(context, sessions.refusal);
  const found = sessions.value.filter(({ id }) => wanted.includes(id));
  if (found.length === 0) return context.redirect("/account?notice=session_ended", 303);
  return context.html(<EndSessionsPage sessions={found} />);
});

/**
 * Ends other browsers' sessions and, with `personal_tokens=end`, the personal tokens that they approved. A session that
 * has already ended is not an error.
 */
export const endSession = factory.createHandlers(async (context) => {
  const form = await context.req.formData().catch(() => new FormData());
  const ids = session_ids.safeParse(form.getAll("session_id"));
  if (!ids.success) {
    return refuseWithPage(context, { code: "invalid_request", detail: "session_id is not valid" });
  }
  const { accounts, identity } = context.get("services");
  const { identity_id } = context.get("session");
  for (const session_id of ids.data) {
    // The session first: once it has ended, no device login that it approved can collect a token.
    await identity.endSession(identity_id, session_id);
    if (form.get("personal_tokens") === "end") {
      await accounts(identity_id).revokeApprovedBy({ kind: "session", session_id });
    }
  }
  return context.redirect("/account?notice=session_ended", 303);
});

const personal_tokens = z.optional(z.literal("end", "must be end"));

const signOutEverywhereForm = z.object({ personal_tokens });

/** Ends all sessions of the person and, with `personal_tokens=end`, all their personal tokens. */
export const signOutEverywhere = factory.createHandlers(
  validForm(signOutEverywhereForm),
  async (context) => {
    const { accounts, identity } = context.get("services");
    const { identity_id } = context.get("session");
    const with_tokens = context.req.valid("form").personal_tokens === "end";
    // Sessions first: once they have ended, no device login that they approved can collect a token.
    await identity.signOutEverywhere(identity_id);
    if (with_tokens) await accounts(identity_id).revokeAllAllowances();
    const signed_out = await identity.signOut(context.req.raw);
    clearSessionCookies(context, signed_out.set_cookies);
    const notice = with_tokens ? "signed_out_and_tokens_ended" : "signed_out_everywhere";
    return context.redirect(`/signin?notice=${notice}`, 303);
  },
);
