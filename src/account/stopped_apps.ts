/** Which apps the holder stopped, and what nobody may do for them. `app_stop.ts` stops an app. */
import type { StoppedApp } from "../domain/app_stop.ts";
import { appOfClient } from "../domain/oauth_client.ts";
import type { Refusal } from "../domain/refusals.ts";
import { startsForStopped, whyStopped } from "./caller.ts";
import type { AppRow } from "./contract.ts";
import type { AllowanceRow } from "./sql/allowance_store.ts";
import type { Transaction } from "./transaction.ts";

/** The app, if the holder stopped it. */
export function stoppedApp({ store }: Transaction, slug: string): StoppedApp | null {
  const app = store.readApp(slug);
  return app === null ? null : asStopped(app);
}

/** Those of some apps that the holder stopped; null: of all apps of the account. */
export function stoppedApps(
  { store }: Pick<Transaction, "store">,
  app_slugs: readonly string[] | null,
): readonly StoppedApp[] {
  const apps = app_slugs?.flatMap((slug) => store.readApp(slug) ?? []) ?? store.listApps();
  return apps.flatMap((app) => asStopped(app) ?? []);
}

export function asStopped({ slug, access, stopped_after_job_id }: AppRow): StoppedApp | null {
  return access === "stopped" ? { slug, last_job_id: stopped_after_job_id } : null;
}

/** Why the caller may not start a job for the app; null if the holder did not stop it. */
export function whyNotStart(transaction: Transaction, app_slug: string | null): Refusal | null {
  if (app_slug === null || startsForStopped(transaction)) return null;
  return stoppedApp(transaction, app_slug) === null ? null : { code: "app_stopped", app_slug };
}

/** Why a client gets no connection; null if the holder stopped neither its app nor that of the resource. */
export function whyNotConnect(
  transaction: Transaction,
  { client_id, resource_app_slug }: Pick<AllowanceRow, "client_id" | "resource_app_slug">,
): Refusal | null {
  const client_app_slug = client_id === null ? null : appOfClient(client_id);
  const slugs = [client_app_slug, resource_app_slug].filter((slug) => slug !== null);
  return whyStopped(stoppedApps(transaction, slugs));
}
