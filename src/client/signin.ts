/** Sign-in by redirect, in a web page. */
import { PassbookError } from "./errors.ts";

/** The query parameter that binds the return to the browser that started the sign-in. */
const STATE_PARAMETER = "passbook_state";
const STATE_KEY = "passbook_signin_state";

/** The members of a page's window that sign-in uses. */
interface PageWindow {
  readonly location: { href: string; assign(url: string): void };
  readonly history: { replaceState(data: unknown, unused: string, url: string): void };
  readonly sessionStorage: {
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
    removeItem(key: string): void;
  };
}

function pageWindow(): PageWindow {
  const page = globalThis as unknown as Partial<PageWindow>;
  if (page.location !== undefined && page.sessionStorage !== undefined) return page as PageWindow;
  throw new PassbookError(
    "invalid_argument",
    "Sign-in by redirect works in a web page only. Programs use logInDevice.",
  );
}

/** Opens the service's sign-in page, which returns to `redirect_to`, or to this page if it is omitted. */
export function leaveForSignIn(origin: string, redirect_to: string | undefined): void {
  const page = pageWindow();
  const back = new URL(redirect_to ?? page.location.href, page.location.href);
  back.searchParams.delete("token");
  const state = crypto.randomUUID();
  back.searchParams.set(STATE_PARAMETER, state);
  page.sessionStorage.setItem(STATE_KEY, state);
  const signin = new URL("/signin", origin);
  signin.searchParams.set("redirect_to", back.href);
  page.location.assign(signin.href);
}

/**
 * Takes the token of a sign-in that this browser started out of the page's URL. The URL is cleaned in every case, so that
 * no token stays in the history.
 * @returns the token; null if the page was not opened by a sign-in.
 * @throws PassbookError `signin_failed` if this browser did not start the sign-in. Such a link would sign its reader in
 * as another person.
 */
export function takeToken(): string | null {
  const page = pageWindow();
  const address = new URL(page.location.href);
  const token = address.searchParams.get("token");
  const state = address.searchParams.get(STATE_PARAMETER);
  if (token === null && state === null) return null;
  address.searchParams.delete("token");
  address.searchParams.delete(STATE_PARAMETER);
  page.history.replaceState(null, "", address.href);
  const expected = page.sessionStorage.getItem(STATE_KEY);
  page.sessionStorage.removeItem(STATE_KEY);
  if (token !== null && state !== null && state === expected) return token;
  throw new PassbookError(
    "signin_failed",
    "This browser did not start that sign-in. Sign in again.",
  );
}
