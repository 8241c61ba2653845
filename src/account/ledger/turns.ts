/**
 * The turns of the rules of an account's plan: what is left of a period's credits goes on or is gone, and the next ones come.
 * The account's alarm makes a turn if the account was used in the period that ends. Else the account sleeps, and its next call,
 * or the end of the month, makes all turns that are over in one step.
 */
import { fitsBalance, OF_ACCOUNT, type Posting } from "../../domain/ledger.ts";
import { bringIn, rollOver, type Credits, type Terms } from "../../domain/lots.ts";
import {
  runningPlanOf,
  turnOf,
  wakesAt,
  type RunningPlan,
  type RunningRule,
} from "../../domain/plans.ts";
import type { Store } from "../sql/store.ts";
import type { Transaction } from "../transaction.ts";
import { clockOf, readCredits } from "./credits.ts";

/** `post` of `posting.ts`, which makes due turns itself. */
type Post = (
  transaction: Transaction,
  posting: Posting,
  posted_with: {
    readonly credits?: Credits;
    readonly lot_id?: string | null;
    readonly terms?: Terms;
  },
) => unknown;

/** The account's copy of its plan; null: the plan brings no credits. */
export function readPlan(store: Pick<Store, "readAccount">): RunningPlan | null {
  return runningPlanOf(store.readAccount()?.plan_json ?? null);
}

export function savePlan(store: Pick<Store, "changeAccount">, plan: RunningPlan | null): void {
  store.changeAccount({ plan_json: plan === null ? null : JSON.stringify(plan) });
}

/** Makes every turn whose time is over. */
export function makeDueTurns(transaction: Transaction, post: Post): void {
  for (;;) {
    const plan = readPlan(transaction.store);
    const due = plan?.rules.find(({ until_ms }) => until_ms <= transaction.now_ms);
    if (plan === null || due === undefined) return;
    makeTurn(transaction, post, plan, due);
  }
}

function makeTurn(transaction: Transaction, post: Post, plan: RunningPlan, due: RunningRule): void {
  const { store, now_ms } = transaction;
  const { newId } = clockOf(transaction);
  const { rule, keeps_max, slept } = turnOf(due, now_ms);
  const { until_ms: expires_at_ms, app_slugs } = rule;
  // In this order, because the older credits are used first.
  const named = { rollover_lot_id: newId(), lot_id: newId() };
  const rules = plan.rules.map((it) => (it === due ? { ...rule, ...named } : it));
  // First, because each entry below makes the turns that are still due.
  savePlan(store, { ...plan, rules });
  const next = { id: named.rollover_lot_id, keeps_max, expires_at_ms };
  const ended = rollOver(readCredits(transaction), due, next);
  const { credits, kept, gone, gone_lot_id, lot_id } = ended;
  if (gone > 0) {
    const posting = { ...OF_ACCOUNT, kind: "expire", amount: 0 - gone } as const;
    post(transaction, posting, { credits, lot_id: gone_lot_id });
  }
  if (kept > 0) {
    // If credits are gone, the entry before has moved these ones too.
    const moved = gone > 0 ? {} : { credits };
    post(transaction, { ...OF_ACCOUNT, kind: "rollover", amount: 0 }, { ...moved, lot_id });
  }
  const amount = rule.credits + slept;
  const newest = store.readNewestEntry();
  // A balance beyond the limits could not be counted exactly.
  if (newest === null || !fitsBalance(newest, { amount, held: 0 })) return;
  const terms = { expires_at_ms, app_slugs, bought: false };
  const note = null;
  const before = readCredits(transaction);
  const old = { id: named.rollover_lot_id, origin: "rollover", note } as const;
  const woken = slept === 0 ? before : bringIn(before, old, terms, slept).credits;
  const lot = { id: named.lot_id, origin: "recurring", note } as const;
  const arrived = bringIn(woken, lot, terms, rule.credits);
  const one_lot = slept === 0 ? arrived.lot_id : null;
  const posting = { ...OF_ACCOUNT, kind: "recurring", amount } as const;
  post(transaction, posting, { ...arrived, lot_id: one_lot });
}

/** What the account's alarm has to do for its plan, and when, in milliseconds since the epoch. */
export interface PlanTimes {
  readonly turns_at_ms: readonly number[];
  /** Lots of rules that sleep: they expire with the turn. */
  readonly sleeping_lots: readonly (string | null)[];
}

/**
 * A rule sleeps if nobody has used the account in the period that runs. While credits for all apps would pay what the account
 * owes, it does not sleep.
 */
export function planTimes(transaction: Transaction): PlanTimes {
  const account = transaction.store.readAccount();
  const rules = runningPlanOf(account?.plan_json ?? null)?.rules ?? [];
  if (account === null || rules.length === 0) return { turns_at_ms: [], sleeping_lots: [] };
  const used_at_ms = transaction.store.readLastUse();
  const owes = readCredits(transaction).base.given < 0;
  const asleep = rules.filter((it) => used_at_ms < it.from_ms && !(owes && it.app_slugs === null));
  return {
    turns_at_ms: rules.map((it) => (asleep.includes(it) ? wakesAt(it, account.id) : it.until_ms)),
    sleeping_lots: asleep.flatMap(({ lot_id, rollover_lot_id }) => [lot_id, rollover_lot_id]),
  };
}
