/** The caller's credentials: a token, a function that returns one, or the browser's cookies. */
import { isPassbookError, PassbookError } from "./errors.ts";

/** Returns a token. It is called when a token is needed, and again when that token is about to expire. */
export type TokenSource = () => string | Promise<string>;

export interface Credentials {
  /** Whether requests carry the browser's cookies. */
  readonly cookies: boolean;
  /** The token to send; null if cookies are sent instead. @throws PassbookError `no_credentials` without a token */
  token(): Promise<string | null>;
  /** Gets another token after the service refused the last one. False if there is no other. */
  replace(): Promise<boolean>;
}

/** A token is renewed if it expires within this time. */
const RENEW_BEFORE_MS = 60_000;

/** Less than half of it: timers of pages in the background run late. */
const CHECK_INTERVAL_MS = 20_000;

const PERSONAL_TOKEN_PREFIX = "pb_pat_";

/** Requests carry the browser's cookies. */
export const COOKIES: Credentials = {
  cookies: true,
  token: async () => null,
  replace: async () => false,
};

/** Where a page keeps its token over reloads, such as `sessionStorage`. */
export interface TokenStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface BearerOptions {
  readonly token: string | TokenSource | null;
  /** Keeps the token; null: it is kept in memory only. */
  readonly kept: KeptToken | null;
  /** Exchanges a valid token for a new one at the service. */
  readonly renew: (token: string) => Promise<string>;
  /** Called with each new token, so that the app can store it. */
  readonly onToken: (token: string) => void;
}

export interface Bearer extends Credentials {
  /** Uses this token from now on. */
  use(token: string): void;
  /** Uses no token until `use`, or until the source gives another one. */
  forget(): void;
}

/** A token in a storage. */
export interface KeptToken {
  /** Null without a token; undefined if the storage does not work. */
  get(): string | null | undefined;
  set(token: string | null): void;
}

/** Keeps the token of one service. A page may not be allowed to use its storage, or the storage may be full. */
export function keptIn(storage: TokenStorage, service_origin: string): KeptToken {
  const key = `passbook_token ${service_origin}`;
  let works = true;
  const attempt = <Value>(operation: () => Value): Value | undefined => {
    try {
      if (works) return operation();
    } catch {
      works = false;
    }
    return undefined;
  };
  return {
    get: () => attempt(() => storage.getItem(key)),
    set(token) {
      attempt(() => (token === null ? storage.removeItem(key) : storage.setItem(key, token)));
    },
  };
}

/**
 * A bearer token. Session tokens live 15 minutes. A token given as text is renewed at the service before it expires; for
 * a function, the function is called again.
 */
export function createBearer({ token: given, kept, renew, onToken }: BearerOptions): Bearer {
  const source = typeof given === "function" ? given : null;
  // A variable of the environment may be empty.
  let memory = typeof given === "string" && given !== "" ? given : null;
  const keep = (token: string | null): void => {
    memory = token;
    kept?.set(token);
  };
  // Another tab may have renewed a kept token, or signed out.
  const read = (): string | null => {
    const stored = kept?.get();
    if (stored !== undefined) memory = stored !== null && TOKEN.test(stored) ? stored : null;
    return memory;
  };
  let renewing: Promise<string> | null = null;
  // Concurrent requests share one renewal. A failed renewal is forgotten, so that the next request tries again.
  const renewOnce = (): Promise<string> => {
    renewing ??= (async () => {
      const before = read();
      try {
        const next = source === null ? await renew(before ?? "") : checkToken(await source());
        // A sign-out or another sign-in meanwhile is not undone.
        if (read() !== before) return next;
        keep(next);
        onToken(next);
        return next;
      } catch (error) {
        // A kept token that expired while no page ran cannot be renewed.
        const is_dead = DEAD.some((code) => isPassbookError(error, code));
        if (kept !== null && is_dead && read() === before) keep(null);
        throw error;
      } finally {
        renewing = null;
      }
    })();
    return renewing;
  };
  return {
    cookies: false,
    use(token) {
      keep(checkToken(token));
      onToken(token);
    },
    forget: () => keep(null),
    async token() {
      const current = read();
      if (current === null && source === null) {
        const message = "There is no token. Sign in first, or pass token to createClient.";
        throw new PassbookError("no_credentials", message);
      }
      if (current === null) return renewOnce();
      const left_ms = remainingLifeMs(current);
      if (left_ms > RENEW_BEFORE_MS) return current;
      const still_good = left_ms > 0 ? current : null;
      // While the old token is valid, a failed renewal does not fail the request.
      return renewOnce().catch((error: unknown) => {
        if (still_good !== null) return still_good;
        throw error;
      });
    },
    async replace() {
      if (source === null) return false;
      const refused = read();
      return (await renewOnce()) !== refused;
    },
  };
}

/**
 * Renews the token in time while long work sends no requests: an expired token cannot be renewed.
 * @returns a function that stops the renewals.
 */
export function keepFresh(credentials: Credentials): () => void {
  const renewIfDue = (): void => void credentials.token().catch(() => {});
  const timer = setInterval(renewIfDue, CHECK_INTERVAL_MS);
  return () => clearInterval(timer);
}

/** The service's refusals of a token that is not valid any more. */
const DEAD = ["token_expired", "unauthorized"] as const;

const TOKEN = /^[\x21-\x7e]+$/;

/** The value of a header must be one line of visible characters. */
function checkToken(token: string): string {
  if (typeof token === "string" && TOKEN.test(token)) return token;
  throw new PassbookError(
    "no_credentials",
    "The token must be text of visible ASCII characters without spaces.",
  );
}

/** Milliseconds until a JWT expires; infinite for a personal access token and for a token without `exp`. */
function remainingLifeMs(token: string): number {
  if (token.startsWith(PERSONAL_TOKEN_PREFIX)) return Number.POSITIVE_INFINITY;
  try {
    const payload = token.split(".")[1] ?? "";
    const claims: unknown = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    const { exp } = claims as { exp?: unknown };
    return typeof exp === "number" ? exp * 1000 - Date.now() : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
