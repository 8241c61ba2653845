/**
 * Credits with terms. Credits for all apps without expiry are the base, in two parts: given and bought. Other credits are in
 * lots. Pure; docs/credits.md explains it to people.
 *
 * The order of use: what expires first; then credits for this app before credits for all; then given before bought; then
 * the oldest. The base never expires, so it comes last.
 */
import { DAY_MS } from "./calendar.ts";
import {
  countOf,
  newestOf,
  plus,
  unpriced,
  worthOf,
  type FromBase,
  type PaidCredits,
  type Price,
  type Worth,
} from "./liability.ts";
import { assertInvariant } from "./result.ts";

/** Where the credits of a lot came from. `returned`: a job gave them back after their lot had expired. */
export const LOT_ORIGINS = [
  "starter",
  "purchase",
  "adjustment",
  "recurring",
  "rollover",
  "returned",
] as const;
export type LotOrigin = (typeof LOT_ORIGINS)[number];

/** Lots of one account with something left or held. */
export const LOTS_MAX = 100;

/** Apps that one lot can name. Each entry of the account repeats them while something is left. */
export const LOT_APPS_MAX = 20;

/** How long before the expiry of a lot its warnings are announced. */
export const WARNING_LEADS_MS = [7 * DAY_MS, DAY_MS] as const;

/** The longest that starters and packages can be usable, in days: ten years. */
export const EXPIRES_AFTER_MAX_DAYS = 3_650;

/** How long credits are usable that come back after their lot has expired. */
export const RETURNED_MS = 7 * DAY_MS;

export interface Terms {
  /** Null: the credits never expire. */
  readonly expires_at_ms: number | null;
  /** The only apps that may use the credits; null: all apps. */
  readonly app_slugs: readonly string[] | null;
  /** Whether they were bought; else they were given. */
  readonly bought: boolean;
}

/** The terms of an entry that brought credits, and what an operator says was paid for them. */
export interface EntryTerms extends Terms {
  readonly price?: Price;
}

export interface Lot extends Terms {
  readonly id: string;
  readonly origin: LotOrigin;
  /** Credits that came in. */
  readonly credits: number;
  readonly left: number;
  /** Credits that started jobs hold, in addition to `left`. They do not expire. */
  readonly held: number;
  /** The number of the entry that brought the lot; 0: the entry is not written yet. */
  readonly line: number;
  /** A text for the account's holder. */
  readonly note: string | null;
  /** How many of {@link WARNING_LEADS_MS} are over. */
  readonly warnings: number;
  /** The payments for the bought credits that came in, oldest first. */
  readonly paid: readonly PaidCredits[];
}

/** Credits that a job took from a lot, or from a part of the base (null). A job's parts are in the order of taking. */
export interface Part {
  readonly lot_id: string | null;
  readonly bought: boolean;
  readonly credits: number;
}

/** All credits of an account. The bought part of the base is never below zero, and is 0 while the given part is. */
export interface Credits {
  readonly base: { readonly given: number; readonly bought: number };
  /** The bought credits that started jobs hold. */
  readonly held_bought: number;
  readonly lots: readonly Lot[];
  /** The payments for bought credits that came to the base since the credits were read; left out: none did. */
  readonly to_base?: readonly PaidCredits[];
}

/** The time, and new ids for lots. */
export interface Clock {
  readonly now_ms: number;
  readonly newId: () => string;
}

/** Credits after a change, and the parts that a job has then. */
interface Changed {
  readonly credits: Credits;
  readonly from: readonly Part[];
}

/** The terms of the base. */
export function baseTerms(bought: boolean): Terms {
  return { expires_at_ms: null, app_slugs: null, bought };
}

/** Everything available: the base and what is left in lots. */
export function balanceOf({ base, lots }: Credits): number {
  return lots.reduce((sum, { left }) => sum + left, base.given + base.bought);
}

/** The bought credits of {@link balanceOf}. */
export function boughtOf({ base, lots }: Credits): number {
  return lots.reduce((sum, { bought, left }) => sum + (bought ? left : 0), base.bought);
}

/** The bought credits of the base, with those that started jobs hold. */
export function boughtInBase({ base, held_bought, lots }: Credits): number {
  return lots.reduce(
    (rest, { bought, held }) => rest - (bought ? held : 0),
    base.bought + held_bought,
  );
}

/** What was paid for the bought credits in lots. */
export function worthInLots(lots: readonly Lot[]): Worth {
  return lots.reduce<Worth>(
    (sum, { paid, left, held }) => plus(sum, worthOf(newestOf(paid, left + held))),
    {},
  );
}

