/** `GET /account`: the signed-in person's own page. */
import { programOf, locationName } from "../../domain/client_description.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import type { ListedSession } from "../../identity/port.ts";
import { AccountPage } from "./overview_page.tsx";
import type { SessionItem } from "./sessions_section.tsx";
import { noticeText } from "../layout/messages.ts";
import { callerOf, factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { appLooks } from "../layout/app_icon.tsx";

/** The days that the charts of the account page span. */
const OVERVIEW_DAYS = 30;

export const showAccount = factory.createHandlers(async (context) => {
  const { identity, accounts } = context.get("services");
  const { identity_id } = context.get("session");
  const account = accounts(identity_id);
  const to_ms = Date.now();
  const from_ms = to_ms - OVERVIEW_DAYS * DAY_MS;
  const [person, overview, tokens, sessions, appLook] = await Promise.all([
    identity.readPerson(identity_id),
    account.readOverview(callerOf(context), { from_ms }),
    account.listPersonalTokens(callerOf(context)),
    identity.listSessions(identity_id),
    appLooks(context),
  ]);
  if (!overview.ok) return refuseWithPage(context, overview.refusal);
  if (!tokens.ok) return refuseWithPage(context, tokens.refusal);
  if (person === null) return refuseWithPage(context, { code: "not_found" });
  return context.html(
    <AccountPage
      person={person}
      overview={{ ...overview.value, to_ms }}
      appLook={appLook}
      tokens={tokens.value}
      sessions={sessions.map((session) => ({
        ...sessionItem(context, session),
        approved_tokens: tokens.value.filter(({ session_id }) => session_id === session.id).length,
      }))}
      methods={identity.sign_in_methods}
      packages={context.get("services").payments?.packages ?? []}
      notice={noticeText(context.req.query("notice"))}
    />,
  );
});

/** The name of this request's browser is known from its own header, if it was not stored. */
function sessionItem(
  context: AppContext,
  session: ListedSession,
): Omit<SessionItem, "approved_tokens"> {
  const current = session.id === context.get("session").id;
  const this_browser = current ? programOf(context.req.header("User-Agent") ?? "") : null;
  const { id, created_at_ms, last_used_at_ms } = session;
  const browser = session.browser ?? this_browser;
  return { id, created_at_ms, last_used_at_ms, browser, location: locationName(session), current };
}
