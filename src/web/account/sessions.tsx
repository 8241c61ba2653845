/** Forms that end sessions: `GET` and `POST /account/end-session`, and `POST /account/signout-everywhere`. */
import * as z from "zod/mini";
import { accountOf, callerOf, factory } from "../../http/context.ts";
import { clearSessionCookies } from "../../http/caller/session_cookies.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";
import { listBrowsers } from "../../http/allowances/access_list.ts";
import { languageOf } from "../../http/caller/page_language.ts";
import { EndSessionsPage } from "./browsers_section.tsx";

/** The most sessions that one form ends: as many as the page lists. */
const ENDED_SESSIONS_MAX = 50;

const ENDED = "/account/access?notice=session_ended";

const session_ids = z
  .array(z.string().check(z.maxLength(64, "is too long")))
  .check(z.maxLength(ENDED_SESSIONS_MAX, `has more than ${ENDED_SESSIONS_MAX} sessions`));

/** `GET /account/end-session?session_id=`: asks before these sessions end. */
export const confirmEndSession = factory.createHandlers(async (context) => {
  const wanted = context.req.queries("session_id") ?? [];
  const { identity } = context.get("services");
  const [listed, allowances] = await Promise.all([
    identity.listSessions(context.get("session").identity_id),
    accountOf(context).listAllowances(callerOf(context)),
  ]);
  if (!allowances.ok) return refuseWithPage(context, allowances.refusal);
  const found = listBrowsers(context, listed, languageOf(context)).filter(({ id }) =>
    wanted.includes(id),
  );
  if (found.length === 0) return context.redirect(ENDED, 303);
  const ids = new Set(found.map(({ id }) => id));
  const approved = allowances.value.filter(({ session_id, renewed_in = [] }) =>
    [session_id, ...renewed_in].some((id) => ids.has(id)),
  ).length;
  return context.html(<EndSessionsPage sessions={found} approved={approved} />);
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
  return context.redirect(ENDED, 303);
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
