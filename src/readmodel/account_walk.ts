/**
 * The schedule's walk through all accounts, in portions: it finds the accounts whose jobs are overdue, and lists those with the
 * most and the least credits, whose order changes with each delivery.
 */
import type { SortOrder } from "../domain/wire.ts";
import { readPosition, savePosition } from "./positions.ts";

/** Accounts that one query looks at, which sorting reads twice, and portions of one run: 180,000 accounts. */
export const ACCOUNTS_LOOKED_AT = 4_500;
const PORTIONS = 40;

/** Overdue accounts that a walk remembers: those that are overdue for the longest time. */
const OVERDUE_MAX = 1_000;

/** Accounts of a list by credits. */
export const LISTED_MAX = 500;

/** An account whose earliest deadline has passed. */
interface OverdueAccount {
  readonly identity_id: string;
  readonly due_at_ms: number;
}

/** An account's id, and its credits when it was looked at. */
type Listed = readonly [id: string, credits: number];

interface Found {
  /** When the walk began, in milliseconds since the epoch. */
  readonly began_at_ms: number;
  readonly desc: readonly Listed[];
  readonly asc: readonly Listed[];
}

const PORTION = "from accounts where id > ?1 order by id";
const LOOKED_AT = `limit ${ACCOUNTS_LOOKED_AT}`;

/** No row: the portion is the last one. */
export const END_OF_ACCOUNTS = `select id ${PORTION} limit 1 offset ${ACCOUNTS_LOOKED_AT - 1}`;

const OVERDUE = `select identity_id, due_at_ms from (
    select id, identity_id, due_at_ms ${PORTION} ${LOOKED_AT})
  where due_at_ms < ?2 order by due_at_ms limit ${OVERDUE_MAX}`;

const byCredits = (order: string): string => `select id, credits from (
    select id, credits ${PORTION} ${LOOKED_AT}) order by ${order} limit ${LISTED_MAX}`;
const DESC = byCredits("credits desc, id");
const ASC = byCredits("credits, id desc");

const TASK = "accounts";

export const creditsListOf = (order: SortOrder): string => `credits ${order}`;

/**
 * Continues the walk, and starts it again after the last account. Returns the accounts of this run whose deadline was before
 * `before_ms`, the longest overdue first. @throws if D1 cannot be reached.
 */
export async function walkAccounts(
  database: D1Database,
  before_ms: number,
  now_ms: number,
): Promise<readonly OverdueAccount[]> {
  const position = await readPosition(database, TASK);
  let { after_id } = position;
  let found: Found =
    after_id === "" || typeof position.found_json !== "string"
      ? { began_at_ms: now_ms, desc: [], asc: [] }
      : (JSON.parse(position.found_json) as Found);
  let overdue: readonly OverdueAccount[] = [];
  for (let portions = 0; portions < PORTIONS; portions += 1) {
    const [end, due, desc, asc] = await database.batch<Row>([
      database.prepare(END_OF_ACCOUNTS).bind(after_id),
      database.prepare(OVERDUE).bind(after_id, before_ms),
      database.prepare(DESC).bind(after_id),
      database.prepare(ASC).bind(after_id),
    ]);
    overdue = [...overdue, ...(due?.results ?? [])]
      .toSorted((one, other) => one.due_at_ms - other.due_at_ms)
      .slice(0, OVERDUE_MAX);
    found = {
      ...found,
      desc: [...found.desc, ...listedOf(desc)].toSorted(mostFirst).slice(0, LISTED_MAX),
      asc: [...found.asc, ...listedOf(asc)]
        .toSorted((a, b) => mostFirst(b, a))
        .slice(0, LISTED_MAX),
    };
    after_id = end?.results[0]?.id ?? "";
    if (after_id === "") break;
  }
  const found_json = after_id === "" ? null : JSON.stringify(found);
  await savePosition(database, TASK, { after_id, found_json });
  if (after_id === "") await writeLists(database, found);
  return overdue;
}

interface Row extends OverdueAccount {
  readonly id: string;
  readonly credits: number;
}

const listedOf = (answer: D1Result<Row> | undefined): readonly Listed[] =>
  answer?.results.map(({ id, credits }) => [id, credits] as const) ?? [];

const mostFirst = (one: Listed, other: Listed): number =>
  other[1] - one[1] || (one[0] < other[0] ? -1 : 1);

async function writeLists(database: D1Database, found: Found): Promise<void> {
  const write = database.prepare("insert or replace into lists values (?1, ?2, ?2, ?3)");
  await database.batch(
    (["desc", "asc"] as const).map((order) =>
      write.bind(creditsListOf(order), found.began_at_ms, JSON.stringify(found[order])),
    ),
  );
}
