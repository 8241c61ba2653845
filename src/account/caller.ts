/**
 * Who acts in an account, and what each kind of caller may do. The account decides inside the transaction that
 * acts: revocation, expiry, limits and cap are true in the same moment as the money.
 */
import * as rules from "../domain/personal_token.ts";
import { PERSONAL_TOKEN_LAST_USED_INTERVAL_MS, TOKEN_STORAGE_MAX_BYTES } from "../domain/limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, assertInvariant, refused } from "../domain/result.ts";
import type { Answer, Caller } from "./contract.ts";
import { countedAt, readBudget } from "./personal_tokens/spending.ts";
import { limitsOf, type PersonalTokenRow } from "./personal_tokens/store.ts";
import type { JobRow } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/**
 * What a caller wants to do; each includes those before it, and `settle` (to end a job) is `write` for all but an
 * app's key, which may always end the app's own jobs.
 */
export type Wanted = rules.PersonalTokenAccess | "settle";

/** A {@link Caller} that the account let in. Every rule below names each kind: none is what is left over. */
export type AdmittedCaller =
  | { readonly kind: "holder" }
  | { readonly kind: "personal_token"; readonly personal_token: PersonalTokenRow }
  | { readonly kind: "app"; readonly app_slug: string }
  | { readonly kind: "operator" }
  | { readonly kind: "service" };

/**
 * Lets a caller in and notes a personal token's use, at most once an hour. An app is let in if the account is open
 * for it, or to end a job: then `jobs.ts` looks whether the job is its own. Any other account is unknown to it.
 */