/** Whether an app may use the credits. Null: they are wanted for all apps. */
export function isUsableIn(
  { app_slugs }: Pick<Terms, "app_slugs">,
  app_slug: string | null,
): boolean {
  return app_slugs === null || (app_slug !== null && app_slugs.includes(app_slug));
}

/** The credits that an app can reserve: usable lots and the base, which may be below zero. Null: credits for all apps. */
export function spendableIn({ base, lots }: Credits, app_slug: string | null): number {
  const usable = lots.filter((lot) => isUsableIn(lot, app_slug));
  return usable.reduce((sum, { left }) => sum + left, base.given + base.bought);
}

/** Lots in the order of use. For any one app, its own credits come before those for all. */
export function inOrderOfUse<Sorted extends Lot>(lots: readonly Sorted[]): readonly Sorted[] {
  return lots.toSorted(
    (one, other) =>
      expiryOf(one) - expiryOf(other) ||
      Number(one.app_slugs === null) - Number(other.app_slugs === null) ||
      Number(one.bought) - Number(other.bought) ||
      one.line - other.line ||
      (one.id < other.id ? -1 : 1),
  );
}

/** Not infinity: the difference of two infinities is no number. */
function expiryOf({ expires_at_ms }: Pick<Terms, "expires_at_ms">): number {
  return expires_at_ms ?? Number.MAX_SAFE_INTEGER;
}

/** How many warnings of a lot are over. */
export function warningsBy(
  { expires_at_ms }: Pick<Terms, "expires_at_ms">,
  now_ms: number,
): number {
  if (expires_at_ms === null) return 0;
  return WARNING_LEADS_MS.filter((lead_ms) => expires_at_ms - lead_ms <= now_ms).length;
}

/** When the next warning or expiry of a lot is due; null: none is. */
export function nextDueAt(lots: readonly Lot[]): number | null {
  const times = lots.map(({ left, expires_at_ms, warnings }) =>
    left === 0 || expires_at_ms === null
      ? Number.POSITIVE_INFINITY
      : expires_at_ms - (WARNING_LEADS_MS[warnings] ?? 0),
  );
  const at_ms = Math.min(...times);
  return Number.isFinite(at_ms) ? at_ms : null;
}

/** What expires next, and when; null: nothing that is left expires. */
export function nextExpiry(
  lots: readonly Lot[],
): { readonly credits: number; readonly at_ms: number } | null {
  const left = lots.filter((lot) => lot.left > 0);
  const at_ms = Math.min(...left.map((lot) => lot.expires_at_ms ?? Number.POSITIVE_INFINITY));
  if (!Number.isFinite(at_ms)) return null;
  const due = left.filter((lot) => lot.expires_at_ms === at_ms);
  return { credits: due.reduce((sum, lot) => sum + lot.left, 0), at_ms };
}

/** Whether a lot still counts: it has something left, or a started job holds some of it. */
export function isLiving({ left, held }: Pick<Lot, "left" | "held">): boolean {
  return left > 0 || held > 0;
}

/**
 * Takes credits in the order of use. If the usable credits are not enough, the base goes below zero. `app_slug`: as in
 * {@link spendableIn}.
 */
export function take(credits: Credits, app_slug: string | null, amount: number): Changed {
  const from: Part[] = [];
  let wanted = amount;
  const add = (part: Part): void => {
    wanted -= part.credits;
    if (part.credits > 0) from.push(part);
  };
  for (const { id: lot_id, bought, left } of inOrderOfUse(
    credits.lots.filter((lot) => isUsableIn(lot, app_slug)),
  )) {
    add({ lot_id, bought, credits: Math.min(wanted, left) });
  }
  const { given, bought } = credits.base;
  add({ lot_id: null, bought: false, credits: Math.min(wanted, Math.max(0, given)) });
  add({ lot_id: null, bought: true, credits: Math.min(wanted, bought) });
  add({ lot_id: null, bought: false, credits: wanted });
  return {
    credits: from.reduce((rest, part) => moved(rest, part, 0 - part.credits), credits),
    from,
  };
}

/** Changes what is left of a part. */
function moved(
  credits: Credits,
  { lot_id, bought }: Pick<Part, "lot_id" | "bought">,
  change: number,
): Credits {
  if (lot_id !== null) return changeLot(credits, lot_id, (lot) => ({ left: lot.left + change }));
  const { base } = credits;
  const changed = bought
    ? { ...base, bought: base.bought + change }
    : { ...base, given: base.given + change };
  return { ...credits, base: changed };
}

