/** The account's credits: the base, which follows from the newest entry, and the lots. */
import {
  scopedOf,
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

/** The column of an entry that brought credits: null for given credits without terms. */
export function termsJson(terms: Terms): string | null {
  const is_plain = terms.expires_at_ms === null && terms.app_slugs === null && !terms.bought;
  const { expires_at_ms, app_slugs, bought } = terms;
  return is_plain ? null : JSON.stringify({ expires_at_ms, app_slugs, bought });
}
