/** The error messages of `limit_reached`, by what is limited. */
import type { Limited } from "../../domain/limit_reached.ts";
import type { ErrorTable } from "./table.ts";

const END_SOME = "Complete, fail or cancel some of them first.";

const messages = (limit: number): Readonly<Record<Limited, string>> => ({
  started_jobs: `An account has at most ${limit} started jobs at once. ${END_SOME}`,
  started_jobs_of_app: `An app has in one account at most ${limit} started jobs at once. ${END_SOME}`,
  started_jobs_of_token: `A token has at most ${limit} started jobs at once. ${END_SOME}`,
  job_steps: `A job takes at most ${limit} steps. It can still be completed or failed.`,
  streams: `An account can have at most ${limit} open streams. Close one first.`,
  streams_of_token: `A token, with those exchanged from it, can have at most ${limit} open streams. Close one first.`,
  apps: `An account can have at most ${limit} apps.`,
  unregistered_apps: `An account can have at most ${limit} apps that are not registered here. Ask an operator to register this one.`,
  tokens: `An account can have at most ${limit} tokens. Revoke one that you no longer need.`,
  app_keys: `An app can have at most ${limit} keys. Revoke one that you no longer need.`,
  webhooks: `An app can have at most ${limit} webhooks. Delete one first.`,
  clients: `An app can have at most ${limit} OAuth clients. Delete one first.`,
  plans: `There can be at most ${limit} plans. Delete one first.`,
  resources: `An app can have at most ${limit} resources. Delete one first.`,
});

export const LIMIT_REACHED = {
  limit_reached: ({ of, limit }) => ({
    error: messages(limit)[of],
    more: { of, limit },
    // One of the streams closes sooner or later, so the client tries again.
    ...(of.startsWith("streams") && { status: 429, headers: { "Retry-After": "60" } }),
  }),
} satisfies Partial<ErrorTable>;
