/**
 * Which callers the account lets in. The account decides in the operation's own transaction, so that a revoked or
 * expired token, a deletion and a suspension count from the same moment as the money.
 */
import {
  mayCharge,
  whyNoAccess,
  type AllowanceAccess,
  type AllowanceLimits,
} from "../domain/allowance.ts";
import type { Credential, FamilyCredential } from "../domain/proof.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../domain/limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused } from "../domain/result.ts";
import {
  concernsOwnJob,
  holdsCredential,
  isSuspendable,
  whyStopped,
  type AdmittedCaller,
  type Wanted,
} from "./caller.ts";
import { endDependants } from "./endings.ts";
import { findChain, limitsOfAll } from "./allowances/credentials.ts";
import type { AccountRow, Answer, Caller, PageCaller } from "./contract.ts";
import { endDueClaims } from "./jobs/claims.ts";
import { expireDueJobs } from "./jobs/expiry.ts";
import { expireDueLots } from "./ledger/posting.ts";
import type { AllowanceRow } from "./sql/allowance_store.ts";
import { decideTopUp } from "./top_up/top_up.ts";
import { transact, type Transaction, type TransactionParts } from "./transaction.ts";
import { stoppedApp, stoppedApps } from "./stopped_apps.ts";
import { isOpenFor } from "./wallet/app_access.ts";

/** The shortest time between two writes of an allowance's last use. The hour is worth a row; more precision is not. */
const ALLOWANCE_LAST_USED_INTERVAL_MS = 60 * 60 * 1000;

/**
 * Runs `operation` in one transaction, if the caller may do what is `wanted`. Overdue jobs expire first, because the
 * alarm may be late.
 * @throws what `operation` throws; then everything is rolled back.
 */
export function transactFor<Value>(
  parts: TransactionParts,
  caller: Caller,
  wanted: Wanted,
  operation: (transaction: Transaction) => Answer<Value>,
): Answer<Value> {
  return transact(parts, (transaction) => {
    const { store, allowances } = transaction;
    // Notes of an operation that was rolled back.
    allowances.takeEnded();
    const deleted = whyDeleted(store.readAccount(), caller);
    if (deleted !== null) return refused(deleted);
    expireDueJobs(transaction);
    endDueClaims(transaction);
    expireDueLots(transaction);
    const admitted = admit(transaction, caller, wanted);
    if (!admitted.ok) return admitted;
    const suspended = whySuspended(store.readAccount(), caller, wanted);
    if (suspended !== null) return refused(suspended);
    const acting = { ...transaction, caller: admitted.value };
    const answer = operation(acting);
    // Here, so that it holds for every way in which a token ends.
    endDependants(acting);
    decideTopUp(acting);
    return answer;
  });
}

/** A deleted account lets nobody in; only its holder's credentials learn that it existed. */
function whyDeleted(account: AccountRow | null, caller: Caller): Refusal | null {
  if ((account?.deleted_at_ms ?? null) === null) return null;
  return holdsCredential(caller.kind)
    ? { code: "unauthorized", reason: "account_deleted" }
    : { code: "account_unknown" };
}

/** Only a session reads why: what the operator wrote is for the person, not for programs that act for them. */
function whySuspended(account: AccountRow | null, caller: Caller, wanted: Wanted): Refusal | null {
  if (!isSuspendable(caller.kind, wanted)) return null;
  if (account === null || account.suspended_at_ms === null) return null;
  const is_session = caller.kind === "holder" || caller.kind === "page";
  return {
    code: "suspended",
    public_reason: is_session ? account.suspended_public_reason : null,
  };
}

/** An app may always try to follow or settle a job: `jobs/settle.ts` then checks that the job is the app's own. */
function admit(transaction: Transaction, caller: Caller, wanted: Wanted): Answer<AdmittedCaller> {
  switch (caller.kind) {
    case "holder":
    case "operator":
    case "service":
      return accepted(caller);
    case "page":
      return admitPage(transaction, caller, wanted);
    case "app": {
      const { app_slug } = caller;
      const not_open = isOpenFor(transaction, app_slug) ? null : UNKNOWN_TO_APP;
      if (not_open !== null && !concernsOwnJob(wanted)) return refused(not_open);
      const suspended = whySuspended(transaction.store.readAccount(), caller, "write");
      const stopped = stoppedApp(transaction, app_slug);
      return accepted({ kind: "app", app_slug, not_writing: not_open ?? suspended, stopped });
    }
    case "allowance":
      return admitAllowance(transaction, caller.credential, wanted);
  }
}

/**
 * A page of an app that the holder stopped may only follow and settle the app's earlier jobs, and learn whose session it
 * has. While it is not known which apps a page belongs to, it may not act in an account with a stopped app. The same holds for
 * one that may belong to any.
 */
function admitPage(
  transaction: Transaction,
  caller: PageCaller,
  wanted: Wanted,
): Answer<AdmittedCaller> {
  const stopped = stoppedApps(transaction, caller.app_slugs);
  const refusal = whyStopped(stopped);
  if (refusal === null || wanted === "profile") return accepted({ ...caller, stopped });
  if (caller.app_slugs === null && caller.of_any_app !== true) {
    return refused({ code: "unavailable", retry_after_seconds: UNAVAILABLE_RETRY_AFTER_SECONDS });
  }
  return concernsOwnJob(wanted) ? accepted({ ...caller, stopped }) : refused(refusal);
}

/** Records the first use of a family's newest tokens: from now on, the refresh token before them is not accepted. */
function noteTokenUse(
  { families }: Transaction,
  { family_id, generation }: FamilyCredential,
): void {
  // The first response follows from a code.
  if (generation <= 1) return;
  const family = families.read(family_id);
  if (family?.generation === generation && !family.is_used) families.saveUse(family_id);
}

const UNKNOWN_TO_APP: Refusal = { code: "account_unknown" };

function accessOf(wanted: Wanted): AllowanceAccess {
  switch (wanted) {
    case "follow":
    case "profile":
      return "read";
    case "settle":
    case "start":
      return "write";
    case "none":
    case "read":
    case "write":
      return wanted;
  }
}

/** Why an allowance does not have the right; null if it does. One that charges has only the rights to jobs of its own. */
function whyNotWanted(
  allowance: AllowanceRow,
  limits: AllowanceLimits,
  wanted: Wanted,
): Refusal | null {
  if (!mayCharge(allowance) || wanted === "none") return whyNoAccess(limits, accessOf(wanted));
  const may = wanted === "start" || concernsOwnJob(wanted);
  return may ? null : { code: "scope", reason: "charge_only" };
}

/** Also records the allowance's use, at most once an hour. */
function admitAllowance(
  transaction: Transaction,
  credential: Credential,
  wanted: Wanted,
): Answer<AdmittedCaller> {
  const { allowances, now_ms } = transaction;
  const chain = findChain(transaction, credential, now_ms);
  if (chain === null) return refused({ code: "unauthorized", reason: "personal_token_ended" });
  if (credential.kind === "family") noteTokenUse(transaction, credential);
  const [allowance] = chain;
  const last_used_at_ms = allowance.last_used_at_ms ?? Number.NEGATIVE_INFINITY;
  if (now_ms - last_used_at_ms >= ALLOWANCE_LAST_USED_INTERVAL_MS) {
    allowances.change(allowance.id, { last_used_at_ms: now_ms });
  }
  const limits = limitsOfAll(chain);
  const refusal = whyNotWanted(allowance, limits, wanted);
  return refusal === null ? accepted({ kind: "allowance", allowance, limits }) : refused(refusal);
}
