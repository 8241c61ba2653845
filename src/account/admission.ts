/**
 * Which callers the account lets in. The account decides in the operation's own transaction, so that a revoked or
 * expired token, a deletion and a suspension count from the same moment as the money.
 */
import { whyNoAccess, type PersonalTokenAccess } from "../domain/personal_token.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused } from "../domain/result.ts";
import { holdsCredential, isSuspendable, type AdmittedCaller, type Wanted } from "./caller.ts";
import { recognise, rememberKey } from "./allowances/app_keys.ts";
import type { AccountRow, Answer, Caller, VerifiedCaller } from "./contract.ts";
import { expireDueJobs, expireJobsOfEndedTokens } from "./jobs/expiry.ts";
import { limitsOf } from "./sql/personal_token_store.ts";
import { transact, type Transaction, type TransactionParts } from "./transaction.ts";
import { isOpenFor } from "./wallet/app_access.ts";

/** The shortest time between two writes of a token's last use. The hour is worth a row; more precision is not. */
const PERSONAL_TOKEN_LAST_USED_INTERVAL_MS = 60 * 60 * 1000;

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
    const { store, personal_tokens } = transaction;
    const recognised = recognise(transaction, sender, wanted);
    if (!recognised.ok) return recognised;
    const caller = recognised.value;
    const deleted = whyDeleted(store.readAccount(), caller);
    if (deleted !== null) return refused(deleted);
    expireDueJobs(transaction);
    const admitted = admit(transaction, caller, wanted);
    if (!admitted.ok) return admitted;
    const suspended = whySuspended(store.readAccount(), caller, wanted);
    if (suspended !== null) return refused(suspended);
    const answer = operation({ ...transaction, caller: admitted.value });
    // Checked here, so that it holds for every way in which a token ends.
    if (personal_tokens.takeEnded()) expireJobsOfEndedTokens(transaction);
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

/** An app may always try to end a job: `jobs/settle.ts` then checks that the job is the app's own. */
function admit(
  transaction: Transaction,
  caller: VerifiedCaller,
  wanted: Wanted,
): Answer<AdmittedCaller> {
  switch (caller.kind) {
    case "holder":
    case "operator":
    case "service":
      return accepted(caller);
    case "app":
      return wanted === "settle" || isOpenFor(transaction, caller.app_slug)
        ? accepted(caller)
        : refused({ code: "account_unknown" });
    case "personal_token": {
      const access = wanted === "settle" ? "write" : wanted;
      return admitPersonalToken(transaction, caller.personal_token_id, access);
    }
  }
}

/** Also records the token's use, at most once an hour. */
function admitPersonalToken(
  { personal_tokens, now_ms }: Transaction,
  personal_token_id: string,
  wanted: PersonalTokenAccess,
): Answer<AdmittedCaller> {
  const personal_token = personal_tokens.read(personal_token_id);
  if (personal_token === null || personal_token.expires_at_ms <= now_ms) {
    return refused({ code: "unauthorized", reason: "personal_token_ended" });
  }
  const last_used_at_ms = personal_token.last_used_at_ms ?? Number.NEGATIVE_INFINITY;
  if (now_ms - last_used_at_ms >= PERSONAL_TOKEN_LAST_USED_INTERVAL_MS) {
    personal_tokens.saveLastUse(personal_token_id, now_ms);
  }
  const refusal = whyNoAccess(limitsOf(personal_token), wanted);
  return refusal === null ? accepted({ kind: "personal_token", personal_token }) : refused(refusal);
}
