/** The client of one service, for one caller. */
import { createCalls, type CallOptions, type WriteOptions } from "./calls.ts";
import {
  COOKIES,
  createBearer,
  keepFresh,
  keptIn,
  type Bearer,
  type Credentials,
  type TokenSource,
  type TokenStorage,
} from "./credentials.ts";
import { logInDevice, type DeviceLogin } from "./device_login.ts";
import { isPassbookError, PassbookError } from "./errors.ts";
import { followEvents, type FollowEvents } from "./events.ts";
import { createJobs, type CreateJob, type Jobs } from "./jobs.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { readOrigin } from "./service_origin.ts";
import type { RunResult, RunJobOptions, RunningJob } from "./run_job.ts";
import type { Work } from "./settlement.ts";
import { leaveForSignIn, takeToken } from "./signin.ts";
import {
  createTransport,
  isDone,
  READ,
  type Fetch,
  type Read,
  type Transport,
  type Wait,
} from "./transport.ts";
import type {
  Access,
  AccessApp,
  AccountEvent,
  Checkout,
  Me,
  CapPeriod,
  PersonalToken,
  TokenResponse,
  Wallet,
} from "./responses.ts";

/** The caller is identified by a token or by the browser's cookies, never by both. */
export type ClientOptions = ServiceOptions & (ByToken | BySignIn | ByCookies);

interface ByToken {
  /** A session token, a personal access token, or a function that returns one. */
  readonly token?: string | TokenSource | undefined;
  readonly storage?: undefined;
  readonly cookies?: false | undefined;
}

interface BySignIn {
  readonly token?: undefined;
  /**
   * In a page: keeps the token of a sign-in over reloads. `sessionStorage` keeps it for one tab, `localStorage` for all
   * tabs of the page's origin.
   */
  readonly storage?: TokenStorage | undefined;
  readonly cookies?: false | undefined;
}

interface ByCookies {
  readonly token?: undefined;
  readonly storage?: undefined;
  /** In a page on the service's parent domain: the browser's cookies instead of a token. */
  readonly cookies?: boolean | undefined;
}

interface ServiceOptions {
  /**
   * The service's origin, such as `https://passbook.example.com`. Plain http is allowed only for this machine and, in
   * development, for a host without a dot, such as a container.
   */
  readonly baseUrl: string;
  /** Called with each new token: of a sign-in (`finishSignIn`), and when a session token is renewed. */
  readonly onToken?: (token: string) => void;
  readonly fetch?: Fetch;
  /** How long one attempt may take, in milliseconds; 10,000 if omitted. */
  readonly timeoutMs?: number;
  /** Attempts after the first, for calls that may be repeated; 4 if omitted. */
  readonly retries?: number;
  /** Waits between attempts. Tests replace it. */
  readonly wait?: Wait;
}

/** The package of credits to buy, and where the buyer returns to. */
export interface StartCheckout {
  /** The id of a package of credits. */
  readonly package: string;
  /** The page that the buyer returns to: a URL that the service allows. */
  readonly returnTo: string;
}

/** How an app is stopped. */
export interface StopApp {
  /** The fate of jobs that were started before: they may go on (if omitted), or they expire now. */
  readonly startedJobs?: "keep" | "expire";
}

/** Omitted fields stay as they are. `caps: []` removes all caps, and `apps: null` allows all apps. */
export interface TokenChanges {
  readonly label?: string;
  /** At most one for each period. */
  readonly caps?: readonly { readonly credits: number; readonly period: CapPeriod }[];
  readonly apps?: readonly string[] | null;
}