function changeLot(credits: Credits, id: string, change: (lot: Lot) => Partial<Lot>): Credits {
  assertInvariant(
    credits.lots.some((lot) => lot.id === id),
    "the lot of a part is known",
  );
  const lots = credits.lots.map((lot) => (lot.id === id ? { ...lot, ...change(lot) } : lot));
  return { ...credits, lots };
}

/** Changes what started jobs hold by these parts. */
function changeHeld(credits: Credits, from: readonly Part[], sign: 1 | -1): Credits {
  return from.reduce((rest, { lot_id, bought, credits: amount }) => {
    const held_bought = rest.held_bought + (bought ? sign * amount : 0);
    const changed = { ...rest, held_bought };
    if (lot_id === null) return changed;
    return changeLot(changed, lot_id, ({ held }) => ({ held: held + sign * amount }));
  }, credits);
}

/** Holds `amount` more credits for a job that has `from`. The caller has compared {@link spendableIn}. */
export function hold(
  credits: Credits,
  app_slug: string | null,
  from: readonly Part[],
  amount: number,
): Changed {
  const taken = take(credits, app_slug, amount);
  return { credits: changeHeld(taken.credits, taken.from, 1), from: joined(from, taken.from) };
}

/** Gives back what a started job took last, so that it holds `reserved`. */
export function lower(
  credits: Credits,
  from: readonly Part[],
  reserved: number,
  clock: Clock,
): Changed {
  const { kept, rest } = split(from, reserved);
  return { credits: putBack(changeHeld(credits, rest, -1), rest, clock), from: kept };
}

interface SettledJob {
  readonly app_slug: string | null;
  readonly from: readonly Part[];
  /** Whether the job is started. Else its parts are its cost so far. */
  readonly is_held: boolean;
}

/**
 * A job costs `cost` from now on. The cost uses what was taken first; the rest goes back to where it came from. An
 * overage takes usable credits, then the base goes below zero.
 */
export function settle(credits: Credits, job: SettledJob, cost: number, clock: Clock): Changed {
  const { kept, rest } = split(job.from, cost);
  const released = job.is_held ? changeHeld(credits, job.from, -1) : credits;
  const returned = putBack(released, rest, clock);
  const overage = take(returned, job.app_slug, cost - sumOf(kept));
  return { credits: overage.credits, from: joined(kept, overage.from) };
}

/** Gives back `amount` of the cost of an ended job, of which `refunded` came back before: what was taken last, first. */
export function refund(
  credits: Credits,
  from: readonly Part[],
  { amount, refunded }: { readonly amount: number; readonly refunded: number },
  clock: Clock,
): Credits {
  const { kept } = split(from, sumOf(from) - refunded);
  const { rest } = split(kept, sumOf(kept) - amount);
  return putBack(credits, rest, clock);
}

export function sumOf(from: readonly Part[]): number {
  return from.reduce((sum, { credits }) => sum + credits, 0);
}

/** The first `amount` credits of some parts, and the others. */
function split(
  from: readonly Part[],
  amount: number,
): { readonly kept: readonly Part[]; readonly rest: readonly Part[] } {
  const kept: Part[] = [];
  const rest: Part[] = [];
  let wanted = amount;
  for (const part of from) {
    const credits = Math.min(wanted, part.credits);
    if (credits > 0) kept.push({ ...part, credits });
    if (credits < part.credits) rest.push({ ...part, credits: part.credits - credits });
    wanted -= credits;
  }
  return { kept, rest };
}

function joined(from: readonly Part[], more: readonly Part[]): readonly Part[] {
  const all: Part[] = [];
  for (const part of [...from, ...more]) {
    const last = all.at(-1);
    if (last?.lot_id === part.lot_id && last.bought === part.bought) {
      all[all.length - 1] = { ...last, credits: last.credits + part.credits };
    } else all.push(part);
  }
  return all;
}

/**
 * Puts parts back, the last one first. The base first gets what it paid when money for credits of their lot was returned: now
 * they are not spent. While the base is below zero, credits for all apps pay it then. Credits of an
 * expired lot become a lot `returned`; those of an expired `returned` lot go back there, and the caller expires them.
 */
