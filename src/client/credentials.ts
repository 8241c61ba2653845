/** The caller's credentials: a token, a function that returns one, or the browser's cookies. */
import { PassbookError } from "./errors.ts";

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

export interface BearerOptions {
  readonly token: string | TokenSource | null;
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

/**
 * A bearer token. Session tokens live 15 minutes. A token given as text is renewed at the service before it expires; for
 * a function, the function is called again.
 */
export function createBearer({ token: given, renew, onToken }: BearerOptions): Bearer {
  const source = typeof given === "function" ? given : null;
  let current = typeof given === "string" ? given : null;
  let renewing: Promise<string> | null = null;
  // Concurrent requests share one renewal. A failed renewal is forgotten, so that the next request tries again.
  const renewOnce = (): Promise<string> => {
    renewing ??= (async () => {
      try {
        const next = source === null ? await renew(current ?? "") : checkToken(await source());
        current = next;
        onToken(next);
        return next;
      } finally {
        renewing = null;
      }
    })();
    return renewing;
  };
  return {
    cookies: false,
    use(token) {
      current = checkToken(token);
    },
    forget() {
      current = null;
    },
    async token() {
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
      const refused = current;
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

/** The value of a header must be one line of visible characters. */
function checkToken(token: string): string {
  if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return token;
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
