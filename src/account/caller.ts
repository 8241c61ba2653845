/**
 * The callers of an account and their rights. `admission.ts` lets a caller in; the rules here say what an admitted
 * caller may do. Each rule names every kind of caller, so that a new kind does not compile before it has its rights.
 */
import * as rules from "../domain/allowance.ts";
import { idsOfPath, type AllowanceLimits } from "../domain/allowance.ts";
import { splitClientId } from "../domain/oauth_client.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused } from "../domain/result.ts";
import type { Answer, JobRow, VerifiedCaller } from "./contract.ts";
import type { AllowanceRow } from "./sql/allowance_store.ts";

/**
 * What a caller wants to do; each right includes those before it. An app's key may always read a job of its app by its
 * id (`follow`), and report on it and end it (`settle`); for every other caller these are `read` and `write`.
 */
export type Wanted = rules.AllowanceAccess | "follow" | "settle";

/** Whether the right is one that an app's key always has for its app's own jobs. */
export function concernsOwnJob(wanted: Wanted): wanted is "follow" | "settle" {
  return wanted === "follow" || wanted === "settle";
}

/** A {@link VerifiedCaller} that the account let in. */
export type AdmittedCaller =
  | { readonly kind: "holder" }
  | {
      readonly kind: "personal_token";
      readonly allowance: AllowanceRow;
      /** What the allowance and all its ancestors permit. */
      readonly limits: AllowanceLimits;
    }
  | {
      readonly kind: "app";
      readonly app_slug: string;
      /** Why it may only follow and settle its app's jobs; null: it may write. */
      readonly not_writing: Refusal | null;
    }
  | { readonly kind: "operator" }
  | { readonly kind: "service" };

/** A transaction, as far as these rules need it. */
interface Acting {
  readonly caller: AdmittedCaller;
}

/** The allowance that acts; null for any other caller. */
export function actingAllowance({ caller }: Acting): AllowanceRow | null {
  return caller.kind === "personal_token" ? caller.allowance : null;
}

/** Whether the acting allowance, or one of its ancestors, has a cap. */
export function isCapped({ caller }: Acting): boolean {
  return caller.kind === "personal_token" && caller.limits.caps.length > 0;
}

