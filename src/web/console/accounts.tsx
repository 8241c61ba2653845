/** `GET /console/accounts[?q=&sort=&cursor=]`: accounts, found and sorted. */
import { AccountsPage, type ShownAccount } from "./accounts_page.tsx";
import { findAccounts, findAccountsQuery } from "../../http/api/admin/accounts/list.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { askedFor, cursorOf, ifReadable } from "./asked.ts";

/** The most people whom the console's search shows in addition to the listed accounts. */
const PEOPLE_FOUND_SHOWN_MAX = 50;

export const showAccounts = factory.createHandlers(async (context) => {
  const query = askedFor(context, findAccountsQuery);
  const { q = "", sort } = query;
  const found = await ifReadable(findAccounts(context, query));
  const listed = found?.accounts ?? [];
  const first = query.cursor === undefined;
  const rest = first && q !== "" ? await findPeople(context, q, listed) : [];
  const page = { q, sort, cursor: first ? null : cursorOf(context) };
  return context.html(
    <AccountsPage
      {...page}
      accounts={[...listed, ...rest]}
      next_cursor={found?.next_cursor}
      as_of={found?.as_of ?? null}
    />,
  );
});

/**
 * People whom the search names and the read model does not list: it is late or does not answer, or they
 * have signed in and met no app yet.
 */
async function findPeople(
  context: AppContext,
  q: string,
  listed: readonly ShownAccount[],
): Promise<readonly ShownAccount[]> {
  const { identity } = context.get("services");
  const known = new Set(listed.map(({ identity_id }) => identity_id));
  const named = [q, ...(await identity.findByEmail(q, PEOPLE_FOUND_SHOWN_MAX))];
  const people = await identity.readPeople(named.filter((id) => !known.has(id)));
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
