/** The wallet. A call opens the account, adds the named app, and grants the app's starter credits once. */
import { consentedClient } from "../../domain/allowance.ts";
import { DAY_MS, utcDayOf } from "../../domain/calendar.ts";
import { fitsBalance, OF_ACCOUNT } from "../../domain/ledger.ts";
import {
  baseTerms,
  boughtOf,
  bringIn,
  inOrderOfUse,
  isUsableIn,
  spendableIn,
  type Lot,
  type Terms,
} from "../../domain/lots.ts";
import { FIRST_PLAN } from "../../domain/plans.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { StarterTerms } from "../../domain/starter_rule.ts";
import { accepted, assertInvariant, refused } from "../../domain/result.ts";
import { accessAfterUse, whyNoRoomForApp } from "./app_access.ts";
import {
  actingAllowance,
  personalRightsOf,
  visibleApps,
  whyNotForApp,
  whyNotGrant,
} from "../caller.ts";
import { isOfUnregisteredClient, readRoom } from "../allowances/spending.ts";
import type { Answer, AppRow, Profile, Wallet, WalletRequest } from "../contract.ts";
import { clockOf, readCredits } from "../ledger/credits.ts";
import { ensureOpen, post, readBalance } from "../ledger/posting.ts";
import { viewTopUp } from "../top_up/top_up.ts";
import type { Transaction } from "../transaction.ts";

type AppRequest = NonNullable<WalletRequest["app"]>;
type AppGrant = NonNullable<Wallet["app_grant"]>;

export function readWallet(transaction: Transaction, request: WalletRequest): Answer<Wallet> {
  const { store } = transaction;
  const is_excluded = store.readAccount()?.returned === true || isOfUnregisteredClient(transaction);
  const takes_starters = !is_excluded;
  const app = takes_starters ? request.app : withoutStarter(request.app);
  const known = app === null ? null : store.readApp(app.slug);
  const refusal = app === null ? null : whyNotUpsert(transaction, app, known);
  if (refusal !== null) return refused(refusal);
  ensureOpen(transaction);
  const upserted = app === null ? null : upsertApp(transaction, app, known);
  const row = store.readAccount();
  assertInvariant(row !== null, "an open account has its row");
  const { id, identity_id, plan } = row;
  const { balance_after: credits, reserved_after: held } = readBalance(transaction);
  const account = { id, identity_id, plan, credits };
  const visible = visibleApps(transaction);
  const apps = store.listApps().filter(({ slug }) => visible?.includes(slug) ?? true);
  const { app_grant = null, grant_waits = false } = upserted ?? {};
  const line = store.readNewestEntry()?.line ?? 0;
  const room = readRoom(transaction);
  const now = readCredits(transaction);
  const shown = { bought: boughtOf(now), lots: visibleLots(transaction) };
  const spendable = app === null ? null : spendableIn(now, app.slug);
  const { kind } = transaction.caller;
  // The most that the holder pays in a month is nobody else's concern, so no token gets it.
  const topup = kind === "holder" || kind === "page" ? { topup: viewTopUp(transaction) } : {};
  const of_call = { app_grant, room, spendable, grant_waits, takes_starters, line };
  return accepted({ account, held, ...shown, apps, ...topup, ...of_call });
}

/** The living lots in the order of use, without their payments, which stay in the object. */
export function shownLots({ store }: Pick<Transaction, "store">): readonly Lot[] {
  return inOrderOfUse(store.lots.listLiving()).map((lot) => ({ ...lot, paid: [] }));
}

/** The lots that the caller may see. An app learns those that it can use, without notes. */
export function visibleLots(transaction: Transaction): readonly Lot[] {
  const lots = shownLots(transaction);
  const slugs = visibleApps(transaction);
  if (slugs === undefined) return lots;
  return lots
    .filter((lot) => slugs.some((slug) => isUsableIn(lot, slug)))
    .map((lot) => ({ ...lot, note: null }));
}

/**
 * Without starter credits: for a holder who deleted an account before, and for a client that nobody registered, which could
 * otherwise collect them in order to spend them.
 */
function withoutStarter(app: WalletRequest["app"]): WalletRequest["app"] {
  if (app === null) return null;
  const { slug, is_registered = false } = app;
  return { slug, starter_credits: 0, is_registered };
}

