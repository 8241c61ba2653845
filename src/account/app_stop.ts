/**
 * The holder stops an app, and allows it again. `admission.ts` keeps out what comes through a stopped app, and `jobs/create.ts`
 * starts no job for it, so both hold from the moment that the stop is committed.
 */
import { appAccessChanged } from "../domain/access_event.ts";
import type { StartedJobs } from "../domain/app_stop.ts";
import { appOfClient } from "../domain/oauth_client.ts";
import { isSameResource } from "../domain/token_family.ts";
import { accepted, refused } from "../domain/result.ts";
import { endDependants } from "./endings.ts";
import type { Answer, AppRow, StopAppRequest } from "./contract.ts";
import { checkWhole } from "./caller.ts";
import { expireRevokedJobs } from "./jobs/expiry.ts";
import type { AllowanceRow } from "./sql/allowance_store.ts";
import type { Transaction } from "./transaction.ts";
import { NOT_OPEN, openNow } from "./wallet/app_access.ts";

/**
 * Stops an app. The connections of its clients and for its resources are revoked, which stays so. Refused as
 * `app_not_found` if the account has no such app. Stopping it again changes nothing, except that its started jobs may be
 * ended too.
 */
export function stopApp(
  transaction: Transaction,
  { slug, started_jobs, resources = [] }: StopAppRequest,
): Answer<null> {
  const not_whole = checkWhole(transaction);
  if (!not_whole.ok) return not_whole;
  const { store, announce, now_ms } = transaction;
  const known = store.readApp(slug);
  if (known === null) return refused({ code: "app_not_found" });
  store.saveApp(stopped(transaction, known, started_jobs));
  if (known.access !== "stopped") {
    revokeConnections(transaction, slug, resources);
    // Before the app's webhooks learn of the stop, because they get no other event after it.
    endDependants(transaction);
    announce.accessChanged(appAccessChanged("access.stopped", slug), now_ms);
    // Its streams.
    announce.credentialsEnded();
  }
  if (started_jobs === "expire") expireRevokedJobs(transaction);
  return accepted(null);
}

function stopped({ store }: Transaction, known: AppRow, started_jobs: StartedJobs): AppRow {
  if (known.access === "stopped") {
    return started_jobs === "expire" ? { ...known, started_jobs } : known;
  }
  return {
    ...known,
    access: "stopped",
    stopped_after_job_id: store.readNewestJobId(),
    started_jobs,
  };
}

/** `resources`: of the app now. A row names the app that owned its resource when the person connected. */
function revokeConnections(
  { allowances, now_ms }: Transaction,
  slug: string,
  resources: readonly string[],
): void {
  for (const allowance of allowances.listLiving(now_ms)) {
    const { resource } = allowance;
    const is_owned = resource !== null && resources.some((uri) => isSameResource(uri, resource));
    if (is_owned || belongsTo(slug, allowance)) allowances.end(allowance.id, now_ms);
  }
}

/** Whether an allowance is held by a client of the app, or is for a resource of the app. */
function belongsTo(slug: string, { client_id, resource_app_slug }: AllowanceRow): boolean {
  return resource_app_slug === slug || (client_id !== null && appOfClient(client_id) === slug);
}

/**
 * Allows an app again. Only the holder may, on our own pages. Refused as `app_not_found` if it is not stopped or open. An app
 * for which the account was never open, because only connections used it, does not become open by being stopped and allowed.
 */
export function allowApp(transaction: Transaction, slug: string): Answer<null> {
  const { store, caller, announce, now_ms } = transaction;
  if (caller.kind !== "holder") return refused({ code: "scope", reason: "holder_only" });
  const known = store.readApp(slug);
  if (known === null || known.access === "none") return refused({ code: "app_not_found" });
  // Allowing an app that is open already must not hide from it what it has not received yet.
  if (known.access === "open") return accepted(null);
  const was_open = known.opened_after_line > 0;
  store.saveApp({ ...known, ...(was_open ? openNow(transaction) : NOT_OPEN) });
  announce.accessChanged(appAccessChanged("access.allowed", slug), now_ms);
  return accepted(null);
}
