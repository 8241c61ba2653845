/** One job and all of its ledger entries. */
import { isListed } from "../../domain/ledger.ts";
import { accepted } from "../../domain/result.ts";
import { entriesFrom } from "../../domain/statement.ts";
import type { Answer, JobHistory } from "../contract.ts";
import { countedEntry } from "../ledger/statement_rows.ts";
import type { Transaction } from "../transaction.ts";
import { readJob } from "./settle.ts";

/** A job that the caller may see, and its listed entries. */
export function readJobHistory(transaction: Transaction, job_id: string): Answer<JobHistory> {
  const { store } = transaction;
  const read = readJob(transaction, job_id);
  if (!read.ok) return read;
  const job = read.value;
  const entries_of_job = entriesFrom(store, job.line).filter(isListed);
  return accepted({
    job,
    entries: entries_of_job.map((entry) => countedEntry(store, entry)),
    line: store.readNewestEntry()?.line ?? job.line,
  });
}
