/**
 * The callers of an account and their rights. `admission.ts` lets a caller in; the rules here say what an admitted
 * caller may do. Each rule names every kind of caller, so that a new kind does not compile before it has its rights.
 */
import type { Revoker } from "../domain/access_event.ts";
import * as rules from "../domain/allowance.ts";
import { idsOfPath, type AllowanceLimits } from "../domain/allowance.ts";
import { isStartedBefore, type StoppedApp } from "../domain/app_stop.ts";
import { splitClientId } from "../domain/oauth_client.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused } from "../domain/result.ts";
import {
  startingApp,
  forApp,
  type Starter,
  type StarterColumns,
  withoutTokenName,
} from "../domain/started_by.ts";
import type { Answer, JobRow, PageCaller } from "./contract.ts";
import type { AllowanceRow } from "./sql/allowance_store.ts";

/**
 * The right that an operation wants of its caller; each right includes those before it. An app's key may always read a job
 * of its app by its id (`follow`), and report on it and end it (`settle`). An app that charges for a connection may also
 * create jobs (`start`). For every other caller these are `read`, `write` and `write`. A session may also learn whose it is
 * (`profile`) where the holder stopped its app; for every other caller that is `read`.
 */
export type Wanted = rules.AllowanceAccess | "follow" | "settle" | "start" | "profile";

/** Whether the right is one that an app's key and pages always have for the app's own jobs. */
export function concernsOwnJob(wanted: Wanted): wanted is "follow" | "settle" {
  return wanted === "follow" || wanted === "settle";
}

/** A caller that the account let in. Of an allowance, its row says how it came to be. */
export type AdmittedCaller =
  | { readonly kind: "holder" }
  | (PageCaller & {
      /** Those of its apps that the holder stopped. */
      readonly stopped: readonly StoppedApp[];
    })
  | {
      readonly kind: "allowance";
      readonly allowance: AllowanceRow;
      /** The rights that the allowance and all its ancestors permit. */
      readonly limits: AllowanceLimits;
    }
  | {
      readonly kind: "app";
      readonly app_slug: string;
      /** Why it may only follow and settle its app's jobs; null: it may write. */
      readonly not_writing: Refusal | null;
      /** The app, if the holder stopped it. */
      readonly stopped: StoppedApp | null;
    }
  | { readonly kind: "operator" }
  | { readonly kind: "service" };

/** A transaction, as far as these rules need it. */
interface Acting {
  readonly caller: AdmittedCaller;
}

/** The allowance that acts; null for any other caller. */
export function actingAllowance({ caller }: Acting): AllowanceRow | null {
  return caller.kind === "allowance" ? caller.allowance : null;
}

/**
 * Whether the app of a resource acts for a connection to it. That is all that an allowance of a resource can do in an
 * account; see `exchange`.
 */
export function isCharging({ caller }: Acting): boolean {
  return caller.kind === "allowance" && caller.allowance.resource !== null;
}

/** Whether the acting allowance, or one of its ancestors, has a cap. */
export function isCapped({ caller }: Acting): boolean {
  return caller.kind === "allowance" && caller.limits.caps.length > 0;
}

/** The role of the caller towards a connection that it revokes. An app's key cannot revoke any. */
export function revokerOf(caller: AdmittedCaller): Revoker {
  switch (caller.kind) {
    case "holder":
    case "page":
      return "holder";
    case "allowance":
      // A personal token is the person's own program.
      return rules.consentedClient(caller.allowance) === null ? "holder" : "client";
    case "operator":
      return "operator";
    case "app":
    case "service":
      return "service";
  }
}

/** Whether a suspended account keeps this caller out. An app's key may still read, and settle its jobs. */
export function isSuspendable(kind: AdmittedCaller["kind"], wanted: Wanted): boolean {
  switch (kind) {
    case "holder":
    case "page":
    case "allowance":
      return true;
    case "app":
      return wanted === "write" || wanted === "start";
    case "operator":
    case "service":
      return false;
  }
}

