/** The client for an app's server, for what concerns the app itself and not one person's account. */
import { createAppClient, readKey, type AppClient, type AppClientOptions } from "./app_client.ts";
import { createCalls, rowsOfPages, type CallOptions } from "./calls.ts";
import { createBearer } from "./credentials.ts";
import type { JobFilter } from "./jobs.ts";
import type { FoundJob, FoundJobPage, OwnApp } from "./responses.ts";
import { transportOf } from "./client.ts";
import { createWebhooks, type Webhooks } from "./webhooks.ts";

/** The app's key, and the service. */
export type AppServerOptions = Omit<AppClientOptions, "identity">;

/** The calls of an app's key for the app itself. They throw `PassbookError`. */
export interface AppServer {
  /** The app of the key. */
  app(options?: CallOptions): Promise<OwnApp>;
  readonly jobs: {
    /** One page of the app's jobs of all accounts, newest first, some seconds late and without metadata. */
    list(filter?: JobFilter, options?: CallOptions): Promise<FoundJobPage>;
    /** All that match. Reads the pages one after another. */
    all(filter?: JobFilter, options?: CallOptions): AsyncGenerator<FoundJob, void, undefined>;
  };
  readonly webhooks: Webhooks;
  /** The client for one person's account. `identity`: their `identity_id`. */
  account(identity: string): AppClient;
}

/**
 * Makes a client of an app's server. It sends nothing yet.
 * @throws PassbookError `invalid_argument` if an option is invalid, or in a page, since every visitor could read the key.
 */
export function createAppServer(options: AppServerOptions): AppServer {
  const key = readKey(options.key);
  const transport = transportOf(options);
  const credentials = createBearer({
    token: key,
    kept: null,
    renew: async () => key,
    onToken: () => {},
  });
  const calls = createCalls(transport, credentials);
  const app: AppServer["app"] = async ({ signal } = {}) => {
    const isValid = ({ slug }: OwnApp): boolean => typeof slug === "string";
    return calls.read({ path: "/api/app", signal, isValid });
  };
  let slug: string | null = null;
  const jobs: AppServer["jobs"] = {
    async list(filter = {}, { signal } = {}) {
      const isValid = (body: FoundJobPage): boolean => Array.isArray(body.jobs);
      return calls.read({ path: "/api/jobs", query: { ...filter }, signal, isValid });
    },
    all: (filter = {}, call_options) =>
      rowsOfPages(filter, async (page) => {
        const { jobs: rows, next_cursor } = await jobs.list(page, call_options);
        return { rows, next_cursor };
      }),
  };
  return {
    app,
    jobs,
    webhooks: createWebhooks(transport, credentials, async (call_options) => {
      slug ??= (await app({ signal: call_options.signal })).slug;
      return slug;
    }),
    account: (identity) => createAppClient({ ...options, identity }),
  };
}