/** Whether a suspended account keeps this caller out. An app's key may still read, and settle its jobs. */
export function isSuspendable(caller: VerifiedCaller, wanted: Wanted): boolean {
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

/** Whether a caller has the holder's own credential, and may learn that the account was deleted. */
export function holdsCredential(caller: VerifiedCaller): boolean {
  switch (caller.kind) {
    case "holder":
    case "personal_token":
      return true;
    case "app":
    case "operator":
    case "service":
      return false;
  }
}

/** Whether using an app as this caller opens the account for the app's key. A capped allowance never does. */
export function opensAccounts(acting: Acting): boolean {
  const { caller } = acting;
  switch (caller.kind) {
    case "holder":
      return true;
    case "personal_token":
      return caller.limits.access === "write" && !isCapped(acting);
    case "app":
    case "operator":
    case "service":
      return false;
  }
}

/** The only apps whose rows the caller may see; undefined: all. */
export function visibleApps({ caller }: Acting): readonly string[] | undefined {
  switch (caller.kind) {
    case "app":
      return [caller.app_slug];
    case "personal_token":
      return caller.limits.app_slugs ?? undefined;
    case "holder":
    case "operator":
    case "service":
      return undefined;
  }
}

/** An app sees only its own jobs; other limits are checked as refusals. */
export function seesJob({ caller }: Acting, job: JobRow): boolean {
  return caller.kind !== "app" || caller.app_slug === job.app_slug;
}

/**
 * Accepts the holder, and a personal token with the scope for upstream tokens. An OAuth client gets them only if it belongs
 * to one of `receiving_apps`, those that may have this provider's tokens.
 */
export function checkUpstream({ caller }: Acting, receiving_apps: readonly string[]): Answer<null> {
  switch (caller.kind) {
    case "holder":
      return accepted(null);
    case "personal_token": {
      const { client_id } = caller.allowance;
      const is_other =
        client_id !== null && !receiving_apps.includes(splitClientId(client_id).app_slug);
      const no_provider = is_other ? ({ code: "scope", reason: "upstream_origin" } as const) : null;
      return acceptedUnless(rules.whyNoUpstream(caller.limits) ?? no_provider);
    }
    case "app":
    case "operator":
    case "service":
      return refused({ code: "scope", reason: "no_upstream" });
  }
}

/** Accepts a credential that may operate the service if its holder is an operator. */
export function checkAdmin({ caller }: Acting): Answer<null> {
  switch (caller.kind) {
    case "holder":
      return accepted(null);
    case "personal_token":
      return acceptedUnless(rules.whyNoAdmin(caller.limits));
    case "app":
    case "operator":
    case "service":
      return refused({ code: "not_operator" });
  }
}

/** What the caller may learn about the person: the service stores it, so these rights are all that an account knows. */
export function personalRightsOf({ caller }: Acting): rules.PersonalRights {
  switch (caller.kind) {
    case "holder":
      return rules.WHOLE_PERSON;
    case "personal_token":
      return rules.personalRightsOf(caller.allowance, caller.limits);
    case "app":
    case "operator":
    case "service":
      return rules.NO_PERSON;
  }
}

/** Accepts a caller that may start a purchase: the holder, or a personal token without limits. */
export function checkBuyer({ caller }: Acting): Answer<null> {
  switch (caller.kind) {
    case "holder":
      return accepted(null);
    case "personal_token":
      return acceptedUnless(rules.whyNoPurchase(caller.limits));
    case "app":
    case "operator":
    case "service":
      return refused({ code: "scope", reason: "no_purchase" });
  }
}

/** Why the caller may not act for an app; null if it may. */
export function whyNotForApp({ caller }: Acting, app_slug: string | null): Refusal | null {
  switch (caller.kind) {
    case "app":
      return caller.app_slug === app_slug ? null : { code: "scope", reason: "app_key" };
    case "personal_token":
      return rules.whyNotForApp(caller.limits, app_slug);
    case "holder":
    case "operator":
    case "service":
      return null;
  }
}

/** Why the caller may not open the account for an app or take its grant; null if it may. */
export function whyNotGrant({ caller }: Acting): Refusal | null {
  switch (caller.kind) {
    case "holder":
      return null;
    case "personal_token":
      return rules.whyNoAccess(caller.limits, "write");
    case "app":
    case "operator":
    case "service":
      return { code: "scope", reason: "app_key" };
  }
}

/**
 * Why the caller may not end a job that it sees; null if it may. Only the app ends the jobs of an app that settles
 * its own. A capped allowance ends only jobs that it or its descendants created: its caps would not count the overage of
 * another job.
 */
export function whyNotEnd(acting: Acting, job: JobRow): Refusal | null {
  const { caller } = acting;
  switch (caller.kind) {
    case "app":
      return null;
    case "holder":
    case "operator":
    case "service":
      return job.settle === "app" ? { code: "app_settles" } : null;
    case "personal_token": {
      if (job.settle === "app") return { code: "app_settles" };
      const is_own = idsOfPath(job.allowance_path).includes(caller.allowance.id);
      if (isCapped(acting) && !is_own) return { code: "scope", reason: "capped" };
      return whyNotForApp(acting, job.app_slug);
    }
  }
}

/**
 * Why the caller may not raise what a job holds that it may settle; null if it may. To hold more of the balance is to
 * write.
 */
export function whyNotRaise({ caller }: Acting): Refusal | null {
  switch (caller.kind) {
    case "app":
      return caller.not_writing;
    case "holder":
    case "personal_token":
    case "operator":
    case "service":
      return null;
  }
}

/** Only the holder may cancel a started job of any app. */
export function whyNotCancel({ caller }: Acting): Refusal | null {
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

function acceptedUnless(refusal: Refusal | null): Answer<null> {
  return refusal === null ? accepted(null) : refused(refusal);
}
