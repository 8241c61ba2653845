/**
 * What was paid for the bought credits of an account, recounted from its ledger, purchases and lots, independent of the code:
 * amounts are fractions, and nothing that the account noted about worth is read.
 */
import { expect } from "vitest";
import type { EntryRow } from "../../../src/account/contract.ts";
import { query, readContents } from "../support/account_object.ts";

/** Credits of one payment. Null: without a price. */
interface Arrival {
  readonly credits: number;
  readonly price: {
    readonly currency: string;
    readonly minor: number;
    readonly of: number;
  } | null;
}

interface LotRow {
  readonly id: string;
  readonly bought: 0 | 1;
  readonly credits_left: number;
  readonly credits_held: number;
  readonly paid_json: string | null;
}

interface Paid {
  readonly id: string;
  readonly credits: number;
}

interface PurchaseRow {
  readonly checkout_session_id: string;
  readonly line: number;
  readonly credits: number;
  readonly taken_back: number;
  readonly paid_minor: number;
  readonly currency: string;
}

interface Rows {
  readonly entries: readonly EntryRow[];
  readonly lots: readonly LotRow[];
  readonly purchases: readonly PurchaseRow[];
}

async function readRows(identity_id: string): Promise<Rows | null> {
  const tables = await query(identity_id, "select 1 from sqlite_master where name = 'lots'");
  if (tables.length === 0) return null;
  const { entries } = await readContents(identity_id);
  const lots = await query<LotRow>(identity_id, "select * from lots");
  const purchases = await query<PurchaseRow>(
    identity_id,
    `select checkout_session_id, min(line) as line, credits, taken_back, paid_minor, currency
     from purchases join purchase_entries using (checkout_session_id) group by checkout_session_id`,
  );
  return { entries, lots, purchases };
}

/** Fractions of a currency's smallest unit, and credits. */
export interface Sum {
  credits: number;
  numerator: bigint;
  denominator: bigint;
}

/** By currency; "": without a price. */
export type Liability = Map<string, Sum>;

function add(sums: Liability, currency: string, credits: number, minor: bigint, of: bigint): void {
  const sum = sums.get(currency) ?? { credits: 0, numerator: 0n, denominator: 1n };
  const numerator = sum.numerator * of + minor * sum.denominator;
  const denominator = sum.denominator * of;
  const common = divisorOf(numerator, denominator);
  sums.set(currency, {
    credits: sum.credits + credits,
    numerator: numerator / common,
    denominator: denominator / common,
  });
}

function divisorOf(one: bigint, other: bigint): bigint {
  return other === 0n ? one : divisorOf(other, one % other);
}

/** The newest credits, as single ones, newest first. */
function newest(arrivals: readonly Arrival[], credits: number): Arrival["price"][] {
  const each = arrivals.flatMap((it) =>
    Array.from({ length: Math.max(0, it.credits) }, () => it.price),
  );
  return each.toReversed().slice(0, credits);
}

const ownedAfter = (entry: EntryRow | undefined): number =>
  (entry?.bought_after ?? 0) + (entry?.reserved_bought_after ?? 0);

/** Adds an account's bought credits to the sums. Those beyond what came in have no price. */
export async function addLiability(identity_id: string, sums: Liability): Promise<void> {
  const rows = await readRows(identity_id);
  if (rows === null) return;
  let in_base = ownedAfter(rows.entries.at(-1));
  const addNewest = (arrivals: readonly Arrival[], credits: number): void => {
    const prices = newest(arrivals, credits);
    for (const price of prices) {
      if (price === null) add(sums, "", 1, 0n, 1n);
      else add(sums, price.currency, 1, BigInt(price.minor), BigInt(price.of));
    }
    add(sums, "", credits - prices.length, 0n, 1n);
  };
  const arrivals = arrivalsOf(rows);
  for (const lot of rows.lots.filter(({ bought }) => bought === 1)) {
    const owned = lot.credits_left + lot.credits_held;
    in_base -= owned;
    // The simulator's bookkeeping recounts which payments a lot has; their prices are recounted here.
    const paid = JSON.parse(lot.paid_json ?? "[]") as readonly Paid[];
    addNewest(
      paid.map(({ id, credits }) => ({ credits, price: priceOf(arrivals, lot, id) })),
      owned,
    );
  }
  addNewest(
    arrivals.filter(({ lot_id }) => lot_id === null),
    in_base,
  );
}

function priceOf(arrivals: readonly Arrived[], lot: LotRow, id: string): Arrival["price"] {
  const found = arrivals.find((one) => one.id === id || one.lot_id === id);
  return (found ?? expect.fail(`lot ${lot.id} names a payment that came in: ${id}`)).price;
}

/** An arrival where it came in: a lot, or null for the base. `id`: of a purchase. */
interface Arrived extends Arrival {
  readonly id: string | null;
  readonly lot_id: string | null;
}

/** The bought credits that came in, oldest first, less what refunds and disputes took. */
function arrivalsOf({ entries, purchases }: Rows): readonly Arrived[] {
  return entries.flatMap((entry, at): Arrived[] => {
    const { lot_id } = entry;
    // What paid a debt did not come in.
    const credits = ownedAfter(entry) - ownedAfter(entries[at - 1]);
    if (credits === 0) return [];
    if (entry.kind === "purchase") {
      const purchase = purchases.find(({ line }) => line === entry.line) ?? expect.fail();
      const { checkout_session_id: id, currency, paid_minor: minor, credits: of } = purchase;
      const price = { currency, minor, of };
      return [{ id, lot_id, credits: credits - purchase.taken_back, price }];
    }
    const terms = JSON.parse(entry.terms_json ?? "{}");
    if (entry.kind !== "adjustment" || terms.bought !== true) return [];
    const { price } = terms;
    if (price === undefined) return [{ id: null, lot_id, credits, price: null }];
    const { currency, paid_minor: minor } = price;
    return [{ id: null, lot_id, credits, price: { currency, minor, of: entry.amount } }];
  });
}
