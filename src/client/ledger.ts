/** The caller's ledger. */
import { createCalls, rowsOfPages, type CallOptions } from "./calls.ts";
import type { Credentials } from "./credentials.ts";
import type { Entry, EntryKind, EntryPage } from "./responses.ts";
import type { Transport } from "./transport.ts";

/** Which entries to list, and which page of them. Everything is optional. */
export interface LedgerFilter {
  readonly app?: string;
  readonly jobId?: string;
  readonly kind?: EntryKind;
  /**
   * Only entries of jobs started by this app's key or pages (its slug), or by this connection or token or one exchanged
   * from it (its id).
   */
  readonly by?: string;
  /** Entries from this time on: a `Date` or RFC 3339. */
  readonly from?: Date | string;
  /** Entries before this time. */
  readonly to?: Date | string;
  /** Entries on a page, 1 to 200. A page may have fewer and still have a next page. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** The account's entries. Every change of its credits is one. */
export interface Ledger {
  /** One page, newest first. */
  list(filter?: LedgerFilter, options?: CallOptions): Promise<EntryPage>;
  /** All entries that match, newest first. Reads the pages one after another. */
  all(filter?: LedgerFilter, options?: CallOptions): AsyncGenerator<Entry, void, undefined>;
}

export function createLedger(transport: Transport, credentials: Credentials): Ledger {
  const calls = createCalls(transport, credentials);
  const ledger: Ledger = {
    async list({ jobId, ...rest } = {}, { signal } = {}) {
      const query = { ...rest, job_id: jobId };
      const isValid = ({ entries }: EntryPage): boolean => Array.isArray(entries);
      return calls.read({ path: "/api/ledger", query, signal, isValid });
    },
    all: (filter = {}, options) =>
      rowsOfPages(filter, async (page) => {
        const { entries: rows, next_cursor } = await ledger.list(page, options);
        return { rows, next_cursor };
      }),
  };
  return ledger;
}