export function putBack(credits: Credits, from: readonly Part[], clock: Clock): Credits {
  const returned = new Map<string, string>();
  let now = credits;
  for (const part of from.toReversed()) {
    const lot = now.lots.find(({ id }) => id === part.lot_id) ?? null;
    assertInvariant(part.lot_id === null || lot !== null, "the lot of a part is known");
    const repaid = lot === null ? { credits: now, amount: 0 } : repayBase(now, lot, part, clock);
    now = repaid.credits;
    const back = part.credits - repaid.amount;
    const app_slugs = lot?.app_slugs ?? null;
    const pays = app_slugs === null ? toPay(now, back) : 0;
    now = moved(now, { lot_id: null, bought: false }, pays);
    const rest = back - pays;
    if (rest === 0) continue;
    const is_gone = lot !== null && isExpired(lot, clock.now_ms) && lot.origin !== "returned";
    if (!is_gone) {
      now = moved(now, part, rest);
      continue;
    }
    const key = JSON.stringify([app_slugs, part.bought]);
    const known = returned.get(key);
    const paid = newestOf(lot.paid, rest);
    if (known !== undefined) {
      now = changeLot(now, known, joining(rest, paid));
      continue;
    }
    const terms = { expires_at_ms: clock.now_ms + RETURNED_MS, app_slugs, bought: part.bought };
    const named = { id: clock.newId(), origin: "returned", note: null, paid } as const;
    const added = addLot(now, named, terms, rest);
    now = added.credits;
    if (added.lot_id !== null) returned.set(key, added.lot_id);
  }
  return now;
}

/** Gives credits of a lot to the base, as many as it paid for returned money, in its parts. `amount`: how many. */
function repayBase(
  credits: Credits,
  { id: lot_id, paid }: Lot,
  part: Part,
  clock: Clock,
): { readonly credits: Credits; readonly amount: number } {
  const payment = paid.find((one) => notedIn(one).given + notedIn(one).bought > 0);
  if (payment === undefined) return { credits, amount: 0 };
  const from_base = notedIn(payment);
  const bought = Math.min(part.credits, from_base.bought);
  const given = Math.min(part.credits - bought, from_base.given);
  const { id } = payment;
  const noted = noteFromBase(credits, { id, lot_id }, { given: 0 - given, bought: 0 - bought });
  const to_base = [
    { lot_id: null, bought: false, credits: given },
    { lot_id: null, bought: true, credits: bought },
  ];
  return { credits: putBack(noted, to_base, clock), amount: bought + given };
}

const notedIn = ({ from_base = { given: 0, bought: 0 } }: PaidCredits): FromBase => from_base;

function isExpired({ expires_at_ms }: Pick<Terms, "expires_at_ms">, now_ms: number): boolean {
  return expires_at_ms !== null && expires_at_ms <= now_ms;
}

/** How many of `amount` credits pay the base, because it is below zero. */
function toPay({ base }: Credits, amount: number): number {
  return Math.min(amount, Math.max(0, 0 - base.given));
}

/** A name for a new lot. */
interface NewLot extends Pick<Lot, "id" | "origin" | "note"> {
  /** The payments for its credits, as many as come in; left out: their price is unknown, or they are given. */
  readonly paid?: readonly PaidCredits[];
}

function paidFor({ id, paid }: NewLot, bought: boolean, credits: number): readonly PaidCredits[] {
  return bought ? (paid ?? [unpriced(id, credits)]) : [];
}

/** Adds credits to a lot. */
function joining(amount: number, paid: readonly PaidCredits[]) {
  return (lot: Lot): Partial<Lot> => ({
    left: lot.left + amount,
    credits: lot.credits + amount,
    paid: [...lot.paid, ...paid],
  });
}

/** Where credits came in. `lot_id`: null if all of them went to the base. `terms`: those that they have now. */
interface Arrived {
  readonly credits: Credits;
  readonly lot_id: string | null;
  readonly terms: Terms;
}

/**
 * Credits come in. While the base is below zero, credits for all apps pay it first. `paid`: the payment for all of them; left
 * out: its price is unknown, or they are given.
 */
export function bringIn(
  credits: Credits,
  lot: Omit<NewLot, "paid">,
  terms: Terms,
  amount: number,
  paid?: PaidCredits,
): Arrived {
  const pays = terms.app_slugs === null ? toPay(credits, amount) : 0;
  const now = moved(credits, { lot_id: null, bought: false }, pays);
  const rest = amount - pays;
  if (rest === 0) return { credits: now, lot_id: null, terms };
  const of_rest = paid === undefined ? {} : { paid: [{ ...paid, credits: rest }] };
  return addLot(now, { ...lot, ...of_rest }, terms, rest);
}