/**
 * The plan, or the first plan if the account is not open yet, and what the caller may learn about the person. A token that the
 * person limited to apps gets neither; a client gets what its consent page listed, whatever apps it is limited to.
 */
export function readProfile(transaction: Transaction): Answer<Profile> {
  const acting = actingAllowance(transaction);
  const is_of_client = acting !== null && consentedClient(acting) !== null;
  if (visibleApps(transaction) !== undefined && !is_of_client) {
    return refused({ code: "scope", reason: "apps_only" });
  }
  const plan = transaction.store.readAccount()?.plan ?? FIRST_PLAN;
  return accepted({ plan, sees: personalRightsOf(transaction) });
}

/** A read-only token may name an app if that changes nothing. */
function whyNotUpsert(
  transaction: Transaction,
  { slug, starter_credits, is_registered = false }: AppRequest,
  known: AppRow | null,
): Refusal | null {
  const foreign = whyNotForApp(transaction, slug);
  if (foreign !== null) return foreign;
  // An app's key reads the wallet, and never takes the grant.
  if (transaction.caller.kind === "app") return null;
  const grants = starter_credits !== null && starter_credits > 0;
  const writes = known === null ? is_registered || grants : known.granted_at_ms === null && grants;
  const not_granting = writes ? whyNotGrant(transaction) : null;
  if (not_granting !== null) return not_granting;
  return known === null && writes ? whyNoRoomForApp(transaction, is_registered) : null;
}

/**
 * `granted` means: by this call. No grant is made if its worth is 0 or unknown, or if the balance could not be counted
 * exactly after it; it may be made later. An unregistered app is added only with a grant, or with its first job: anybody
 * can invent one. A grant that a daily budget bounds waits until its credits are reserved from
 * that day's budget, and is worth what was reserved.
 */
function upsertApp(
  transaction: Transaction,
  { slug, starter_credits: worth, is_registered = false, reservation, starter }: AppRequest,
  known: AppRow | null,
): { readonly app_grant: AppGrant; readonly grant_waits: boolean } {
  const { store, now_ms, caller } = transaction;
  // Before the grant's entry, which the app receives.
  const access = accessAfterUse(transaction, known);
  if (known !== null && (known.granted_at_ms !== null || caller.kind === "app")) {
    const { starter_credits } = known;
    const is_changed = access.access !== known.access || is_registered !== known.is_registered;
    if (is_changed && caller.kind !== "app") store.saveApp({ ...known, ...access, is_registered });
    return { app_grant: { slug, starter_credits, granted: false }, grant_waits: false };
  }
  const terms = starterTerms(slug, starter, now_ms);
  const worth_now = reservation?.credits ?? worth;
  const starter_credits = worth_now ?? known?.starter_credits ?? 0;
  const change = { amount: starter_credits, held: 0 };
  const has_worth = worth_now !== null && worth_now > 0;
  const may_be_made = has_worth && fitsBalance(readBalance(transaction), change);
  // A reservation of an earlier day does not cover a grant today.
  const is_covered = reservation === undefined || reservation?.day === utcDayOf(now_ms);
  const granted = may_be_made && is_covered;
  if (granted) {
    const lot = { id: clockOf(transaction).newId(), origin: "starter", note: null } as const;
    const arrived = bringIn(readCredits(transaction), lot, terms, starter_credits);
    post(transaction, { ...OF_ACCOUNT, ...change, kind: "grant", app_slug: slug }, arrived);
  }
  const is_added = known === null && is_registered;
  const is_changed =
    known !== null && (known.access !== access.access || known.is_registered !== is_registered);
  if (granted || is_added || is_changed) {
    store.saveApp({
      slug,
      ...access,
      is_registered,
      starter_credits,
      granted_at_ms: granted ? now_ms : null,
      created_at_ms: known?.created_at_ms ?? now_ms,
    });
  }
  const app_grant = { slug, starter_credits, granted };
  return { app_grant, grant_waits: may_be_made && !is_covered };
}

function starterTerms(slug: string, starter: StarterTerms | undefined, now_ms: number): Terms {
  const { expires_after_days, only_here } = starter ?? {
    expires_after_days: null,
    only_here: false,
  };
  return {
    ...baseTerms(false),
    expires_at_ms: expires_after_days === null ? null : now_ms + expires_after_days * DAY_MS,
    app_slugs: only_here ? [slug] : null,
  };
}