/** Whether a caller has the holder's own credential, and may learn that the account was deleted. */
export function holdsCredential(kind: AdmittedCaller["kind"]): boolean {
  switch (kind) {
    case "holder":
    case "page":
    case "allowance":
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
    case "page":
      return true;
    case "allowance":
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
    case "allowance":
      return caller.limits.app_slugs ?? undefined;
    case "holder":
    case "page":
    case "operator":
    case "service":
      return undefined;
  }
}

/**
 * The starter of a job of this app that the caller creates; null: the holder in a browser. `root`: the allowance that the
 * holder approved. `caller_app_name`: the name of the app that `startingApp` gives.
 */
export function starterOf(
  { caller }: Acting,
  job_app: string,
  root: AllowanceRow | null,
  caller_app_name: string | null,
): Starter | null {
  switch (caller.kind) {
    case "app":
    case "page": {
      const slug = startingApp(caller, job_app);
      return slug === null ? null : { kind: "app", slug, name: caller_app_name };
    }
    case "allowance": {
      const { label: name } = caller.allowance;
      return rules.consentedClient(caller.allowance) === null
        ? { kind: "token", name }
        : { kind: "connection", name, host: root?.client_host ?? null };
    }
    case "holder":
    case "operator":
    case "service":
      return null;
  }
}

/**
 * A job as the caller may see it. Only our own pages, and a token without limits that the holder made, learn the names of
 * all tokens; a token also learns its own.
 */
export function shownTo<Row extends StarterColumns>({ caller }: Acting, row: Row): Row {
  switch (caller.kind) {
    case "holder":
    case "operator":
    case "service":
      return row;
    case "allowance": {
      const { allowance, limits } = caller;
      const is_own = isOfAllowance(allowance, row);
      const lists_tokens = rules.whyNotWhole(allowance, limits) === null;
      return is_own || lists_tokens ? row : forApp(row);
    }
    case "page":
      return withoutTokenName(row);
    case "app":
      return forApp(row);
  }
}

/**
 * An app sees only its own jobs, and for a connection only those that it started for it. A stopped app sees only those that
 * were started before. Other limits are refusals.
 */
export function seesJob(acting: Acting, job: JobRow): boolean {
  const { caller } = acting;
  switch (caller.kind) {
    case "app":
      return caller.stopped === null
        ? caller.app_slug === job.app_slug
        : isStartedBefore(caller.stopped, job);
    case "page":
      return (
        caller.stopped.length === 0 ||
        caller.stopped.some((app) => isStartedBefore(app, job)) ||
        (caller.of_any_app === true && !caller.stopped.some(({ slug }) => slug === job.app_slug))
      );
    case "allowance":
      return !isCharging(acting) || isOfAllowance(caller.allowance, job);
    case "holder":
    case "operator":
    case "service":
      return true;
  }
}

/**
 * Whether the caller may start a job for an app that the holder stopped. On our own pages the holder may, which does not
 * allow the app again.
 */
export function startsForStopped({ caller }: Acting): boolean {
  switch (caller.kind) {
    case "holder":
    case "operator":
    case "service":
      return true;
    case "page":
    case "allowance":
    case "app":
      return false;
  }
}

/** Whether an allowance, or one that was exchanged from it, created a job. */
function isOfAllowance(
  { id }: AllowanceRow,
  { allowance_path }: Pick<JobRow, "allowance_path">,
): boolean {
  return idsOfPath(allowance_path).includes(id);
}

/**
 * Accepts the holder, and a personal token with the scope for upstream tokens. An OAuth client gets them only if it belongs
 * to one of `receiving_apps`, those that may have this provider's tokens.
 */
