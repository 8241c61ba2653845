/** Authorization requests of OAuth clients, and the consent page, for tests in workerd. */
import { vi } from "vitest";
import { openBrowser, type Browser } from "./browser.ts";
import { registerApp } from "./directory_outage.ts";
import { BASE_URL, forgetEnvironments, type Answer } from "./passbook.ts";
import { registerClient } from "./registrations.ts";

export const CALLBACK = "https://demo.example/callback";
/** The challenge of RFC 7636, appendix B, and its verifier. */
export const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
export const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

export type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parameters of a valid request; undefined removes one, an array sends it several times. */
export function queryOf(changes: Parameters = {}): string {
  const valid = {
    response_type: "code",
    client_id: "demo~web",
    redirect_uri: CALLBACK,
    scope: "openid write",
    state: "state-1",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...valid, ...changes })) {
    for (const one of value === undefined ? [] : [value].flat()) query.append(name, one);
  }
  return query.toString();
}

/** The app `demo` with its client `demo~web`. */
export async function registerDemo(
  client: Readonly<Record<string, string | number>> = {},
): Promise<void> {
  await registerApp("demo", {});
  await registerClient("demo", "web", { name: "Demo web", public: 1, ...client });
  forgetEnvironments();
}

/** A browser whose person signed in through the development form. */
export async function signedInBrowser(
  email = "ada@example.com",
  settings: Readonly<Record<string, unknown>> = {},
): Promise<Browser> {
  const browser = openBrowser(settings);
  await browser.post("/signin/dev", { email });
  return browser;
}

export const authorize = (browser: Browser, changes: Parameters = {}): Promise<Answer> =>
  browser.get(`/oauth/authorize?${queryOf(changes)}`);

/** The values that a page's form starts with, as a browser would send them. */
export function formOf(page: Answer): Record<string, string> {
  const fields: Record<string, string> = {};
  const form = /<form method="post" action="\/oauth\/authorize\/allow"[\s\S]*?<\/form>/.exec(
    page.text,
  )?.[0];
  if (form === undefined) throw new Error(`no consent form in ${page.text}`);
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const name = attribute(tag, "name");
    const is_choice = /type="(radio|checkbox)"/.test(tag);
    if (name === null || (is_choice && !/ checked/.test(tag))) continue;
    fields[name] ??= attribute(tag, "value") ?? "";
  }
  for (const [select] of form.matchAll(/<select[\s\S]*?<\/select>/g)) {
    const chosen = /<option value="([^"]*)" selected/.exec(select)?.[1];
    fields[attribute(select, "name") ?? ""] ??= chosen ?? "";
  }
  return fields;
}

function attribute(tag: string, name: string): string | null {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
  return value?.replaceAll("&amp;", "&") ?? null;
}

/** Sends the page's form with some values changed. */
export const allow = (
  browser: Browser,
  page: Answer,
  changes: Record<string, string> = {},
): Promise<Answer> => browser.post("/oauth/authorize/allow", { ...formOf(page), ...changes });

export const deny = (browser: Browser, page: Answer): Promise<Answer> =>
  browser.post("/oauth/authorize/deny", formOf(page));

/** The parameters that a redirect gives to the client at an address; null: it goes elsewhere. */
export function responseTo(
  { status, headers }: Answer,
  redirect_uri = CALLBACK,
): Readonly<Record<string, string>> | null {
  const location = headers.get("Location") ?? "";
  if (status !== 303 || !location.startsWith(redirect_uri)) return null;
  const rest = location.slice(redirect_uri.length);
  return rest === "" || !/^[?&]/.test(rest)
    ? null
    : Object.fromEntries(new URLSearchParams(rest.slice(1)));
}

/** Serves documents of clients by their `client_id`; returns the addresses that were fetched. */
export function serveDocuments(
  documents: readonly { readonly client_id: string; readonly [member: string]: unknown }[],
): string[] {
  const fetched: string[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const url = input instanceof Request ? input.url : String(input);
    fetched.push(url);
    const document = documents.find(({ client_id }) => client_id === url);
    return document === undefined
      ? new Response("not found", { status: 404 })
      : Response.json(document);
  });
  return fetched;
}

/** What the Worker's address for a request is. */
export const pageAddress = (changes: Parameters = {}): string =>
  `${BASE_URL}/oauth/authorize?${queryOf(changes)}`;
