/** The client of an app's server, which acts by the app's key in one person's account. */
import { createClient, type ClientOptions, type PassbookClient } from "./client.ts";
import { PassbookError } from "./errors.ts";

export interface AppClientOptions extends Pick<
  ClientOptions,
  "baseUrl" | "fetch" | "timeoutMs" | "retries" | "wait"
> {
  /** The app's key, `pb_app_…`: a secret of the server. */
  readonly key: string;
  /** Whose account: `identity_id`, the `sub` of their session token. */
  readonly identity: string;
}

/**
 * What an app's server may do: read the wallet, and create, settle, read and list its own app's jobs.
 * `account_unknown`: the account was never opened for the app.
 */
export type AppClient = Pick<PassbookClient, "wallet" | "jobs" | "runJob" | "whenIdle">;

/**
 * Makes a client for one person's account; it is cheap, so make one for each. It sends nothing yet.
 * @throws PassbookError `invalid_argument` where the options make no sense, or in a page: whoever reads
 * the page would have the key.
 */
export function createAppClient({ key, identity, ...options }: AppClientOptions): AppClient {
  if ("document" in globalThis) {
    throw new PassbookError(
      "invalid_argument",
      "An app's key is for its server, never for a page.",
    );
  }
  if (!/^pb_app_[A-Za-z0-9_-]+$/.test(key)) {
    throw new PassbookError("invalid_argument", "key must be an app's key: pb_app_…");
  }
  if (!/^[\x21-\x7e]{1,255}$/.test(identity)) {
    throw new PassbookError("invalid_argument", "identity must be a person's identity_id.");
  }
  const send = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const client = createClient({
    ...options,
    token: key,
    fetch: (url, init) =>
      send(url, { ...init, headers: { ...init.headers, "Passbook-Identity": identity } }),
  });
  return {
    wallet: (call) => client.wallet(call),
    jobs: client.jobs,
    runJob: (job, work, run_options) => client.runJob(job, work, run_options),
    whenIdle: () => client.whenIdle(),
  };
}