/** Whether one more lot would be too many. Credits without terms need no lot. */
export function isLotTooMany({ lots }: Credits, terms: Terms): boolean {
  return !isOfBase(terms) && lots.filter(isLiving).length >= LOTS_MAX;
}

function isOfBase({ expires_at_ms, app_slugs }: Terms): boolean {
  return expires_at_ms === null && app_slugs === null;
}

/** If there are too many lots, the credits join the lot of their scope and part with the nearest later expiry, else the base. */
function addLot(credits: Credits, lot: NewLot, terms: Terms, amount: number): Arrived {
  const { bought } = terms;
  const paid = paidFor(lot, bought, amount);
  const toBase = (): Arrived => ({
    credits: {
      ...moved(credits, { lot_id: null, bought }, amount),
      ...(bought ? { to_base: [...(credits.to_base ?? []), ...paid] } : {}),
    },
    lot_id: null,
    terms: baseTerms(bought),
  });
  if (isOfBase(terms)) return toBase();
  if (!isLotTooMany(credits, terms)) {
    const counts = { credits: amount, left: amount, held: 0, line: 0, warnings: 0 };
    const added = { ...lot, ...terms, ...counts, paid };
    return { credits: { ...credits, lots: [...credits.lots, added] }, lot_id: lot.id, terms };
  }
  const scope = JSON.stringify(terms.app_slugs);
  const [nearest] = inOrderOfUse(
    credits.lots.filter(
      (it) =>
        isLiving(it) &&
        it.bought === bought &&
        JSON.stringify(it.app_slugs) === scope &&
        expiryOf(it) >= expiryOf(terms),
    ),
  );
  if (nearest === undefined) return toBase();
  const { id: lot_id, expires_at_ms } = nearest;
  return {
    credits: changeLot(credits, lot_id, joining(amount, paid)),
    lot_id,
    terms: { ...terms, expires_at_ms },
  };
}

/**
 * The credits at the turn of a rule of a plan. `lot_id`: the lot that has `kept`; null: the base has it, or it is 0.
 * `gone_lot_id`: a lot that had some of what is gone; null: nothing is.
 */
interface RolledOver {
  readonly credits: Credits;
  readonly kept: number;
  readonly gone: number;
  readonly gone_lot_id: string | null;
  readonly lot_id: string | null;
}

/**
 * Ends a period of a plan: at most `keeps_max` of what is left of its credits go on as a lot `rollover` with the name `id`. The
 * rest is gone, as is what is left of the lot that rolled over before.
 */
export function rollOver(
  credits: Credits,
  ended: { readonly lot_id: string | null; readonly rollover_lot_id: string | null },
  next: { readonly id: string; readonly keeps_max: number; readonly expires_at_ms: number },
): RolledOver {
  const left = credits.lots.filter((it) => it.left > 0);
  const lot = left.find(({ id }) => id === ended.lot_id);
  const earlier = left.find(({ id }) => id === ended.rollover_lot_id);
  const kept = Math.min(lot?.left ?? 0, next.keeps_max);
  const of_lot = (lot?.left ?? 0) - kept;
  const gone = of_lot + (earlier?.left ?? 0);
  const gone_lot_id = (of_lot > 0 ? lot : earlier)?.id ?? null;
  const without = [lot, earlier].reduce(
    (rest, it) => (it === undefined ? rest : withoutLeft(rest, it.id)),
    credits,
  );
  if (lot === undefined || kept === 0) {
    return { credits: without, kept: 0, gone, gone_lot_id, lot_id: null };
  }
  const { app_slugs, bought, note } = lot;
  const named = { id: next.id, origin: "rollover", note } as const;
  const terms = { expires_at_ms: next.expires_at_ms, app_slugs, bought };
  const { credits: after, lot_id } = addLot(without, named, terms, kept);
  return { credits: after, kept, gone, gone_lot_id, lot_id };
}

/** A payment, and the lot that its credits came to; null: the base. */
interface Payment {
  readonly id: string;
  readonly lot_id: string | null;
}

/**
 * Takes credits of one payment: from the lots that have some of them, because they came there or because a job gave them back
 * late, in the order of use; then from the base, which may go below zero. No lot counts them as the payment's any more, also if
 * jobs hold them. `of_home`: what was not taken from lots to which they were given back.
 */
