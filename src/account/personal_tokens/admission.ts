/**
 * What a personal access token may do in its account, and what an app by its key, asked inside the
 * transaction that it is about: revocation, expiry, limits and cap are true in the same moment as the
 * money.
 */
import * as rules from "../../domain/personal_token.ts";
import { PERSONAL_TOKEN_LAST_USED_INTERVAL_MS } from "../../domain/limits.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused } from "../../domain/result.ts";
import type { Answer, Caller } from "../contract.ts";
import type { JobRow } from "../store.ts";
import type { Transaction } from "../transaction.ts";
import { readBudget } from "./spending.ts";
import { limitsOf, type PersonalTokenRow } from "./store.ts";

/**
 * Lets a caller in and notes the token's use, at most once an hour. An app is let in where the account
 * was upserted for it; to any other account there is nothing for it to see.
 * @returns the token's row, null for a browser session and an app.
 */
export function admit(
  { store, personal_tokens, now_ms }: Transaction,
  { personal_token_id, app_slug }: Caller,
  wanted: rules.PersonalTokenAccess,
): Answer<PersonalTokenRow | null> {
  if (app_slug !== undefined) {
    return store.readApp(app_slug) === null ? refused({ code: "account_unknown" }) : accepted(null);
  }
  if (personal_token_id === null) return accepted(null);
  const personal_token = personal_tokens.read(personal_token_id);
  if (personal_token === null || personal_token.expires_at_ms <= now_ms) {
    return refused({ code: "unauthorized", reason: "personal_token_ended" });
  }
  const last_used_at_ms = personal_token.last_used_at_ms ?? Number.NEGATIVE_INFINITY;
  if (now_ms - last_used_at_ms >= PERSONAL_TOKEN_LAST_USED_INTERVAL_MS)
    personal_tokens.saveLastUse(personal_token_id, now_ms);
  const refusal = rules.whyNoAccess(limitsOf(personal_token), wanted);
  return refusal === null ? accepted(personal_token) : refused(refusal);
}

/** The only apps whose rows the caller may see; undefined: all. */
export function visibleApps({
  personal_token,
  acting_app,
}: Transaction): readonly string[] | undefined {
  if (acting_app !== null) return [acting_app];
  return personal_token === null ? undefined : (limitsOf(personal_token).app_slugs ?? undefined);
}

/** Lets only callers through who may be handed third parties' tokens. */
export function checkUpstream({ personal_token }: Transaction): Answer<null> {
  const refusal = personal_token === null ? null : rules.whyNoUpstream(limitsOf(personal_token));
  return refusal === null ? accepted(null) : refused(refusal);
}

/** Lets only callers through whose proof may operate the service, where its owner does. */
export function checkAdmin({ personal_token }: Transaction): Answer<null> {
  const refusal = personal_token === null ? null : rules.whyNoAdmin(limitsOf(personal_token));
  return refusal === null ? accepted(null) : refused(refusal);
}

/** Why the caller may not act for an app; null where they may. */
export function whyNotForApp(
  { personal_token, acting_app }: Transaction,
  app_slug: string | null,
): Refusal | null {
  if (acting_app !== null && acting_app !== app_slug) return { code: "scope", reason: "app_key" };
  return personal_token === null ? null : rules.whyNotForApp(limitsOf(personal_token), app_slug);
}

/** Why the caller may not upsert an app or take its grant; null where they may. */
export function whyNotGrant({ personal_token }: Transaction): Refusal | null {
  return personal_token === null ? null : rules.whyNoAccess(limitsOf(personal_token), "write");
}

/** Why the caller may not reserve so many credits for an app; null where they may. */
export function whyNotReserve(
  transaction: Transaction,
  app_slug: string,
  credits: number,
): Refusal | null {
  return whyNotForApp(transaction, app_slug) ?? whyOverBudget(transaction, credits);
}

/** Whether a job is there for the caller to see: an app sees none but its own. */
export function seesJob({ acting_app }: Transaction, job: JobRow): boolean {
  return acting_app === null || acting_app === job.app_slug;
}

/**
 * Why the caller may not end a job that they see; null where they may. Of an app that settles itself
 * nobody else ends a job. A capped token ends only the jobs it created itself: any other's overage would
 * be spending that its cap never sees.
 */
export function whyNotEnd(transaction: Transaction, job: JobRow): Refusal | null {
  const { personal_token, acting_app } = transaction;
  if (acting_app === null && job.settle === "app") return { code: "app_settles" };
  if (personal_token === null) return null;
  if (personal_token.cap_credits !== null && job.personal_token_id !== personal_token.id) {
    return { code: "scope", reason: "capped" };
  }
  return whyNotForApp(transaction, job.app_slug);
}

/** Why the caller may not spend so much more, after all that this transaction did; null where they may. */
export function whyOverBudget(transaction: Transaction, credits: number): Refusal | null {
  const { personal_token, now_ms } = transaction;
  const budget = personal_token === null ? null : readBudget(transaction, personal_token);
  return budget === null ? null : rules.whyOverBudget(budget, credits, now_ms);
}
