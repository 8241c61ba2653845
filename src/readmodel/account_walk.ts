/**
 * The schedule's walk through all accounts, in portions: it finds the accounts whose jobs are overdue.
 */
import { readPosition, savePosition } from "./positions.ts";

/** Accounts that one query looks at, and portions of one run: 360,000 accounts. */
const ACCOUNTS_LOOKED_AT = 9_000;
const PORTIONS = 40;

/** Overdue accounts that a walk remembers: those that are overdue for the longest time. */
const OVERDUE_MAX = 1_000;

/** An account whose earliest deadline has passed. */
interface OverdueAccount {
  readonly identity_id: string;
  readonly due_at_ms: number;
}

const PORTION = `from accounts where id > ?1 order by id limit ${ACCOUNTS_LOOKED_AT}`;

/** Null: the portion is the last one. */
const END_OF_PORTION = `select id ${PORTION.replace(/limit .*/, "")} limit 1 offset ${ACCOUNTS_LOOKED_AT - 1}`;

const OVERDUE = `select identity_id, due_at_ms from (select id, identity_id, due_at_ms ${PORTION})
  where due_at_ms < ?2 order by due_at_ms limit ${OVERDUE_MAX}`;

const TASK = "accounts";

/**
 * Continues the walk, and starts it again after the last account. Returns the accounts of this run whose deadline was before
 * `before_ms`, the longest overdue first. @throws if D1 cannot be reached.
 */
export async function walkAccounts(
  database: D1Database,
  before_ms: number,
): Promise<readonly OverdueAccount[]> {
  let { after_id } = await readPosition(database, TASK);
  const began_after_id = after_id;
  let overdue: readonly OverdueAccount[] = [];
  for (let portions = 0; portions < PORTIONS; portions += 1) {
    const [end, found] = await database.batch([
      database.prepare(END_OF_PORTION).bind(after_id),
      database.prepare(OVERDUE).bind(after_id, before_ms),
    ]);
    overdue = [...overdue, ...((found?.results ?? []) as readonly OverdueAccount[])]
      .toSorted((one, other) => one.due_at_ms - other.due_at_ms)
      .slice(0, OVERDUE_MAX);
    const [last] = (end?.results ?? []) as readonly { readonly id: string }[];
    after_id = last?.id ?? "";
    if (after_id === "") break;
  }
  if (after_id !== began_after_id) await savePosition(database, TASK, { after_id });
  return overdue;
}
