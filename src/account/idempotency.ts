/**
 * Kept answers: a retried request gets the first answer again, written in the same transaction. They lie
 * in two tables, those of now and those of before. Once all of before are out of reach, their table is
 * dropped and the other takes its place: keeping an answer costs one written row, and forgetting it none.
 */
import { and, desc, eq, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import {
  IDEMPOTENCY_CLEANUP_ROWS,
  IDEMPOTENCY_DROP_LINES,
  IDEMPOTENCY_KEEP_MS,
  IDEMPOTENCY_TABLE_LINES,
} from "../domain/limits.ts";
import { accepted, refused } from "../domain/result.ts";
import { visibleApps } from "./personal_tokens/admission.ts";
import type { Answer, IdempotencyGuard, OnceAnswer } from "./contract.ts";
import { account, keptAnswers, keptAnswersBefore } from "./schema.ts";
import { value, type AccountDatabase } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** How an answer is kept, where not as it is, whole and always. */
export interface KeptForm<Value> {
  /** Whether it changed anything: only then is it kept. */
  isKept(answer: Value): boolean;
  /** What is stored of it, as JSON. */
  keep(answer: Value): unknown;
  recall(kept: unknown, transaction: Transaction): Value;
}

const WHOLE: KeptForm<never> = {
  isKept: () => true,
  keep: (answer) => answer,
  recall: (kept) => kept as never,
};

/**
 * Runs `operation` unless the guard's key was answered before at this endpoint. Only answers that
 * changed something are kept, so a refused request may be tried again with its key. The same key
 * with another request is `idempotency_key_reused`.
 */
export function once<Value>(
  kept_answers: KeptAnswers,
  endpoint: string,
  guard: IdempotencyGuard | null,
  transaction: Transaction,
  operation: (transaction: Transaction) => Answer<Value>,
  form: KeptForm<Value> = WHOLE,
): OnceAnswer<Value> {
  const { now_ms, personal_token, acting_app } = transaction;
  // An app's keys are its own: the holder, who may guess them, cannot use one up before the app does.
  const place = acting_app === null ? endpoint : `${endpoint} by ${acting_app}`;
  if (guard !== null) {
    const kept = kept_answers.read(place, guard.key, now_ms);
    if (kept !== null) {
      // A token limited to some apps must not be told what others did for other apps.
      const is_limited = acting_app === null && visibleApps(transaction) !== undefined;
      const may_see = !is_limited || kept.personal_token_id === personal_token?.id;
      return may_see && kept.fingerprint === guard.fingerprint
        ? accepted({
            value: form.recall(JSON.parse(kept.answer_json), transaction),
            replayed: true,
          })
        : refused({ code: "idempotency_key_reused" });
    }
  }
  const answer = operation(transaction);
  if (!answer.ok) return answer;
  if (guard !== null && form.isKept(answer.value)) {
    const line = transaction.store.readNewestEntry()?.line ?? 0;
    kept_answers.insert(line, {
      endpoint: place,
      key: guard.key,
      fingerprint: guard.fingerprint,
      personal_token_id: personal_token?.id ?? null,
      answer_json: JSON.stringify(form.keep(answer.value)),
      created_at_ms: now_ms,
    });
  }
  return accepted({ value: answer.value, replayed: false });
}

/** The statements that every guarded request runs, over a migrated database. */
export function openKeptAnswers(database: AccountDatabase) {
  const readFrom = (table: typeof keptAnswers) =>
    database
      .select()
      .from(table)
      .where(and(eq(table.endpoint, value("endpoint")), eq(table.key, value("key"))));
  const by_key = unionAll(readFrom(keptAnswers), readFrom(keptAnswersBefore))
    .orderBy(desc(keptAnswers.created_at_ms))
    .limit(1)
    .prepare();
  const insert = database
    .insert(keptAnswers)
    .values({
      endpoint: value("endpoint"),
      key: value("key"),
      fingerprint: value("fingerprint"),
      personal_token_id: value("personal_token_id"),
      answer_json: value("answer_json"),
      created_at_ms: value("created_at_ms"),
    })
    // One that is out of reach.
    .onConflictDoUpdate({
      target: [keptAnswers.endpoint, keptAnswers.key],
      set: {
        fingerprint: value("fingerprint"),
        personal_token_id: value("personal_token_id"),
        answer_json: value("answer_json"),
        created_at_ms: value("created_at_ms"),
      },
    })
    .prepare();
  const standing = database
    .select({
      since_ms: account.kept_since_ms,
      since_line: account.kept_since_line,
      before_lines: account.kept_before_lines,
    })
    .from(account)
    .prepare();

  /** Begins a new table where all in the one of before is out of reach, and the present one is not small. */
  function beginTable(line: number, now_ms: number): void {
    const { since_ms, since_line, before_lines } = standing.get() ?? NOT_OPEN;
    const lines = line - since_line;
    if (now_ms - since_ms < IDEMPOTENCY_KEEP_MS || lines < IDEMPOTENCY_TABLE_LINES) return;
    if (before_lines > IDEMPOTENCY_DROP_LINES) return;
    for (const statement of NEW_TABLE) database.run(statement);
    const changed = { kept_since_ms: now_ms, kept_since_line: line, kept_before_lines: lines };
    database.update(account).set(changed).run();
  }

  return {
    read(endpoint: string, key: string, now_ms: number): KeptRow | null {
      const kept = by_key.get({ endpoint, key });
      return kept !== undefined && kept.created_at_ms > now_ms - IDEMPOTENCY_KEEP_MS ? kept : null;
    },
    /** Keeps an answer, inside its transaction. `line`: the newest of the ledger. */
    insert(line: number, row: KeptRow): void {
      beginTable(line, row.created_at_ms);
      insert.run(row);
    },
    /**
     * Empties a table of before that is too large to be dropped, a portion of it, once all in it is out
     * of reach.
     * @returns when to call again, in milliseconds since the epoch; null where there is none.
     */
    cleanUp(now_ms: number): number | null {
      const { since_ms, before_lines } = standing.get() ?? NOT_OPEN;
      if (before_lines <= IDEMPOTENCY_DROP_LINES) return null;
      const due_ms = since_ms + IDEMPOTENCY_KEEP_MS;
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

type KeptRow = typeof keptAnswers.$inferSelect;

export type KeptAnswers = ReturnType<typeof openKeptAnswers>;
