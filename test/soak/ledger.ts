/** Reads an account's whole ledger, and checks that it adds up. */
import { faultOf, type ListedEntry } from "../bench/listed_entries.ts";
import { expectRule, type Answer } from "./caller.ts";
import { APP } from "./registrations.ts";
import type { Requests } from "./requests.ts";

const PAGE_ENTRIES = 200;

export interface Entry extends ListedEntry {
  readonly kind: string;
  readonly app: string | null;
}

/** Whether the webhook of the app gets an event of the entry. */
export function hasEvent({ kind, amount, app }: Entry): boolean {
  if (["reserve", "settle", "refund"].includes(kind)) return app === APP;
  if (kind === "adjustment") return amount > 0;
  return ["grant", "purchase", "purchase_refund", "recurring", "job_refund"].includes(kind);
}

export interface Ledger {
  /** The response with the newest entries. */
  readonly newest: Answer;
  readonly lines: number;
  readonly balance: number;
  /** The number of entries of each kind. */
  readonly counts: Readonly<Record<string, number>>;
  /** The lines of the entries that have an event. */
  readonly event_lines: readonly number[];
}

export async function readLedger(requests: Requests): Promise<Ledger> {
  const read = (query: string) => requests.read(`/api/ledger?limit=${PAGE_ENTRIES}${query}`);
  const newest = await read("");
  const entries: Entry[] = [...newest.json.entries];
  let cursor = newest.json.next_cursor as string | undefined;
  while (cursor !== undefined) {
    const { json } = await read(`&cursor=${cursor}`);
    entries.push(...json.entries);
    cursor = json.next_cursor ?? undefined;
  }
  const fault = faultOf(entries);
  expectRule(fault === null, `the ledger of ${requests.identity_id} adds up: ${fault}`);
  const counts: Record<string, number> = {};
  for (const { kind } of entries) counts[kind] = (counts[kind] ?? 0) + 1;
  return {
    newest,
    lines: entries.length,
    balance: entries[0]?.balance_after ?? 0,
    counts,
    event_lines: entries.filter(hasEvent).map(({ line }) => line),
  };
}