export function checkUpstream({ caller }: Acting, receiving_apps: readonly string[]): Answer<null> {
  switch (caller.kind) {
    case "holder":
    case "page":
      return accepted(null);
    case "allowance": {
      const client_id = rules.consentedClient(caller.allowance);
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
    case "allowance":
      return acceptedUnless(rules.whyNoAdmin(caller.limits));
    case "page":
      return refused({ code: "not_operator", reason: "foreign_session" });
    case "app":
    case "operator":
    case "service":
      return refused({ code: "not_operator" });
  }
}

/** The caller's rights to data about the person: the service stores it, so these rights are all that an account knows. */
export function personalRightsOf({ caller }: Acting): rules.PersonalRights {
  switch (caller.kind) {
    case "holder":
    case "page":
      return rules.WHOLE_PERSON;
    case "allowance":
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
    case "page":
      return accepted(null);
    case "allowance":
      return acceptedUnless(rules.whyNoPurchase(caller.allowance, caller.limits));
    case "app":
    case "operator":
    case "service":
      return refused({ code: "scope", reason: "no_purchase" });
  }
}

/** Accepts a caller that may see and stop everything with access: the holder, or a personal token without limits. */
export function checkWhole({ caller }: Acting): Answer<null> {
  switch (caller.kind) {
    case "holder":
      return accepted(null);
    case "allowance":
      return acceptedUnless(rules.whyNotWhole(caller.allowance, caller.limits));
    case "page":
    case "app":
    case "operator":
    case "service":
      return refused({ code: "scope", reason: "not_whole" });
  }
}

/** Why the caller may not act for an app; null if it may. */
export function whyNotForApp({ caller }: Acting, app_slug: string | null): Refusal | null {
  switch (caller.kind) {
    case "app":
      return caller.app_slug === app_slug ? null : { code: "scope", reason: "app_key" };
    case "allowance":
      return rules.whyNotForApp(caller.limits, app_slug);
    case "holder":
    case "page":
    case "operator":
    case "service":
      return null;
  }
}

/** Why the caller may not take an app's grant, or open the account for the app; null if it may. */
export function whyNotGrant({ caller }: Acting): Refusal | null {
  switch (caller.kind) {
    case "holder":
    case "page":
      return null;
    case "allowance":
      return rules.whyNoAccess(caller.limits, "write");
    // For a person who lets the app of a resource charge.
    case "service":
      return null;
    case "app":
    case "operator":
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
    case "page":
    case "operator":
    case "service":
      return job.settle === "app" ? { code: "app_settles" } : null;
    case "allowance": {
      // The app itself charges, and sees no other jobs than those.
      if (isCharging(acting)) return null;
      if (job.settle === "app") return { code: "app_settles" };
      const is_own = isOfAllowance(caller.allowance, job);
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
    case "page":
      return whyStopped(caller.stopped);
    case "holder":
    case "allowance":
    case "operator":
    case "service":
      return null;
  }
}

/**
 * The most that a job may cost if this caller completes it; null: the job's own terms decide. A stopped app gets no more than
 * what the person knew of when they stopped it: what the job holds, or its estimate.
 */
export function mostAfterStop(
  { caller }: Acting,
  { reserved, cost_estimate }: Pick<JobRow, "reserved" | "cost_estimate">,
): number | null {
  switch (caller.kind) {
    case "app":
      return caller.stopped === null ? null : Math.max(reserved, cost_estimate);
    case "page":
      return caller.stopped.length === 0 ? null : Math.max(reserved, cost_estimate);
    case "holder":
    case "allowance":
    case "operator":
    case "service":
      return null;
  }
}

/** Only the holder may cancel a started job of any app. */
export function whyNotCancel({ caller }: Acting): Refusal | null {
  switch (caller.kind) {
    case "holder":
    case "page":
      return null;
    case "app":
      return { code: "scope", reason: "app_key" };
    case "allowance":
    case "operator":
    case "service":
      return { code: "scope", reason: "holder_only" };
  }
}

/** The refusal of what a stopped app may not do; null if no app is stopped. */
export function whyStopped([app]: readonly StoppedApp[]): Refusal | null {
  return app === undefined ? null : { code: "app_stopped", app_slug: app.slug };
}

function acceptedUnless(refusal: Refusal | null): Answer<null> {
  return refusal === null ? accepted(null) : refused(refusal);
}
