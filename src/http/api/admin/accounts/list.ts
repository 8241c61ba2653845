/** `GET /api/admin/accounts`: searches the read model by account id, identity or e-mail address. */
import * as z from "zod/mini";
import { ACCOUNT_SORTS } from "../../../../domain/wire.ts";
import { factory, type AppContext } from "../../../context.ts";
import { pageLimit, queryText, validQuery } from "../../../validation.ts";
import { timestamp } from "../../../views.ts";

/** The most people that a search by e-mail address returns; a longer text narrows the search. */
const PEOPLE_FOUND_MAX = 500;

export const findAccountsQuery = z.object({
  q: z.optional(queryText.check(z.trim(), z.maxLength(254, "must be at most 254 characters"))),
  sort: z._default(z.enum(ACCOUNT_SORTS, "must be created or credits"), "created"),
  limit: pageLimit,
  cursor: z.optional(
    z.pipe(
      queryText.check(z.regex(/^-?\d{1,16}_[0-9a-f-]{36}$/, "must be a next_cursor of this list")),
      z.transform((text) => {
        const [value = "", id = ""] = text.split("_");
        return { value: Number(value), id };
      }),
    ),
  ),
});

export type FindAccounts = z.output<typeof findAccountsQuery>;

/** A page of accounts with their holders' names and e-mail addresses. */
export async function findAccounts(context: AppContext, query: FindAccounts) {
  const { identity, read_model } = context.get("services");
  const { q = "", sort, limit, cursor: after } = query;
  const as_of = timestamp(Date.now());
  const only = q === "" ? undefined : await matching(context, q);
  const found = await read_model.findAccounts({ only, sort, after, limit: limit + 1 });
  const page = found.slice(0, limit);
  const people = await identity.readPeople(page.map(({ identity_id }) => identity_id));
  const last = found.length > limit ? page.at(-1) : undefined;
  return {
    accounts: page.map(({ id, identity_id, plan, credits, reserved, created_at_ms }) => {
      const { name = null, email = null } = people.get(identity_id) ?? {};
      const created_at = timestamp(created_at_ms);
      return { id, identity_id, name, email, plan, credits, reserved, created_at };
    }),
    ...(last === undefined
      ? {}
      : { next_cursor: `${sort === "created" ? last.created_at_ms : last.credits}_${last.id}` }),
    as_of,
  };
}

/** `q` may be an account id, an identity, or the beginning of an e-mail address. */
async function matching(context: AppContext, q: string) {
  const by_email = await context.get("services").identity.findByEmail(q, PEOPLE_FOUND_MAX);
  return { id: q.toLowerCase(), identity_ids: [q, ...by_email] };
}

export const listAccounts = factory.createHandlers(validQuery(findAccountsQuery), async (context) =>
  context.json(await findAccounts(context, context.req.valid("query"))),
);
