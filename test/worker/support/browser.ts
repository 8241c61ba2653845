/** A browser for tests in workerd. It stores cookies and sends its origin. */
import { expect } from "vitest";
import type { PersonAtProvider, ProviderDouble } from "./provider_double.ts";
import { BASE_URL, send, type Answer } from "./passbook.ts";

/** The origin of the tests' app, which the development settings allow. */
export const APP = "http://localhost:3000";
export const BACK = `${APP}/back`;
/** The redirect of `/account` without a session. */
export const SIGN_IN_FIRST = /\/signin\?redirect_to=https?%3A%2F%2F[a-z.]+%2Faccount$/;

export interface Browser {
  /** Cookies by name, as the Worker set them. */
  readonly cookies: Map<string, string>;
  /** Navigates, as a click on another site does. */
  get(address: string, headers?: Record<string, string>): Promise<Answer>;
  /** Posts a form of the service's own page. */
  post(
    path: string,
    form?: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Starts a sign-in: the address at the provider. */
  start(method_id: string, redirect_to?: string): Promise<string>;
  /** Completes a sign-in at a provider; returns the response of the callback. */
  signIn(provider: ProviderDouble, person: PersonAtProvider, redirect_to?: string): Promise<Answer>;
}

let browsers = 0;

/** Opens a browser with no cookies. `settings` are the Worker's, for all its requests. */
export function openBrowser(settings: Readonly<Record<string, unknown>> = {}): Browser {
  const cookies = new Map<string, string>();
  // From its own network, because sign-ins of one network are limited.
  browsers += 1;
  const network = `2001:db8:b:${(browsers % 65_536).toString(16)}::1`;
  const { BASE_URL: configured } = settings;
  const own_origin = typeof configured === "string" ? configured : BASE_URL;
  const go = async (
    method: string,
    address: string,
    init: { headers: Record<string, string>; body?: BodyInit },
  ): Promise<Answer> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = {
      Accept: "text/html",
      "CF-Connecting-IP": network,
      ...(cookie === "" ? {} : { Cookie: cookie }),
    };
    const answer = await send(
      method,
      new URL(address, own_origin).href,
      { ...init, headers: { ...headers, ...init.headers } },
      settings,
    );
    for (const set_cookie of answer.headers.getSetCookie()) keep(cookies, set_cookie);
    return answer;
  };
  const browser: Browser = {
    cookies,
    get: (address, headers = {}) => go("GET", address, { headers }),
    post: (path, form = {}, headers = { Origin: own_origin }) =>
      go("POST", path, { headers, body: new URLSearchParams(form) }),
    async start(method_id, redirect_to = BACK) {
      const query = new URLSearchParams({ redirect_to }).toString();
      const from_own_page = { "Sec-Fetch-Site": "same-origin" };
      const started = await browser.get(`/signin/${method_id}?${query}`, from_own_page);
      return started.headers.get("Location") ?? "";
    },
    async signIn(provider, person, redirect_to) {
      const url = await browser.start(provider.settings.id, redirect_to);
      return browser.get(provider.approve(url, person).href);
    },
  };
  return browser;
}

function keep(cookies: Map<string, string>, set_cookie: string): void {
  const [pair = "", ...attributes] = set_cookie.split("; ");
  const [name = "", ...value] = pair.split("=");
  if (attributes.includes("Max-Age=0")) cookies.delete(name);
  else cookies.set(name, value.join("="));
}

/** The token in a redirect's fragment; null: it has none. */
export function tokenOf(landing: Answer): string | null {
  const location = landing.headers.get("Location");
  return location === null ? null : new URL(location, BASE_URL).searchParams.get("token");
}

/** Who a session token is about. */
export function subjectOf(token: string | null): string {
  const payload = token?.split(".")[1] ?? "";
  return JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))).sub;
}

/** Expects that the browser has no session and that the page said so. */
export async function expectNobody(browser: Browser, status: number): Promise<void> {
  expect(status).toBeGreaterThanOrEqual(400);
  expect(browser.cookies.has("passbook_session")).toBe(false);
  const account = await browser.get("/account");
  expect(account.headers.get("Location")).toMatch(SIGN_IN_FIRST);
}
