/** `GET /account`: the signed-in person's own page. */
import { DAY_MS } from "../../domain/calendar.ts";
import { programOf } from "../../domain/client_description.ts";
import type { ListedSession } from "../../identity/port.ts";
import { AccountPage } from "./overview_page.tsx";
import type { ShownSession } from "./sessions.tsx";
import { readNotice } from "../layout/words.ts";
import { callerOf, factory, type AppContext } from "../../http/context.ts";
import { locationName } from "../../domain/client_description.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { appNames } from "./app_names.ts";
import { shownJob } from "./shown_job.ts";

/** The days that the charts of the account page span. */
const OVERVIEW_DAYS = 30;

export const showAccount = factory.createHandlers(async (context) => {
  const { identity, accounts } = context.get("services");
  const { identity_id } = context.get("session");
  const account = accounts(identity_id);
  const to_ms = Date.now();
  const from_ms = to_ms - OVERVIEW_DAYS * DAY_MS;
  const [person, overview, tokens, sessions, appName] = await Promise.all([
    identity.readPerson(identity_id),
    account.readOverview(callerOf(context), { from_ms }),
    account.listPersonalTokens(callerOf(context)),
    identity.listSessions(identity_id),
    appNames(context),
  ]);
  if (!overview.ok) return refuseWithPage(context, overview.refusal);
  if (!tokens.ok) return refuseWithPage(context, tokens.refusal);
  if (person === null) return refuseWithPage(context, { code: "not_found" });
  const recent_jobs = overview.value.recent_jobs.map((job) => shownJob(job, appName));
  return context.html(
    <AccountPage
      person={person}
      overview={{ ...overview.value, recent_jobs, to_ms }}
      appName={appName}
      tokens={tokens.value}
      sessions={sessions.map((session) => ({
        ...shownSession(context, session),
        approved_tokens: tokens.value.filter(({ session_id }) => session_id === session.id).length,
      }))}
      methods={identity.sign_in_methods}
      packages={context.get("services").payments?.packages ?? []}
      notice={readNotice(context.req.query("notice"))}
    />,
  );
});

/** The browser that asks is known by its own word at least. */
function shownSession(
  context: AppContext,
  session: ListedSession,
): Omit<ShownSession, "approved_tokens"> {
  const current = session.id === context.get("session").id;
  const here = current ? programOf(context.req.header("User-Agent") ?? "") : null;
  const { id, created_at_ms, last_used_at_ms } = session;
  const browser = session.browser ?? here;
  return { id, created_at_ms, last_used_at_ms, browser, place: locationName(session), current };
}
