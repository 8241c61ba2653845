/**
 * Which callers the account lets in. The account decides in the operation's own transaction, so that a revoked or
 * expired token, a deletion and a suspension count from the same moment as the money.
 */
import { whyNoAccess, type AllowanceAccess } from "../domain/allowance.ts";
import type { Credential, FamilyCredential } from "../domain/proof.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused } from "../domain/result.ts";
import {
  concernsOwnJob,
  holdsCredential,
  isSuspendable,
  type AdmittedCaller,
  type Wanted,
} from "./caller.ts";
import { recognise, rememberKey, UNVERIFIED } from "./allowances/app_keys.ts";
import { findChain, limitsOfAll } from "./allowances/credentials.ts";
import type { AccountRow, Answer, Caller, VerifiedCaller } from "./contract.ts";
import { endDueClaims } from "./jobs/claims.ts";
import { expireDueJobs, expireJobsOfEndedAllowances } from "./jobs/expiry.ts";
import { transact, type Transaction, type TransactionParts } from "./transaction.ts";
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
  sender: Caller,
  wanted: Wanted,
  operation: (transaction: Transaction) => Answer<Value>,
): Answer<Value> {
  return transact(parts, (transaction) => {
    const { store, allowances, families, now_ms } = transaction;
    const recognised = recognise(transaction, sender, wanted);
    if (!recognised.ok) return recognised;
    const caller = recognised.value;
    const deleted = whyDeleted(store.readAccount(), caller);
    if (deleted !== null) return refused(deleted);
    expireDueJobs(transaction);
    endDueClaims(transaction);
    const admitted = admit(transaction, sender, caller, wanted);
    if (!admitted.ok) return admitted;
    const suspended = whySuspended(store.readAccount(), caller, wanted);
    if (suspended !== null) return refused(suspended);
    const answer = operation({ ...transaction, caller: admitted.value });
    // Checked here, so that it holds for every way in which a token ends.
    if (families.takeEnded()) allowances.endOfEndedFamilies(now_ms);
    if (allowances.takeEnded()) expireJobsOfEndedAllowances(transaction);
    if (answer.ok) rememberKey(transaction, sender);
    return answer;
  });
}

/** A deleted account lets nobody in; only its holder's credentials learn that it existed. */
function whyDeleted(account: AccountRow | null, caller: VerifiedCaller): Refusal | null {
  if ((account?.deleted_at_ms ?? null) === null) return null;
  return holdsCredential(caller)
    ? { code: "unauthorized", reason: "account_deleted" }
    : { code: "account_unknown" };
}

function whySuspended(
  account: AccountRow | null,
  caller: VerifiedCaller,
  wanted: Wanted,
): Refusal | null {
  if (!isSuspendable(caller, wanted)) return null;
  return (account?.suspended_at_ms ?? null) === null ? null : { code: "suspended" };
}

/** An app may always try to follow or settle a job: `jobs/settle.ts` then checks that the job is the app's own. */
function admit(
  transaction: Transaction,
  sender: Caller,
  caller: VerifiedCaller,
  wanted: Wanted,
): Answer<AdmittedCaller> {
  switch (caller.kind) {
    case "holder":
    case "operator":
    case "service":
      return accepted(caller);
    case "app": {
      const { app_slug } = caller;
      const not_open = isOpenFor(transaction, app_slug) ? null : UNKNOWN_TO_APP;
      if (not_open !== null && !concernsOwnJob(wanted)) return refused(not_open);
      const suspended = whySuspended(transaction.store.readAccount(), caller, "write");
      const unverified = sender.kind === "unverified_app" ? UNVERIFIED : null;
      return accepted({ kind: "app", app_slug, not_writing: unverified ?? not_open ?? suspended });
    }
    case "personal_token":
      return admitAllowance(transaction, caller.credential, accessOf(wanted));
  }
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
  if (!concernsOwnJob(wanted)) return wanted;
  return wanted === "follow" ? "read" : "write";
}

/** Also records the allowance's use, at most once an hour. */
function admitAllowance(
  transaction: Transaction,
  credential: Credential,
  wanted: AllowanceAccess,
): Answer<AdmittedCaller> {
  const { allowances, now_ms } = transaction;
  const chain = findChain(transaction, credential, now_ms);
  if (chain === null) return refused({ code: "unauthorized", reason: "personal_token_ended" });
  if (credential.kind === "family") noteTokenUse(transaction, credential);
  const [allowance] = chain;
  const last_used_at_ms = allowance.last_used_at_ms ?? Number.NEGATIVE_INFINITY;
  if (now_ms - last_used_at_ms >= ALLOWANCE_LAST_USED_INTERVAL_MS) {
    allowances.saveLastUse(allowance.id, now_ms);
  }
  const limits = limitsOfAll(chain);
  const refusal = whyNoAccess(limits, wanted);
  return refusal === null
    ? accepted({ kind: "personal_token", allowance, limits })
    : refused(refusal);
}
