/** What proves who calls: a token, a function that gives one, or a browser's cookies. */
import { PassbookError } from "./errors.ts";

/** Gives a token whenever one is needed; called again when the last one has run out. */
export type TokenSource = () => string | Promise<string>;

export interface Credentials {
  /** Whether requests carry the browser's cookies. */
  readonly cookies: boolean;
  /** The token to send; null where cookies are sent instead. @throws where there is none to send. */
  token(): Promise<string | null>;
  /** Looks for another token after the service refused the last one. False: there is none. */
  replace(): Promise<boolean>;
}

/** A token is renewed when it would run out within this. */
const RENEW_BEFORE_MS = 60_000;

/** Under half of it, for pages in the background, whose timers are late. */
const LOOK_EVERY_MS = 20_000;

const PERSONAL_TOKEN_PREFIX = "pb_pat_";

/** The cookies of the page's browser. */
export const COOKIES: Credentials = {
  cookies: true,
  token: async () => null,
  replace: async () => false,
};

export interface BearerOptions {
  readonly token: string | TokenSource | null;
  /** Asks the service for a new token with one that still works. */
  readonly renew: (token: string) => Promise<string>;
  /** Told of each new token, for who keeps them. */
  readonly onToken: (token: string) => void;
}

export interface Bearer extends Credentials {
  /** Uses this token from now on. */
  use(token: string): void;
}

/**
 * A bearer token. Session tokens live a quarter of an hour: one that was given as text is renewed at the
 * service before it runs out, one from a function is asked of it again.
 */
export function createBearer({ token: given, renew, onToken }: BearerOptions): Bearer {
  const source = typeof given === "function" ? given : null;
  let current = typeof given === "string" ? given : null;
  let renewing: Promise<string> | null = null;
  // One renewal for all who wait; a failed one is not remembered.
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
    async token() {
      if (current === null && source === null) {
        const message = "There is no token: sign in first, or give one to createClient.";
        throw new PassbookError("no_credentials", message);
      }
      if (current === null) return renewOnce();
      const left_ms = lifeLeft(current);
      if (left_ms > RENEW_BEFORE_MS) return current;
      const still_good = left_ms > 0 ? current : null;
      // While the old one works, a renewal that fails stops nobody.
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
 * Renews the token in time while something goes on that asks for none: once it has run out, it gets no other.
 * @returns what ends that.
 */
export function keepFresh(credentials: Credentials): () => void {
  const look = (): void => void credentials.token().catch(() => {});
  const timer = setInterval(look, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

/** A header's value must be one line of visible characters. */
function checkToken(token: string): string {
  if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new PassbookError("no_credentials", "The token is not one.");
}

/** Milliseconds until a JWT runs out; a token that does not say so, or lives for months, never does. */
function lifeLeft(token: string): number {
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