export function takeBack(
  credits: Credits,
  payment: Payment,
  amount: number,
): { readonly credits: Credits; readonly of_home: number } {
  const { id, lot_id } = payment;
  let [now, rest, of_home, counted] = [credits, amount, amount, amount];
  for (const lot of inOrderOfUse(credits.lots)) {
    const is_home = lot.id === lot_id;
    const of_payment = is_home ? notOfOthers(lot, id) : countedIn(lot, id);
    const taken = Math.min(rest, lot.left, of_payment);
    const forgotten = is_home ? amount : Math.min(counted, of_payment);
    rest -= taken;
    if (taken > 0) now = moved(now, { lot_id: lot.id, bought: true }, 0 - taken);
    if (forgotten > 0) now = resizePaid(now, lot.id, id, 0 - forgotten);
    if (is_home) continue;
    of_home -= taken;
    counted -= forgotten;
  }
  const of_bought = Math.min(rest, now.base.bought);
  const given = Math.min(rest - of_bought, Math.max(0, now.base.given));
  now = noteFromBase(now, payment, { given, bought: rest - given });
  now = moved(now, { lot_id: null, bought: true }, 0 - of_bought);
  return { credits: moved(now, { lot_id: null, bought: false }, of_bought - rest), of_home };
}

/** Notes in the lot that a payment's credits came to what the base paid for it, in addition to what is noted. */
function noteFromBase(credits: Credits, { id, lot_id }: Payment, added: FromBase): Credits {
  if (lot_id === null || (added.given === 0 && added.bought === 0)) return credits;
  return changeLot(credits, lot_id, ({ paid }) => {
    const oldest = paid.find((one) => one.id === id);
    const { given = 0, bought = 0 } = oldest?.from_base ?? {};
    const from_base = { given: given + added.given, bought: bought + added.bought };
    return { paid: paid.map((one) => (one === oldest ? { ...one, from_base } : one)) };
  });
}

/** How many of the credits that are left or held in a lot a payment brought. */
function countedIn({ paid, left, held }: Lot, id: string): number {
  const own = newestOf(paid, left + held).filter((one) => one.id === id);
  return own.reduce((sum, { credits }) => sum + credits, 0);
}

/** In the lot that a payment's credits came to, everything is theirs that no other payment brought. */
function notOfOthers({ paid, left, held }: Lot, id: string): number {
  const others = newestOf(paid, left + held).filter((one) => one.id !== id);
  return others.reduce((rest, { credits }) => rest - credits, left + held);
}

/**
 * Changes how many credits of a lot a payment stands for, because it was returned in part or came back. The payment's newest
 * credits go first.
 */
export function resizePaid(credits: Credits, lot_id: string, id: string, change: number): Credits {
  return changeLot(credits, lot_id, ({ paid }) => {
    const oldest = paid.find((one) => one.id === id);
    let rest = change;
    const resized = paid.toReversed().map((one) => {
      if (one.id !== id) return one;
      const part = one === oldest ? rest : Math.max(rest, 0 - countOf(one));
      rest -= part;
      return { ...one, credits: one.credits + part };
    });
    return { paid: resized.toReversed() };
  });
}

/** The lots whose time is over and that have something left, in the order of use. */
export function lotsDue({ lots }: Pick<Credits, "lots">, now_ms: number): readonly Lot[] {
  return inOrderOfUse(lots.filter((lot) => lot.left > 0 && isExpired(lot, now_ms)));
}

/** Credits without what is left of a lot. What jobs hold of it stays. */
export function withoutLeft(credits: Credits, lot_id: string): Credits {
  return changeLot(credits, lot_id, () => ({ left: 0 }));
}

/** What is left for some apps only: an app's spendable credits are the balance without what other apps' lots have. */
export function scopedOf({ lots }: Pick<Credits, "lots">): readonly ScopedLeft[] {
  const scoped = new Map<string, ScopedLeft>();
  for (const { app_slugs, left } of lots) {
    if (app_slugs === null || left === 0) continue;
    const key = JSON.stringify(app_slugs);
    scoped.set(key, { app_slugs, left: (scoped.get(key)?.left ?? 0) + left });
  }
  return [...scoped.values()];
}

export interface ScopedLeft {
  readonly app_slugs: readonly string[];
  readonly left: number;
}

/** The credits that an app could reserve when the balance was this, as in {@link spendableIn}. */
export function spendableThen(
  balance: number,
  scoped: readonly ScopedLeft[],
  app_slug: string,
): number {
  return scoped.reduce((sum, it) => sum - (it.app_slugs.includes(app_slug) ? 0 : it.left), balance);
}
