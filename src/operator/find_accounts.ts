/** Searches the read model for accounts, by account id, identity or e-mail address. */
import * as z from "zod/mini";
import { ACCOUNTS_CONSIDERED_MAX } from "../domain/limits.ts";
import { MAIL_DOMAIN_PATTERN } from "../domain/starter_rule.ts";
import {
  ACCOUNT_SORTS,
  ACCOUNT_STATES,
  SORT_ORDERS,
  timestamp,
  type AccountState,
} from "../domain/wire.ts";
import { appSlug, pageLimit, queryText } from "../fields.ts";
import type { IdentityPort } from "../identity/port.ts";
import type { OperatorServices } from "./acting.ts";

/** The most people that a search by e-mail address returns; a longer text narrows the search. */
const PEOPLE_FOUND_MAX = 500;

/** A domain in a query, with or without the `@` before it. */
const emailDomain = z.pipe(
  queryText,
  z.pipe(
    z.transform((text: string) => text.trim().toLowerCase().replace(/^@/, "")),
    z.string().check(z.regex(MAIL_DOMAIN_PATTERN, "must be an e-mail domain, such as example.com")),
  ),
);

/** An RFC 3339 time, or a UTC day, as whose start it counts. */
const dayOrTime = z
  .pipe(
    queryText.check(
      z.regex(
        /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?$/,
        "must be a day such as 2026-11-21, or a time such as 2026-11-21T00:00:00Z",
      ),
    ),
    z.transform((text) => Date.parse(text)),
  )
  .check(z.refine(Number.isFinite, "must be a date and time that exist"));

export const findAccountsQuery = z.object({
  q: z.optional(queryText.check(z.trim(), z.maxLength(254, "must be at most 254 characters"))),
  sort: z._default(z.enum(ACCOUNT_SORTS, "must be created or credits"), "created"),
  order: z._default(z.enum(SORT_ORDERS, "must be desc or asc"), "desc"),
  state: z.optional(z.enum(ACCOUNT_STATES, "must be active or suspended")),
  app: z.optional(appSlug),
  domain: z.optional(emailDomain),
  created_from: z.optional(dayOrTime),
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

/** A page of accounts with their holders' names and e-mail addresses. */
export async function findAccounts(
  { identity, read_model }: OperatorServices,
  query: z.output<typeof findAccountsQuery>,
) {
  const { q = "", sort, order, state, app, domain, created_from, limit, cursor: after } = query;
  const now_ms = Date.now();
  const only = q === "" ? undefined : await matching(identity, q);
  const found = await read_model.findAccounts({
    only,
    state,
    app_slug: app,
    identity_ids:
      domain === undefined
        ? undefined
        : await identity.findByDomain(domain, ACCOUNTS_CONSIDERED_MAX),
    created_from_ms: created_from,
    sort,
    order,
    after,
    limit,
  });
  const page = found.accounts;
  const people = await identity.readPeople(page.map(({ identity_id }) => identity_id));
  return {
    accounts: page.map(({ id, identity_id, plan, credits, reserved: held, ...row }) => {
      const { name = null, email = null } = people.get(identity_id) ?? {};
      const state: AccountState = row.suspended_at_ms === null ? "active" : "suspended";
      const created_at = timestamp(row.created_at_ms);
      return { id, identity_id, name, email, plan, credits, held, state, created_at };
    }),
    ...(found.next === null ? {} : { next_cursor: `${found.next.value}_${found.next.id}` }),
    as_of: timestamp(found.as_of_ms ?? now_ms),
  };
}

/** `q` may be an account id, an identity, or the beginning of an e-mail address. */
async function matching(identity: IdentityPort, q: string) {
  const by_email = await identity.findByEmail(q, PEOPLE_FOUND_MAX);
  return { id: q.toLowerCase(), identity_ids: [q, ...by_email] };
}
