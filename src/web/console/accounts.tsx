/** `GET /console/accounts[?q=&sort=&order=&cursor=]`: searches and sorts accounts. */
import { AccountsPage, type AccountItem } from "./accounts_page.tsx";
import { findAccounts, findAccountsQuery } from "../../http/api/admin/accounts/list.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { consoleNoticeText, SELECTION_PROBLEMS } from "./labels.ts";
import { appFilter, readQuery, cursorOf, nullIfUnreadable } from "./queries.ts";

/** The most people whom the console's search shows in addition to the listed accounts. */
const PEOPLE_FOUND_SHOWN_MAX = 50;

export const showAccounts = factory.createHandlers(async (context) => {
  const query = readQuery(context, findAccountsQuery);
  const { q = "", sort, order, state, app, domain } = query;
  // As it was typed, since the query has it in milliseconds.
  const created_from =
    query.created_from === undefined ? undefined : context.req.query("created_from");
  const found = await nullIfUnreadable(findAccounts(context, query));
  const listed = found?.accounts ?? [];
  const is_first_page = query.cursor === undefined;
  const is_unfiltered = [state, app, domain, created_from].every((filter) => filter === undefined);
  const unlisted =
    is_first_page && q !== "" && is_unfiltered ? await findPeople(context, q, listed) : [];
  const page = { q, sort, order, cursor: is_first_page ? null : cursorOf(context) };
  const selection = context.req.query("selection") ?? "";
  return context.html(
    <AccountsPage
      {...page}
      filters={{ state, app, domain, created_from }}
      app_options={(await appFilter(context, app)).app_options}
      accounts={[...listed, ...unlisted]}
      next_cursor={found?.next_cursor}
      as_of={found?.as_of ?? null}
      notice={consoleNoticeText(context.req.query("notice"))}
      problem={Object.hasOwn(SELECTION_PROBLEMS, selection) ? SELECTION_PROBLEMS[selection] : null}
    />,
  );
});

/**
 * People who match the search but are not in the read model: it is behind or not responding, or they have
 * signed in but have not used an app yet.
 */
async function findPeople(
  context: AppContext,
  q: string,
  listed: readonly AccountItem[],
): Promise<readonly AccountItem[]> {
  const { identity } = context.get("services");
  const known = new Set(listed.map(({ identity_id }) => identity_id));
  const found = [q, ...(await identity.findByEmail(q, PEOPLE_FOUND_SHOWN_MAX))];
  const people = await identity.readPeople(found.filter((id) => !known.has(id)));
  return [...people].map(([identity_id, { name, email }]) => ({
    identity_id,
    name,
    email,
    plan: null,
    credits: null,
    reserved: null,
    created_at: null,
  }));
}
