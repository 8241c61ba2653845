/** How many of an account's started jobs one token and one app have. */
import { OPEN_JOBS_MAX, OPEN_JOBS_SHARE } from "../domain/limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import { openJobsOf } from "./open_jobs.ts";
import type { StartedCount, Store } from "./store.ts";

/** What a started job counts for. */
export type Creator = Pick<StartedCount, "personal_token_id" | "app_slug">;

export class StartedShares {
  readonly #of_token = new Map<string | null, number>();
  readonly #of_app = new Map<string | null, number>();

  constructor(counts: readonly StartedCount[]) {
    for (const count of counts) this.count(count);
  }

  count({ personal_token_id, app_slug, jobs }: StartedCount): void {
    this.#of_token.set(personal_token_id, this.ofToken(personal_token_id) + jobs);
    this.#of_app.set(app_slug, this.ofApp(app_slug) + jobs);
  }

  ofToken(personal_token_id: string | null): number {
    return this.#of_token.get(personal_token_id) ?? 0;
  }

  ofApp(app_slug: string | null): number {
    return this.#of_app.get(app_slug) ?? 0;
  }
}

/**
 * Why no job more may be started; null if one may. Nobody is counted in an account that has fewer started jobs than
 * the smallest share.
 */
export function whyTooManyStarted(
  store: Store,
  { personal_token_id, app_slug }: Creator,
): Refusal | null {
  const { open_jobs, recent_after_job_id } = openJobsOf(store.readNewestEntry());
  const { token, app } = OPEN_JOBS_SHARE;
  if (open_jobs >= OPEN_JOBS_MAX) return tooMany("account", OPEN_JOBS_MAX);
  if (open_jobs < Math.min(token, app)) return null;
  const shares = store.readStartedShares(recent_after_job_id ?? "");
  if (personal_token_id !== null && shares.ofToken(personal_token_id) >= token) {
    return tooMany("token", token);
  }
  return shares.ofApp(app_slug) >= app ? tooMany("app", app) : null;
}

function tooMany(of: "account" | "app" | "token", limit: number): Refusal {
  return { code: "too_many_open_jobs", of, limit };
}