export function admit(
  transaction: Transaction,
  caller: Caller,
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

function admitPersonalToken(
  { personal_tokens, now_ms }: Transaction,
  personal_token_id: string,
  wanted: rules.PersonalTokenAccess,
): Answer<AdmittedCaller> {
  const personal_token = personal_tokens.read(personal_token_id);
  if (personal_token === null || personal_token.expires_at_ms <= now_ms) {
    return refused({ code: "unauthorized", reason: "personal_token_ended" });
  }
  const last_used_at_ms = personal_token.last_used_at_ms ?? Number.NEGATIVE_INFINITY;
  if (now_ms - last_used_at_ms >= PERSONAL_TOKEN_LAST_USED_INTERVAL_MS) {
    personal_tokens.saveLastUse(personal_token_id, now_ms);
  }
  const refusal = rules.whyNoAccess(limitsOf(personal_token), wanted);
  return refusal === null ? accepted({ kind: "personal_token", personal_token }) : refused(refusal);
}

function isOpenFor({ store }: Transaction, app_slug: string): boolean {
  return store.readApp(app_slug)?.access === "open";
}

/** Whether using an app as this caller opens the account for the app's key. A capped token never does. */
export function opensAccounts({ caller }: Transaction): boolean {
  switch (caller.kind) {
    case "holder":
      return true;
    case "personal_token":
      return caller.personal_token.access === "write" && caller.personal_token.cap_credits === null;
    case "app":
    case "operator":
    case "service":
      return false;
  }
}

/** Whether a caller is kept out of a suspended account. An app's key still reads and settles what is held. */
export function isSuspendable(caller: Caller, wanted: Wanted): boolean {
  switch (caller.kind) {
    case "holder":
    case "personal_token":
      return true;
    case "app":
      return wanted === "write";
    case "operator":
    case "service":
      return false;
  }
}

/** Whether a caller has the account's own credential, and may learn that it was deleted. */
export function holdsCredential(caller: Caller): boolean {
  return caller.kind === "holder" || caller.kind === "personal_token";
}

/** The only apps whose rows the caller may see; undefined: all. */
export function visibleApps({ caller }: Transaction): readonly string[] | undefined {
  switch (caller.kind) {
    case "app":
      return [caller.app_slug];
    case "personal_token":
      return limitsOf(caller.personal_token).app_slugs ?? undefined;
    case "holder":
    case "operator":
    case "service":
      return undefined;
  }
}

/** Lets through a caller who may receive upstream tokens: the holder, or a personal token with that scope. */
export function checkUpstream({ caller }: Transaction): Answer<null> {
  switch (caller.kind) {
    case "holder":
      return accepted(null);
    case "personal_token":
      return answerOf(rules.whyNoUpstream(limitsOf(caller.personal_token)));
    case "app":
    case "operator":
    case "service":
      return refused({ code: "scope", reason: "no_upstream" });
  }
}

/** Lets through a caller whose credential may operate the service, if its holder does. */
export function checkAdmin({ caller }: Transaction): Answer<null> {
  switch (caller.kind) {
    case "holder":
      return accepted(null);
    case "personal_token":
      return answerOf(rules.whyNoAdmin(limitsOf(caller.personal_token)));
    case "app":
    case "operator":
    case "service":
      return refused({ code: "not_operator" });
  }
}

/** Lets through a caller who may start a purchase: the holder, or a personal token without limits. */
export function checkBuyer({ caller }: Transaction): Answer<null> {
  switch (caller.kind) {
    case "holder":
      return accepted(null);
    case "personal_token":
      return answerOf(rules.whyNoPurchase(limitsOf(caller.personal_token)));
    case "app":
    case "operator":
    case "service":
      return refused({ code: "scope", reason: "no_purchase" });
  }
}

/** Why the caller may not act for an app; null if it may. */
export function whyNotForApp({ caller }: Transaction, app_slug: string | null): Refusal | null {
  switch (caller.kind) {
    case "app":
      return caller.app_slug === app_slug ? null : { code: "scope", reason: "app_key" };
    case "personal_token":
      return rules.whyNotForApp(limitsOf(caller.personal_token), app_slug);
    case "holder":
    case "operator":
    case "service":
      return null;
  }
}

/** Why the caller may not open the account for an app or take its grant; null if it may. */
export function whyNotGrant({ caller }: Transaction): Refusal | null {
  switch (caller.kind) {
    case "holder":
      return null;
    case "personal_token":
      return rules.whyNoAccess(limitsOf(caller.personal_token), "write");
    case "app":
    case "operator":
    case "service":
      return { code: "scope", reason: "app_key" };
  }
}

/** Why the caller may not reserve so many credits for an app; null if it may. */
export function whyNotReserve(
  transaction: Transaction,
  app_slug: string,
  credits: number,
): Refusal | null {
  return whyNotForApp(transaction, app_slug) ?? whyOverBudget(transaction, credits);
}

/** Whether the caller may see a job: an app sees only its own. */
export function seesJob({ caller }: Transaction, job: JobRow): boolean {
  return caller.kind !== "app" || caller.app_slug === job.app_slug;
}

/** The refusal of a job that is not there for the caller: an account that is not open for an app is unknown to it. */
export function unknownJob(transaction: Transaction): Refusal {
  const { caller } = transaction;
  return caller.kind === "app" && !isOpenFor(transaction, caller.app_slug)
    ? { code: "account_unknown" }
    : { code: "job_unknown" };
}

/**
 * Why the caller may not end a job that it sees; null if it may. Jobs of an app that settles itself are ended
 * only by that app. A capped token ends only the jobs it created: the overage of any other job would be spending
 * that its cap never counts.
 */
export function whyNotEnd(transaction: Transaction, job: JobRow): Refusal | null {
  const { caller } = transaction;
  switch (caller.kind) {
    case "app":
      return null;
    case "holder":
    case "operator":
    case "service":
      return job.settle === "app" ? { code: "app_settles" } : null;
    case "personal_token": {
      if (job.settle === "app") return { code: "app_settles" };
      const { id, cap_credits } = caller.personal_token;
      if (cap_credits !== null && job.personal_token_id !== id) {
        return { code: "scope", reason: "capped" };
      }
      return whyNotForApp(transaction, job.app_slug);
    }
  }
}

/** Why the caller may not cancel a started job of any app; null for the account's holder. */
export function whyNotCancel({ caller }: Transaction): Refusal | null {
  switch (caller.kind) {
    case "holder":
      return null;
    case "app":
      return { code: "scope", reason: "app_key" };
    case "personal_token":
    case "operator":
    case "service":
      return { code: "scope", reason: "holder_only" };
  }
}

/** Why the caller may not spend so much more, after all that this transaction did; null if it may. */
export function whyOverBudget(transaction: Transaction, credits: number): Refusal | null {
  const { caller, now_ms } = transaction;
  if (caller.kind !== "personal_token") return null;
  const budget = readBudget(transaction, caller.personal_token);
  return budget === null ? null : rules.whyOverBudget(budget, credits, now_ms);
}

/** Why the acting token may not store so many bytes more; null if it may, or if no token acts. */
export function whyNoStorage(transaction: Transaction, bytes: number): Refusal | null {
  const personal_token = actingToken(transaction);
  if (personal_token === null) return null;
  const { stored_bytes } = transaction.personal_tokens.readUse(personal_token.id);
  if (stored_bytes + bytes <= TOKEN_STORAGE_MAX_BYTES) return null;
  return { code: "token_storage_full", limit_bytes: TOKEN_STORAGE_MAX_BYTES };
}

/**
 * Why a job may not be settled at `actual_cost`, which takes `credits` more off the balance; null if it may. A capped
 * token's job is bound by the cap also if an app's key settles it, and after that token has ended. Then it may not
 * cost more than what was reserved either.
 */
export function whyOverCap(
  transaction: Transaction,
  job: JobRow,
  actual_cost: number,
  credits: number,
): Refusal | null {
  const { caller, personal_tokens, now_ms } = transaction;
  if (caller.kind !== "app") return whyOverBudget(transaction, credits);
  if (job.token_cap_credits === null || job.personal_token_id === null) return null;
  const creator = personal_tokens.readCreator(job.personal_token_id);
  const budget = creator === null ? null : readBudget(transaction, creator);
  assertInvariant(creator !== null && budget !== null, "a capped token's row stays");
  const has_ended = creator.ended_at_ms !== null || creator.expires_at_ms <= now_ms;
  if (has_ended && actual_cost > job.reserved) return { code: "scope", reason: "cap_ended" };
  return rules.whyOverBudget(budget, credits, countedAt(creator, now_ms));
}

/** The personal token that acts; null: another kind of caller does. */
export function actingToken({ caller }: Transaction): PersonalTokenRow | null {
  return caller.kind === "personal_token" ? caller.personal_token : null;
}

function answerOf(refusal: Refusal | null): Answer<null> {
  return refusal === null ? accepted(null) : refused(refusal);
}
