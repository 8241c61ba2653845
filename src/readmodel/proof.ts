/** How far the schedule's comparison of all accounts has come, and the differences that it found. */
import { drizzle } from "drizzle-orm/d1";
import { END_OF_IDS } from "../domain/calendar.ts";
import { END_OF_ACCOUNTS } from "./account_walk.ts";
import { SUMS_BEFORE, sumsOf } from "./carried.ts";
import { comparison } from "./schema.ts";

/** A round over all accounts. */
type ComparisonRound = Omit<typeof comparison.$inferSelect, "singleton">;

/** A difference that was found. `identity_id`: null for one of the whole service. */
interface FoundDifference {
  readonly identity_id: string | null;
  readonly place: string;
  readonly what: string;
  readonly expected: number | null;
  readonly found: number | null;
  readonly found_at_ms: number;
}

type NewDifference = Pick<FoundDifference, "what" | "expected" | "found"> & {
  readonly where: string;
};

/** The account id of differences of the whole service. */
const WHOLE_SERVICE = "";

/** Differences that the list looks at. If there are more, something is wrong with all accounts, and any of them show it. */
const DIFFERENCES_LOOKED_AT = 3_000;

const FOUND = `select identity_id, place, what, expected, found, found_at_ms from (
    select * from (select * from differences limit ${DIFFERENCES_LOOKED_AT})
    order by found_at_ms desc, account_id, place, what limit ?1) as newest
  left join accounts on accounts.id = account_id
  order by found_at_ms desc, account_id, place, what`;

/** What a range of accounts has: after ?1, up to ?2. */
const RANGE = "from accounts where id > ?1 and id <= ?2";
const OF_RANGE = `select coalesce(sum(credits + reserved), 0) as daily_totals,
  coalesce(sum(bought), 0) as daily_totals_bought,
  coalesce(sum((select sum(value ->> '$[0]') from json_each(paid_json))), 0) as liability ${RANGE}`;

type Sums = Readonly<Record<"daily_totals" | "daily_totals_bought" | "liability", number>>;

export function createProof(binding: D1Database) {
  const database = drizzle(binding);
  return {
    /** Null: no round has begun. */
    async readRound(): Promise<ComparisonRound | null> {
      return (await database.select().from(comparison).get()) ?? null;
    },
    async writeRound(round: ComparisonRound): Promise<void> {
      await database
        .insert(comparison)
        .values({ ...round, singleton: 1 })
        .onConflictDoUpdate({ target: comparison.singleton, set: round });
    },
    /** Replaces what an earlier comparison of the account found. Null: of the whole service. */
    async save(account_id: string | null, found: readonly NewDifference[], at_ms: number) {
      const id = account_id ?? WHOLE_SERVICE;
      const insert = binding.prepare("insert into differences values (?1, ?2, ?3, ?4, ?5, ?6)");
      await binding.batch([
        binding.prepare("delete from differences where account_id = ?1").bind(id),
        ...found.map(({ where, what, expected, found: value }) =>
          insert.bind(id, where, what, expected, value, at_ms),
        ),
      ]);
    },
    /** The newest first. */
    async list(limit: number): Promise<readonly FoundDifference[]> {
      return (await binding.prepare(FOUND).bind(limit).all<FoundDifference>()).results;
    },
    /**
     * What all people own by the accounts' rows, and by the daily totals, the bought part of both, and the part with a known
     * price. They change in the same batches. Each query of one batch adds up a portion of the accounts, at one moment: a
     * million accounts take D1 about a second, once a day.
     */
    async compareTotals(): Promise<readonly NewDifference[]> {
      const ends = await portionEnds(binding);
      const [totals, ...portions] = await binding.batch([
        binding.prepare(SUMS_BEFORE).bind(Number.MAX_SAFE_INTEGER),
        ...["", ...ends].map((after, at) =>
          binding.prepare(OF_RANGE).bind(after, ends[at] ?? END_OF_IDS),
        ),
      ]);
      const { all, bought, owed } = sumsOf(totals);
      const liability = owed.reduce((sum, { credits }) => sum + credits, 0);
      const found: Sums = { daily_totals: all, daily_totals_bought: bought, liability };
      const rows = portions.flatMap(({ results }) => results as Sums[]);
      return (Object.keys(found) as (keyof Sums)[])
        .map((what) => {
          const expected = rows.reduce((sum, row) => sum + row[what], 0);
          return { where: "read_model", what, expected, found: found[what] };
        })
        .filter(({ expected, found: value }) => expected !== value);
    },
  };
}

/** The last account of each portion but the last one. */
async function portionEnds(database: D1Database): Promise<readonly string[]> {
  const ends: string[] = [];
  for (let after = ""; ;) {
    const end = await database.prepare(END_OF_ACCOUNTS).bind(after).first<string>("id");
    if (end === null) return ends;
    ends.push(end);
    after = end;
  }
}

export type Proof = ReturnType<typeof createProof>;
