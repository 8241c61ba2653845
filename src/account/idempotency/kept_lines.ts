/** Answers that the ledger line of their request tells again: of requests that write one line of their own. */
import { assertInvariant } from "../../domain/result.ts";
import type { EntryRow } from "../store.ts";
import type { Transaction } from "../transaction.ts";
import type { KeptAnswers, KeptRow } from "./kept_answers.ts";
import { readKeyText } from "./key_text.ts";
import type { Keeper, Kept } from "./once.ts";

/** What a line's request was answered. */
export type Recall<Value> = (entry: EntryRow, transaction: Transaction) => Value;

/** Keeps the answers of an endpoint in its lines; `asked` goes with the line, see `post`. */
export function inLines<Value>(kept_answers: KeptAnswers, recall: Recall<Value>): Keeper<Value> {
  return {
    find(asked, transaction) {
      const entry = transaction.line_keys.find(asked, transaction);
      const row = kept_answers.read(asked.place, asked.key, transaction.now_ms);
      if (row !== null && row.created_at_ms > (entry?.at_ms ?? 0)) {
        return keptInRow(row, recall, transaction);
      }
      return entry === null ? null : keptInLine(entry, recall, transaction);
    },
    // Its line has the key already.
    keep: () => undefined,
  };
}

function keptInLine<Value>(
  entry: EntryRow,
  recall: Recall<Value>,
  transaction: Transaction,
): Kept<Value> {
  return { ...readKeyText(entry.kept_key), recall: () => recall(entry, transaction) };
}

/** A row names the line, or it is of an earlier release and has the whole answer. */
function keptInRow<Value>(
  row: KeptRow,
  recall: Recall<Value>,
  transaction: Transaction,
): Kept<Value> {
  const answer = JSON.parse(row.answer_json) as { readonly line?: number };
  if (answer.line === undefined) return { ...row, recall: () => answer as Value };
  const entry = transaction.store.readEntry(answer.line);
  assertInvariant(entry !== null, "a line that keeps an answer is there");
  return keptInLine(entry, recall, transaction);
}
