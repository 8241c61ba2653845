/** The client of one service, for one caller. */
import { createAdmin, type Admin } from "./admin.ts";
import { createAdminApps, type AdminApps } from "./admin_apps.ts";
import { COOKIES, createBearer, keepFresh, type Bearer, type TokenSource } from "./credentials.ts";
import { logInDevice, type DeviceLogin } from "./device_login.ts";
import { isPassbookError, PassbookError } from "./errors.ts";
import { followEvents, type FollowEvents } from "./events.ts";
import {
  createJobs,
  type CallOptions,
  type CreateJob,
  type Jobs,
  type WriteOptions,
} from "./jobs.ts";
import { readOrigin } from "./service_origin.ts";
import { pagesOf } from "./pages.ts";
import { runJob, type Ran, type RunJobOptions, type RunningJob } from "./run_job.ts";
import type { Work } from "./settlement.ts";
import { leaveForSignIn, takeToken } from "./signin.ts";
import { createTransport, isDone, READ, type Fetch, type Read, type Wait } from "./transport.ts";
import type {
  AccountEvent,
  Checkout,
  Entry,
  EntryKind,
  EntryPage,
  Me,
  PersonalToken,
  TokenResponse,
  Wallet,
} from "./responses.ts";

/** By a token, or by a browser's cookies, never both. */
export type ClientOptions = ConnectionOptions & (ByToken | ByCookies);

interface ByToken {
  /** A session token, a personal access token, or a function that gives one. */
  readonly token?: string | TokenSource | undefined;
  readonly cookies?: false | undefined;
}

interface ByCookies {
  readonly token?: undefined;
  /** For a page of the family: the browser's cookies instead of a token. */
  readonly cookies?: boolean | undefined;
}

interface ConnectionOptions {
  /**
   * The service's origin, such as `https://passbook.example.com`. Plain http only on this machine, or in
   * development to a host without a dot, such as that of a container.
   */
  readonly baseUrl: string;
  /** Told of each new token, where session tokens are renewed. */
  readonly onToken?: (token: string) => void;
  readonly fetch?: Fetch;
  /** How long one attempt may take, in milliseconds; 10,000 where nothing is said. */
  readonly timeoutMs?: number;
  /** Attempts after the first, for what may be repeated; 4 where nothing is said. */
  readonly retries?: number;
  /** How to wait between attempts; for tests. */
  readonly wait?: Wait;
}

export interface LedgerFilter {
  readonly app?: string;
  readonly jobId?: string;
  readonly kind?: EntryKind;
  /** From this moment on, and before that one: a `Date` or RFC 3339. */
  readonly from?: Date | string;
  readonly to?: Date | string;
  /** Lines on a page, 1 to 200. A filtered page may have fewer, and still a next. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface StartCheckout {
  /** The id of a package that is for sale. */
  readonly package: string;
  /** Where the buyer comes back to: an address that the service allows. */
  readonly returnUrl: string;
}

