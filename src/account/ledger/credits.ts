/** The account's credits: the base, which follows from the newest entry, and the lots. */
import { plus, readWorth, worthJson, type Price } from "../../domain/liability.ts";
import {
  boughtInBase,
  putBack,
  resizePaid,
  scopedOf,
  takeBack,
  worthInLots,
  type EntryTerms,
  type Clock,
  type Credits,
  type Lot,
  type Part,
  type ScopedLeft,
  type Terms,
} from "../../domain/lots.ts";
import { v7 as uuidv7 } from "uuid";
import type { EntryRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";
import type { Transaction } from "../transaction.ts";

const NOTHING = { balance_after: 0, bought_after: 0, reserved_bought_after: 0 };

/** The credits now. `parts`: of a job that takes or gives back, whose lots may have nothing left. */
export function readCredits(
  { store }: Pick<Transaction, "store">,
  parts: readonly Pick<Part, "lot_id">[] = [],
): Credits {
  const { balance_after, bought_after, reserved_bought_after } = store.readNewestEntry() ?? NOTHING;
  const living = store.lots.listLiving();
  const lots = [...living, ...otherLots(store, living, parts)];
  const sum = (of: readonly Lot[]): number => of.reduce((all, { left }) => all + left, 0);
  const bought = bought_after - sum(living.filter((lot) => lot.bought));
  const given = balance_after - bought_after - sum(living.filter((lot) => !lot.bought));
  // The same array, so that a change of the lots is seen by comparing.
  return {
    base: { given, bought },
    held_bought: reserved_bought_after,
    lots: lots.length === living.length ? living : lots,
  };
}

function otherLots(
  store: Store,
  living: readonly Lot[],
  parts: readonly Pick<Part, "lot_id">[],
): readonly Lot[] {
  const wanted = new Set(parts.flatMap(({ lot_id }) => lot_id ?? []));
  return [...wanted]
    .filter((id) => !living.some((lot) => lot.id === id))
    .flatMap((id) => store.lots.read(id) ?? []);
}

/** Time and ids for changes of lots. */
export function clockOf({ now_ms }: Pick<Transaction, "now_ms">): Clock {
  return { now_ms, newId: () => uuidv7() };
}

/** The column of `partsOf` of `domain/wire.ts`. */
export function fromJson(from: readonly Part[]): string | null {
  const is_given = from.every(({ lot_id, bought }) => lot_id === null && !bought);
  return is_given ? null : JSON.stringify(from);
}

/** The column of an entry after which the credits are these. */
export function scopedJson(credits: Credits): string | null {
  const scoped = scopedOf(credits);
  return scoped.length === 0 ? null : JSON.stringify(scoped);
}

/** What an entry left for some apps only. */
export function scopedAfter(entry: Pick<EntryRow, "scoped_json"> | null): readonly ScopedLeft[] {
  const json = entry?.scoped_json ?? null;
  return json === null ? [] : (JSON.parse(json) as readonly ScopedLeft[]);
}

/**
 * The credits after a purchase's refund or lost dispute takes some of its own (`change` below zero), or after they come back.
 * What the base has of the payment changes in storage.
 */
export function changePurchased(
  transaction: Transaction,
  id: string,
  lot_id: string | null,
  change: number,
): Credits {
  const before = readCredits(transaction, [{ lot_id }]);
  const { base_payments } = transaction.store;
  if (change < 0) {
    const { credits, of_home } = takeBack(before, { id, lot_id }, 0 - change);
    if (lot_id === null) base_payments.resize(id, 0 - of_home);
    return credits;
  }
  if (lot_id === null) base_payments.resize(id, change);
  const resized = lot_id === null ? before : resizePaid(before, lot_id, id, change);
  return putBack(resized, [{ lot_id, bought: true, credits: change }], clockOf(transaction));
}

/** The column of an entry that brought credits: null for given credits without terms. */
export function termsJson(terms: Terms, price?: Price): string | null {
  const is_plain = terms.expires_at_ms === null && terms.app_slugs === null && !terms.bought;
  const { expires_at_ms, app_slugs, bought } = terms;
  const stored = { expires_at_ms, app_slugs, bought, ...(price === undefined ? {} : { price }) };
  return is_plain ? null : JSON.stringify(stored satisfies EntryTerms);
}

/**
 * The column with the worth of the bought credits after the next entry. Called before anything of it is written. A job's entry
 * only reads the payments for the credits of the base that it uses or gives back.
 */
export function paidJson(
  { store }: Transaction,
  after: Credits,
  is_of_job: boolean,
): string | null {
  const { base_payments, lots } = store;
  const in_base = boughtInBase(readCredits({ store }));
  base_payments.add(after.to_base ?? []);
  const is_carried = is_of_job && after.to_base === undefined;
  const carried = is_carried
    ? plus(
        readWorth(store.readNewestEntry()?.paid_json ?? null),
        worthInLots(lots.listLiving()),
        -1,
      )
    : {};
  const of_base = base_payments.change(is_carried ? in_base : 0, boughtInBase(after));
  return worthJson(plus(plus(carried, of_base), worthInLots(after.lots)));
}
