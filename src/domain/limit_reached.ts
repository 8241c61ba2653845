/** How many of something an account, a token or an app may have, for refusals with the code `limit_reached`. */
import {
  ALLOWANCES_PER_ACCOUNT_MAX,
  APPS_PER_ACCOUNT_MAX,
  EVENTS_WATCHERS_MAX,
  EVENTS_WATCHERS_SHARE,
  JOB_STEPS_MAX,
  KEYS_PER_APP_MAX,
  OPEN_JOBS_MAX,
  OPEN_JOBS_SHARE,
  UNREGISTERED_APPS_PER_ACCOUNT_MAX,
} from "./limits.ts";
import type { RefusalCode } from "./refusal_codes.ts";
import { CLIENTS_PER_APP_MAX, RESOURCES_PER_APP_MAX } from "./oauth_client.ts";
import { PLANS_MAX } from "./plans.ts";
import { WEBHOOKS_PER_APP_MAX } from "./webhook.ts";

/** The limits by the value of `of` in the response. */
const LIMITS = {
  started_jobs: OPEN_JOBS_MAX,
  // Read when they are needed, because tests lower them.
  get started_jobs_of_app() {
    return OPEN_JOBS_SHARE.app;
  },
  get started_jobs_of_token() {
    return OPEN_JOBS_SHARE.token;
  },
  job_steps: JOB_STEPS_MAX,
  streams: EVENTS_WATCHERS_MAX,
  streams_of_token: EVENTS_WATCHERS_SHARE,
  apps: APPS_PER_ACCOUNT_MAX,
  unregistered_apps: UNREGISTERED_APPS_PER_ACCOUNT_MAX,
  tokens: ALLOWANCES_PER_ACCOUNT_MAX,
  app_keys: KEYS_PER_APP_MAX,
  webhooks: WEBHOOKS_PER_APP_MAX,
  clients: CLIENTS_PER_APP_MAX,
  resources: RESOURCES_PER_APP_MAX,
  plans: PLANS_MAX,
};

export type Limited = keyof typeof LIMITS;

export const LIMITED = Object.keys(LIMITS) as readonly Limited[];

export interface LimitReached {
  readonly code: "limit_reached";
  readonly of: Limited;
  readonly limit: number;
}

export function limitReached(of: Limited): LimitReached {
  return { code: "limit_reached", of, limit: LIMITS[of] };
}

/** A code that an endpoint may refuse with. `limit_reached` also says what is limited there. */
export type EndpointRefusal = Exclude<RefusalCode, "limit_reached"> | `limit_reached:${Limited}`;