/** Calls throw {@link PassbookError}, with the service's error code as `code`. */
export interface PassbookClient {
  /** The account and its apps. With `app`, opens the account for that app, which grants starter credits once. */
  wallet(options?: { readonly app?: string } & CallOptions): Promise<Wallet>;
  readonly jobs: Jobs;
  /**
   * Reserves credits, runs `work`, and settles the job at the cost that `work` returns. If `work` throws or `signal` is
   * aborted, the reserve is refunded (see {@link RunJobOptions.onFailure}) and the error passed on. If the service is
   * unreachable at that time, the refund is retried in the background: see `whenIdle`. Requests without a response are
   * repeated for up to 23 hours under the same idempotency key, so nothing is charged twice and no reserve is left
   * while the process lives. If the service refuses the cost, the job is settled at the amount it allows: see
   * {@link RunResult.unsettled}.
   */
  runJob<Result>(
    job: CreateJob,
    work: (job: RunningJob) => Promise<Work<Result>>,
    options?: RunJobOptions,
  ): Promise<RunResult<Result>>;
  /** Resolves when no background request is left: await it before the process ends. */
  whenIdle(): Promise<void>;
  readonly ledger: Ledger;
  /**
   * The account's changes as they happen, each entry once and in order. Reconnects until `signal` is aborted or the
   * service refuses. Begins with a snapshot unless `after` names an entry. A later snapshot means that more entries
   * were missed than the service repeats (10,000).
   */
  events(options?: FollowEvents): AsyncGenerator<AccountEvent, void, undefined>;
  /**
   * Opens a checkout for a package of credits: send the buyer to its `url`. They return to `returnTo`; the ledger
   * gets the credits once they are paid for.
   */
  checkout(purchase: StartCheckout, options?: WriteOptions): Promise<Checkout>;
  me(options?: CallOptions): Promise<Me>;
  /**
   * Everything that may act on the account, and what it spent this month. Only for the service's own pages, and for a
   * personal access token without limits.
   */
  access(options?: CallOptions): Promise<Access>;
  /**
   * Stops an app, for the same callers. `app_not_found` if the account has no such app. Its connections end for good. Only
   * a person can allow it again, on the service's own pages.
   */
  stopApp(slug: string, options?: StopApp & CallOptions): Promise<AccessApp>;
  readonly tokens: {
    /** All tokens and connections, for the service's own pages. A token gets itself and those exchanged from it. */
    list(options?: CallOptions): Promise<readonly PersonalToken[]>;
    /**
     * Changes a token's name, caps or apps, with a session of the holder. A changed cap of the same period keeps its
     * spending. Only the service's own pages can give more credits or apps.
     */
    change(id: string, changes: TokenChanges, options?: CallOptions): Promise<PersonalToken>;
    /** Revokes a personal access token with immediate effect. */
    revoke(id: string, options?: CallOptions): Promise<void>;
  };
  /** The caller's access token at a provider; `reconnect_required` if they must sign in there again. */
  oauthToken(provider: string, options?: CallOptions): Promise<string>;
  /** The caller's access token at the social network. */
  socialToken(options?: CallOptions): Promise<string>;
  /** A new session token, or a token for another service from a named template. */
  sessionToken(options?: { readonly template?: string } & CallOptions): Promise<string>;
  /**
   * A valid token of the person for your page's own server, which verifies it. Renewed in time, otherwise without a request,
   * so call it before each request. Throws `no_credentials` if nobody is signed in.
   */
  getToken(): Promise<string>;
  /** Signs a program in and returns its token: pass it to another `createClient`. */
  logInDevice(login: DeviceLogin): Promise<string>;
  /** In a page: opens the sign-in page, which returns to `redirectTo` or else to this page. */
  startSignIn(options?: { readonly redirectTo?: string }): void;
  /**
   * In a page, when it loads: takes the token that a sign-in put into the URL and uses it from then on. Null if the
   * page was not opened by a sign-in.
   */
  finishSignIn(): string | null;
  /**
   * In every page: forgets the token, also if the call throws. In a page on the service's parent domain: ends the browser's
   * session.
   */
  signOut(options?: CallOptions): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const RETRIES = 4;

export interface ServiceCaller {
  readonly transport: Transport;
  readonly credentials: Credentials;
  /** The token, also if the credentials are cookies: for a token that a sign-in brings. */
  readonly bearer: Bearer;
}

/** The service, and the caller's credentials. @throws PassbookError `invalid_argument` if an option is invalid. */
export function serviceCallerOf(options: ClientOptions): ServiceCaller {
  const transport = transportOf(options);
  const { token, storage, cookies } = options;
  if ([token, storage, cookies || undefined].filter((it) => it !== undefined).length > 1) {
    throw new PassbookError("invalid_argument", "Pass only one of token, storage and cookies.");
  }
  const bearer: Bearer = createBearer({
    token: options.token ?? null,
    kept: storage === undefined ? null : keptIn(storage, transport.origin),
    renew: async (token) => {
      const credentials = { cookies: false, token: async () => token, replace: async () => false };
      const call = { ...READ, path: "/api/sessionToken", credentials, isValid: isToken } as const;
      return (await transport.send(call)).body.token;
    },
    onToken: (token) => options.onToken?.(token),
  });
  return { transport, bearer, credentials: cookies === true ? COOKIES : bearer };
}

/**
 * Makes a client. It sends nothing yet.
 * @throws PassbookError `invalid_argument` if an option is invalid.
 */
export function createClient(options: ClientOptions): PassbookClient {
  const { transport, bearer, credentials } = serviceCallerOf(options);
  const { read, write } = createCalls(transport, credentials);
  const readToken = async (call: Omit<Read<TokenResponse>, "isValid">): Promise<string> =>
    (await read({ ...call, isValid: isToken })).token;
  const jobs = createJobs(transport, credentials);
  const is_app = typeof options.token === "string" && options.token.startsWith("pb_app_");

  const client: PassbookClient = {
    jobs,
    async wallet({ app, signal } = {}) {
      const isValid = ({ account }: Wallet): boolean => Number.isSafeInteger(account?.credits);
      return read({ path: "/api/wallet", query: { app }, signal, isValid });
    },
    ...createRunner(jobs, transport, credentials, is_app),
    ledger: createLedger(transport, credentials),
    events: (follow = {}) => followEvents(transport, credentials, follow),
    async checkout({ package: package_id, returnTo }, options) {
      const body = { package: package_id, return_to: returnTo };
      const isValid = ({ url }: Checkout): boolean => typeof url === "string";
      return write({ method: "POST", path: "/api/checkout", body, isValid }, options);
    },
    async me({ signal } = {}) {
      const isValid = ({ identity_id }: Me): boolean => typeof identity_id === "string";
      return read({ path: "/api/me", signal, isValid });
    },
    async access({ signal } = {}) {
      const isValid = ({ apps }: Access): boolean => Array.isArray(apps);
      return read({ path: "/api/access", signal, isValid });
    },
    async stopApp(slug, { startedJobs, signal } = {}) {
      const path = `/api/access/apps/${encodeURIComponent(slug)}/stop`;
      const body = { started_jobs: startedJobs };
      const isValid = ({ app }: { app: AccessApp }): boolean => app?.state === "stopped";
      // A repetition stops the app again, which changes nothing.
      const call = { ...READ, method: "POST", path, body, credentials, signal } as const;
      return (await transport.send({ ...call, isValid })).body.app;
    },
    tokens: createTokens(transport, credentials),
    oauthToken: async (provider, { signal } = {}) =>
      readToken({ path: `/api/oauthToken/${encodeURIComponent(provider)}`, signal }),
    socialToken: async ({ signal } = {}) => readToken({ path: "/api/socialToken", signal }),
    sessionToken: async ({ template, signal } = {}) =>
      readToken({ path: "/api/sessionToken", query: { template }, signal }),
    getToken: createTokenGetter(bearer, credentials, () => client.sessionToken()),
    logInDevice: (login) => logInDevice(transport, login),
    startSignIn: ({ redirectTo } = {}) => leaveForSignIn(transport.origin, redirectTo),
    finishSignIn() {
      const token = takeToken();
      if (token !== null) bearer.use(token);
      return token;
    },
    async signOut({ signal } = {}) {
      // First, because the service may be unreachable.
      bearer.forget();
      const call = { ...READ, method: "POST", path: "/signout", signal } as const;
      await transport.send({ ...call, credentials: COOKIES, isValid: isDone });
    },
  };
  return client;
}

/** With cookies, the service gives a token for the page's own server, which is kept until it is about to expire. */
function createTokenGetter(
  bearer: Bearer,
  credentials: Credentials,
  issue: () => Promise<string>,
): () => Promise<string> {
  const source = credentials.cookies
    ? createBearer({ token: issue, kept: null, renew: issue, onToken: () => {} })
    : bearer;
  return async () => (await source.token()) ?? "";
}

function createRunner(
  jobs: Jobs,
  transport: Transport,
  credentials: Credentials,
  is_app: boolean,
): Pick<PassbookClient, "runJob" | "whenIdle"> {
  const running = new Set<Promise<unknown>>();
  const readCredits = async (signal: AbortSignal | undefined): Promise<number> => {
    const isValid = (body: Wallet): boolean => typeof body.account?.credits === "number";
    const { read } = createCalls(transport, credentials);
    return (await read({ path: "/api/wallet", signal, isValid })).account.credits;
  };
  return {
    runJob(job, work, run_options) {
      const background = (task: Promise<unknown>): void => {
        running.add(task);
        void task.finally(() => running.delete(task));
      };
      const { wait } = transport;
      const keeping = { keepFresh: () => keepFresh(credentials), readCredits };
      const runner = { jobs, background, wait, ...keeping, is_app };
      // Loaded with the first job, because most visits of a page run none.
      const run = import("./run_job.ts").then((it) => it.runJob(runner, job, work, run_options));
      // `whenIdle` waits for it too. The caller of `runJob` handles its error.
      background(run.catch(() => {}));
      return run;
    },
    async whenIdle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

function createTokens(transport: Transport, credentials: Credentials): PassbookClient["tokens"] {
  const { read } = createCalls(transport, credentials);
  return {
    async list({ signal } = {}) {
      const isValid = (body: { tokens: PersonalToken[] }): boolean => Array.isArray(body.tokens);
      return (await read({ path: "/api/tokens", signal, isValid })).tokens;
    },
    async change(id, body, { signal } = {}) {
      const path = `/api/tokens/${encodeURIComponent(id)}`;
      const isValid = (token: PersonalToken): boolean => typeof token.id === "string";
      // A repetition sets the same values again.
      const call = { ...READ, method: "PATCH", path, body, credentials, signal } as const;
      return (await transport.send({ ...call, isValid })).body;
    },
    async revoke(id, { signal } = {}) {
      const path = `/api/tokens/${encodeURIComponent(id)}`;
      let unknown = false;
      const onUnknown = (): void => void (unknown = true);
      const call = { ...READ, method: "DELETE", path, credentials, signal } as const;
      await transport.send({ ...call, isValid: isDone, onUnknown }).catch((error: unknown) => {
        // Not found after an attempt without a response: that attempt revoked it.
        if (unknown && isPassbookError(error, "personal_token_not_found")) return;
        throw error;
      });
    },
  };
}

/** @throws PassbookError `invalid_argument` if the address is invalid. */
export function transportOf(options: Omit<ServiceOptions, "onToken">): Transport {
  return createTransport({
    origin: readOrigin(options.baseUrl),
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    wait: options.wait ?? wait,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    retries: options.retries ?? RETRIES,
  });
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
