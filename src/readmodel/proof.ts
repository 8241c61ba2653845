/** How far the schedule's comparison of all accounts has come, and the differences that it found. */
import { drizzle } from "drizzle-orm/d1";
import { comparison } from "./schema.ts";
import { ownedBy } from "./totals.ts";

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

const FOUND = `select identity_id, place, what, expected, found, found_at_ms
  from differences left join accounts on accounts.id = account_id
  order by found_at_ms desc, account_id, place, what limit ?1`;

/** A part of what all people own: by the accounts' rows, and by the daily totals. */
const sumsOf = (what: string, part: "all" | "bought", column: string): string =>
  `select '${what}' as what, (select coalesce(sum(${column}), 0) from accounts) as expected,
     (select coalesce(sum(${ownedBy(part)}), 0) from daily_totals) as found`;
/** The bought credits with a known price. */
const PRICED = `select 'liability' as what,
  (select coalesce(sum(value ->> '$[0]'), 0) from accounts, json_each(paid_json)) as expected,
  (select coalesce(sum(credits), 0) from daily_owed) as found`;
const TOTALS = `select * from (${sumsOf("daily_totals", "all", "credits + reserved")}
  union all ${sumsOf("daily_totals_bought", "bought", "bought")} union all ${PRICED}) where expected <> found`;

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
    async countAccounts(): Promise<number> {
      const row = await binding.prepare("select count(*) as accounts from accounts").first();
      return Number(row?.["accounts"] ?? 0);
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
     * What all people own by the accounts' rows, and by the daily totals, the bought part of both, and the part with a known price.
     * They change in the same batches. Reads every account's row, and every day's.
     */
    async compareTotals(): Promise<readonly NewDifference[]> {
      const { results } = await binding.prepare(TOTALS).all<Omit<NewDifference, "where">>();
      return results.map((sums) => ({ where: "read_model", ...sums }));
    },
  };
}

export type Proof = ReturnType<typeof createProof>;
