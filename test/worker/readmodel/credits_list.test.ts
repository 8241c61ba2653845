/** The order of all accounts by credits: a list that the schedule writes, with the time at which it did. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import {
  ACCOUNTS_LOOKED_AT,
  LISTED_MAX,
  walkAccounts,
} from "../../../src/readmodel/account_walk.ts";
import { ReadModel } from "../../../src/readmodel/queries.ts";

const ACCOUNTS = ACCOUNTS_LOOKED_AT + 100;

const search = { sort: "credits", order: "desc", limit: 3 } as const;

it("the accounts with the most and the least credits are listed as of the schedule's walk", async () => {
  await env.DB.exec(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${ACCOUNTS}) insert into accounts (id, identity_id, plan, created_at_ms, line, credits, reserved, updated_at_ms, due_at_ms) select printf('account %06d', i), i, 'free', 1, 1, i - 50, 0, 1, iif(i % 1000 = 0, 100 - i / 1000, null) from n`,
  );
  const model = new ReadModel(env.DB);
  expect((await model.findAccounts(search)).as_of_ms).toBeNull();
  const overdue = await walkAccounts(env.DB, 99, 1_234);
  expect(overdue.map(({ identity_id }) => identity_id)).toEqual(["4000", "3000", "2000"]);
  const first = await model.findAccounts(search);
  expect(first.as_of_ms).toBe(1_234);
  const most = ACCOUNTS - 50;
  expect(first.accounts.map(({ credits }) => credits)).toEqual([most, most - 1, most - 2]);
  await env.DB.exec("update accounts set credits = 0");
  const second = await model.findAccounts({ ...search, after: first.next ?? undefined });
  expect(second.accounts.map(({ credits }) => credits)).toEqual([most - 3, most - 4, most - 5]);
  const least = await model.findAccounts({ ...search, order: "asc" });
  expect(least.accounts.map(({ credits }) => credits)).toEqual([-49, -48, -47]);
  const all = await model.findAccounts({ ...search, limit: LISTED_MAX });
  expect([all.accounts.length, all.next]).toEqual([LISTED_MAX, null]);
  await walkAccounts(env.DB, 0, 5_678);
  expect((await model.findAccounts(search)).as_of_ms).toBe(5_678);
});