/** Calls throw {@link PassbookError} with the service's word for what is wrong as `code`. */
export interface PassbookClient {
  /** The account and its apps. With `app`, opens the account for it: starter credits come once. */
  wallet(options?: { readonly app?: string } & CallOptions): Promise<Wallet>;
  readonly jobs: Jobs;
  /**
   * Reserves, runs `work`, and settles at the cost it returns. Where `work` throws, or `signal` is
   * aborted, the reserve is given back and the error passed on; where the service is away just then, the
   * error comes first, and the reserve in the background: see `whenIdle`. Lost answers are asked for
   * again, for 23 hours at most: nothing is paid twice, and no reserve is left while the process lives.
   * Work that is done is never lost: a cost that the service refuses is settled at what it allows, see
   * {@link Ran.unsettled}.
   */
  runJob<Result>(
    job: CreateJob,
    work: (job: RunningJob) => Promise<Work<Result>>,
    options?: RunJobOptions,
  ): Promise<Ran<Result>>;
  /** Resolves when nothing goes on in the background: await it before a process ends. */
  whenIdle(): Promise<void>;
  readonly ledger: {
    list(filter?: LedgerFilter, options?: CallOptions): Promise<EntryPage>;
    all(filter?: LedgerFilter, options?: CallOptions): AsyncGenerator<Entry, void, undefined>;
  };
  /**
   * The account's changes as they happen, each line once and in order, through lost connections, until
   * `signal` is aborted or the service says no. Begins with a snapshot unless `after` says where; one in
   * between says that more was missed than the service repeats (10,000 lines).
   */
  events(options?: FollowEvents): AsyncGenerator<AccountEvent, void, undefined>;
  /**
   * Opens a checkout of a package of credits: send the buyer to its `url`. They come back to `returnUrl`;
   * the credits come by the ledger once they are paid for.
   */
  checkout(purchase: StartCheckout, options?: WriteOptions): Promise<Checkout>;
  me(options?: CallOptions): Promise<Me>;
  readonly tokens: {
    list(options?: CallOptions): Promise<readonly PersonalToken[]>;
    /** Ends a personal access token at once. */
    revoke(id: string, options?: CallOptions): Promise<void>;
  };
  /** For operators. */
  readonly adminApps: AdminApps;
  /** The access token held for the caller at a provider; `reconnect_required`: they sign in again. */
  oauthToken(provider: string, options?: CallOptions): Promise<string>;
  /** The same, at the social network. */
  socialToken(options?: CallOptions): Promise<string>;
  /** Operating the service: for operators alone. */
  readonly admin: Admin;
  /** A fresh session token, or one for another service by the name of its template. */
  sessionToken(options?: { readonly template?: string } & CallOptions): Promise<string>;
  /** Signs a program in; give the token to another `createClient`. */
  logInDevice(login: DeviceLogin): Promise<string>;
  /** In a page: leaves for the sign-in page, and comes back to `redirectTo`, else to this page. */
  startSignIn(options?: { readonly redirectTo?: string }): void;
  /**
   * In a page, at its start: takes the token that a sign-in left in the address, and uses it from then
   * on. Null where nobody is coming back.
   */
  finishSignIn(): string | null;
  /** In a page of the family: ends the browser's session. */
  signOut(options?: CallOptions): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const RETRIES = 4;

/**
 * Makes a client. It sends nothing yet.
 * @throws PassbookError `invalid_argument` where the options make no sense.
 */
export function createClient(options: ClientOptions): PassbookClient {
  const transport = createTransport({
    origin: readOrigin(options.baseUrl),
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    wait: options.wait ?? wait,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    retries: options.retries ?? RETRIES,
  });
  if (options.cookies === true && options.token !== undefined) {
    throw new PassbookError("invalid_argument", "Give a token or cookies, not both.");
  }
  const bearer: Bearer = createBearer({
    token: options.token ?? null,
    renew: async (token) => {
      const credentials = { cookies: false, token: async () => token, replace: async () => false };
      const call = { ...READ, path: "/api/sessionToken", credentials, isAnswer: isToken } as const;
      return (await transport.send(call)).body.token;
    },
    onToken: (token) => options.onToken?.(token),
  });
  const credentials = options.cookies === true ? COOKIES : bearer;
  const read = async <Body extends object>(call: Read<Body>): Promise<Body> =>
    (await transport.send({ ...READ, credentials, ...call })).body;
  const readToken = async (call: Omit<Read<TokenResponse>, "isAnswer">): Promise<string> =>
    (await read({ ...call, isAnswer: isToken })).token;
  const jobs = createJobs(transport, credentials);
  const running = new Set<Promise<unknown>>();

  const client: PassbookClient = {
    jobs,
    async wallet({ app, signal } = {}) {
      const isAnswer = ({ account }: Wallet): boolean => Number.isSafeInteger(account?.credits);
      return read({ path: "/api/wallet", query: { app }, signal, isAnswer });
    },
    runJob(job, work, run_options) {
      const background = (task: Promise<unknown>): void => {
        running.add(task);
        void task.finally(() => running.delete(task));
      };
      const ground = { jobs, background, keepFresh: () => keepFresh(credentials) };
      const run = runJob(ground, job, work, run_options);
      // Kept in view too, so that `whenIdle` waits for it; its error is the caller's.
      background(run.catch(() => {}));
      return run;
    },
    async whenIdle() {
      while (running.size > 0) await Promise.all(running);
    },
    ledger: {
      async list({ jobId, ...rest } = {}, { signal } = {}) {
        const query = { ...rest, job_id: jobId };
        const isAnswer = ({ entries }: EntryPage): boolean => Array.isArray(entries);
        return read({ path: "/api/ledger", query, signal, isAnswer });
      },
      all: (filter = {}, call) =>
        pagesOf(filter, async (at) => {
          const { entries: rows, next_cursor } = await client.ledger.list(at, call);
          return { rows, next_cursor };
        }),
    },
    events: (follow = {}) => followEvents(transport, credentials, follow),
    async checkout({ package: package_id, returnUrl }, { signal, idempotencyKey } = {}) {
      const { body } = await transport.send<Checkout>({
        method: "POST",
        path: "/api/checkout",
        body: { package: package_id, return_url: returnUrl },
        repeat: { kind: "keyed", key: idempotencyKey ?? crypto.randomUUID() },
        credentials,
        isAnswer: ({ url }) => typeof url === "string",
        signal,
      });
      return body;
    },
    async me({ signal } = {}) {
      const isAnswer = ({ identity_id }: Me): boolean => typeof identity_id === "string";
      return read({ path: "/api/me", signal, isAnswer });
    },
    tokens: {
      async list({ signal } = {}) {
        const isAnswer = (body: { tokens: PersonalToken[] }): boolean => Array.isArray(body.tokens);
        return (await read({ path: "/api/tokens", signal, isAnswer })).tokens;
      },
      async revoke(id, { signal } = {}) {
        const path = `/api/tokens/${encodeURIComponent(id)}`;
        let unknown = false;
        const onUnknown = (): void => void (unknown = true);
        const call = { ...READ, method: "DELETE", path, credentials, signal } as const;
        await transport.send({ ...call, isAnswer: isDone, onUnknown }).catch((error: unknown) => {
          // Gone after an attempt whose answer was lost: that attempt did it.
          if (unknown && isPassbookError(error, "personal_token_not_found")) return;
          throw error;
        });
      },
    },
    adminApps: createAdminApps(transport, credentials),
    oauthToken: async (provider, { signal } = {}) =>
      readToken({ path: `/api/oauthToken/${encodeURIComponent(provider)}`, signal }),
    socialToken: async ({ signal } = {}) => readToken({ path: "/api/socialToken", signal }),
    admin: createAdmin(transport, credentials),
    sessionToken: async ({ template, signal } = {}) =>
      readToken({ path: "/api/sessionToken", query: { template }, signal }),
    logInDevice: (login) => logInDevice(transport, login),
    startSignIn: ({ redirectTo } = {}) => leaveForSignIn(transport.origin, redirectTo),
    finishSignIn() {
      const token = takeToken();
      if (token !== null) bearer.use(token);
      return token;
    },
    async signOut({ signal } = {}) {
      const call = { ...READ, method: "POST", path: "/signout", signal } as const;
      await transport.send({ ...call, credentials: COOKIES, isAnswer: isDone });
    },
  };
  return client;
}

function isToken({ token }: TokenResponse): boolean {
  return typeof token === "string" && token !== "";
}

function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
