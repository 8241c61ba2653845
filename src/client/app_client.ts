/** The client for an app's server, which uses the app's key to act in one person's account. */
import { createClient, type ClientOptions, type PassbookClient } from "./client.ts";
import { PassbookError } from "./errors.ts";

/** The app's key, and the person whose account it uses. */
export interface AppClientOptions extends Pick<
  ClientOptions,
  "baseUrl" | "fetch" | "timeoutMs" | "retries" | "wait"
> {
  /** The app's key, `pb_app_…`. Keep it secret on the server. */
  readonly key: string;
  /** The `identity_id` of the account's holder, which is the `sub` of their session token. */
  readonly identity: string;
}

/**
 * The calls of an app's server: read the wallet, create, settle, read and list the app's own jobs, and read the entries
 * of these jobs and of the app's grants. They throw `account_unknown` if the account was never opened for the app.
 */
export type AppClient = Pick<
  PassbookClient,
  "wallet" | "jobs" | "runJob" | "whenIdle" | "ledger" | "events"
>;

/**
 * Makes a client for one person's account. It is cheap, so make one for each person. It sends nothing yet.
 * @throws PassbookError `invalid_argument` if an option is invalid, or in a page, since every visitor could read the key.
 */
export function createAppClient({ key, identity, ...options }: AppClientOptions): AppClient {
  readKey(key);
  if (!isIdentity(identity)) {
    throw new PassbookError(
      "invalid_argument",
      "identity must be the identity_id of the account's holder.",
    );
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
    ledger: client.ledger,
    events: (follow) => client.events(follow),
  };
}

/** JavaScript may pass none. */
function isIdentity(identity = ""): boolean {
  return /^[\x21-\x7e]{1,255}$/.test(identity);
}

/** The key, if this program may use it. @throws PassbookError `invalid_argument` */
export function readKey(key: string): string {
  if ("document" in globalThis) {
    throw new PassbookError(
      "invalid_argument",
      "An app's key works on the app's server only: a page would show its key to every visitor.",
    );
  }
  if (!/^pb_app_[A-Za-z0-9_-]+$/.test(key)) {
    throw new PassbookError(
      "invalid_argument",
      "key must be an app's key, which begins with pb_app_.",
    );
  }
  return key;
}
