/** The sessions of the signed-in person, as pages show them. */
import type { Answer, ListedAllowance } from "../../account/contract.ts";
import { locationName, programOf } from "../../domain/client_description.ts";
import { accepted } from "../../domain/result.ts";
import { accountOf, callerOf, type AppContext } from "../../http/context.ts";
import type { ListedSession } from "../../identity/port.ts";
import type { SessionItem } from "./session_groups.ts";

/** The listed sessions with their numbers of tokens. */
export async function readSessions(context: AppContext): Promise<Answer<readonly SessionItem[]>> {
  const { identity } = context.get("services");
  const [listed, tokens] = await Promise.all([
    identity.listSessions(context.get("session").identity_id),
    accountOf(context).listAllowances(callerOf(context)),
  ]);
  return tokens.ok ? accepted(sessionItems(context, listed, tokens.value)) : tokens;
}

/** The name of this request's browser is known from its own header, if it was not stored. */
export function sessionItems(
  context: AppContext,
  sessions: readonly ListedSession[],
  tokens: readonly ListedAllowance[],
): readonly SessionItem[] {
  const current_id = context.get("session").id;
  return sessions.map(({ city, country, ...session }) => {
    const current = session.id === current_id;
    const this_browser = current ? programOf(context.req.header("User-Agent") ?? "") : null;
    return {
      ...session,
      browser: session.browser ?? this_browser,
      location: locationName({ city, country }),
      current,
      approved_tokens: tokens.filter(({ session_id }) => session_id === session.id).length,
    };
  });
}
