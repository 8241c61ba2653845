/**
 * Kept answers in rows, written in the transaction of their request. They lie in two tables, those of now
 * and those of before. Once all of before are out of reach, their table is dropped and the other takes its
 * place: keeping an answer costs one written row, and forgetting it none.
 */
import { and, desc, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import {
  IDEMPOTENCY_CLEANUP_ROWS,
  IDEMPOTENCY_DROP_LINES,
  IDEMPOTENCY_KEEP_MS,
  IDEMPOTENCY_REACH_MS,
  IDEMPOTENCY_TABLE_LINES,
} from "../../domain/limits.ts";
import { atMost, matches, values } from "../parameters.ts";
import { account, keptAnswers, keptAnswersBefore } from "../schema.ts";
import { statement, type AccountDatabase } from "../statement.ts";
import type { Transaction } from "../transaction.ts";
import type { Keeper } from "./once.ts";

/** How an answer is kept, where not as it is, whole and always. */
export interface KeptForm<Value> {
  /** Whether it changed anything: only then is it kept. */
  isKept(answer: Value): boolean;
  /** What is stored of it, as JSON. */
  keep(answer: Value): unknown;
  recall(kept: unknown, transaction: Transaction): Value;
}

/** Kept whole and always, as it is. */
export const WHOLE: KeptForm<never> = {
  isKept: () => true,
  keep: (answer) => answer,
  recall: (kept) => kept as never,
};

/** Keeps each answer in a row of its own. */
export function inRows<Value>(kept_answers: KeptAnswers, form: KeptForm<Value>): Keeper<Value> {
  return {
    find({ place, key }, transaction) {
      const kept = kept_answers.read(place, key, transaction.now_ms);
      if (kept === null) return null;
      return { ...kept, recall: () => form.recall(JSON.parse(kept.answer_json), transaction) };
    },
    keep({ place, key, fingerprint, personal_token_id }, answer, transaction) {
      if (!form.isKept(answer)) return;
      const answer_json = JSON.stringify(form.keep(answer));
      const asked = { endpoint: place, key, fingerprint, personal_token_id };
      kept_answers.insert(
        { ...asked, answer_json, created_at_ms: transaction.now_ms },
        transaction,
      );
    },
  };
}

const by_key = statement((database) => {
  const readFrom = (table: typeof keptAnswers) =>
    database
      .select()
      .from(table)
      .where(and(matches(table.endpoint), matches(table.key)));
  return unionAll(readFrom(keptAnswers), readFrom(keptAnswersBefore))
    .orderBy(desc(keptAnswers.created_at_ms))
    .limit(atMost(1));
});
const insert = statement((database) => {
  const set = values("fingerprint", "personal_token_id", "answer_json", "created_at_ms");
  return (
    database
      .insert(keptAnswers)
      .values({ ...values("endpoint", "key"), ...set })
      // One that is out of reach.
      .onConflictDoUpdate({ target: [keptAnswers.endpoint, keptAnswers.key], set })
  );
});
const standing = statement((database) =>
  database
    .select({
      since_ms: account.kept_since_ms,
      since_line: account.kept_since_line,
      before_lines: account.kept_before_lines,
    })
    .from(account),
);

/** What every guarded request runs, over a migrated database. */
export function openKeptAnswers(database: AccountDatabase) {
  /** Begins a new table where all in the one of before is out of reach, and the present one is not small. */
  function beginTable(line: number, now_ms: number): void {
    const { since_ms, since_line, before_lines } = standing(database).get() ?? NOT_OPEN;
    const lines = line - since_line;
    if (now_ms - since_ms < IDEMPOTENCY_REACH_MS || lines < IDEMPOTENCY_TABLE_LINES) return;
    if (before_lines > IDEMPOTENCY_DROP_LINES) return;
    for (const statement of NEW_TABLE) database.run(statement);
    const changed = { kept_since_ms: now_ms, kept_since_line: line, kept_before_lines: lines };
    database.update(account).set(changed).run();
  }

  return {
    read(endpoint: string, key: string, now_ms: number): KeptRow | null {
      const kept = by_key(database).get({ endpoint, key });
      return kept !== undefined && kept.created_at_ms > now_ms - IDEMPOTENCY_KEEP_MS ? kept : null;
    },
    /** Keeps an answer, inside its transaction; it may have been given before that. */
    insert(row: KeptRow, { store, now_ms }: Transaction): void {
      beginTable(store.readNewestEntry()?.line ?? 0, now_ms);
      insert(database).run(row);
    },
    /**
     * Empties a table of before that is too large to be dropped, a portion of it, once all in it is out
     * of reach.
     * @returns when to call again, in milliseconds since the epoch; null where there is none.
     */
    cleanUp(now_ms: number): number | null {
      const { since_ms, before_lines } = standing(database).get() ?? NOT_OPEN;
      if (before_lines <= IDEMPOTENCY_DROP_LINES) return null;
      const due_ms = since_ms + IDEMPOTENCY_REACH_MS;
      if (now_ms < due_ms) return due_ms;
      database.run(DELETE_PORTION);
      if (database.select().from(keptAnswersBefore).limit(1).get() !== undefined) return now_ms;
      database.update(account).set({ kept_before_lines: 0 }).run();
      return null;
    },
  };
}

const NOT_OPEN = { since_ms: 0, since_line: 0, before_lines: 0 };

const DELETE_PORTION = sql`delete from kept_answers_before where (endpoint, key) in (
  select endpoint, key from kept_answers_before limit ${IDEMPOTENCY_CLEANUP_ROWS})`;

/** In the words of the last migration of the table; a test holds the two together. */
const NEW_TABLE = [
  "DROP TABLE `kept_answers_before`",
  "ALTER TABLE `kept_answers` RENAME TO `kept_answers_before`",
  `CREATE TABLE \`kept_answers\` (
	\`endpoint\` text NOT NULL,
	\`key\` text NOT NULL,
	\`fingerprint\` text NOT NULL,
	\`personal_token_id\` text,
	\`answer_json\` text NOT NULL,
	\`created_at_ms\` integer NOT NULL,
	PRIMARY KEY(\`endpoint\`, \`key\`)
) WITHOUT ROWID`,
].map((statement) => sql.raw(statement));

/** An answer as it is kept. */
export type KeptRow = typeof keptAnswers.$inferSelect;

export type KeptAnswers = ReturnType<typeof openKeptAnswers>;
