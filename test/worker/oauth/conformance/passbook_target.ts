/** Our own service as a server under test. It runs in workerd and over HTTP. */
import { expect } from "vitest";
import type { Client, Target } from "./target.ts";
import { openVisitor, type Fetch, type Landing, type Page, type Visitor } from "./visitor.ts";

/** The operator of the development settings. */
const OPERATOR = "operator@example.com";

export const REDIRECT_URI = "https://client.test/callback";

export interface ServiceUnderTest {
  readonly issuer: string;
  readonly fetch: Fetch;
  wait(seconds: number): Promise<void>;
}

export interface RegisterClient {
  readonly public?: boolean;
  readonly redirect_uris?: readonly string[];
  readonly pkce_optional?: boolean;
}

export interface Operating {
  /** Calls the API as an operator in the console. */
  operate(method: string, path: string, body: object): Promise<Record<string, unknown>>;
  /** Registers a client of the app `conformance`, whose id and secret it returns. */
  registerClient(
    id: string,
    settings?: RegisterClient,
  ): Promise<{ readonly client_id: string; readonly client_secret: string }>;
}

export async function operateService({ issuer, fetch }: ServiceUnderTest): Promise<Operating> {
  const cookies = await signInForCookies(issuer, fetch);
  const operate: Operating["operate"] = async (method, path, body) => {
    const headers = { Cookie: cookies, Origin: issuer, "Content-Type": "application/json" };
    const init = { method, headers, body: JSON.stringify(body) };
    const response = await fetch(`${issuer}${path}`, init);
    const text = await response.text();
    expect([path, response.status, text]).toEqual([path, 200, text]);
    return JSON.parse(text) as Record<string, unknown>;
  };
  await operate("PUT", "/api/admin/apps/conformance", {
    name: "Conformance",
    starter_credits: 100,
    origins: [],
    daily_starter_budget: null,
  });
  return {
    operate,
    async registerClient(id, settings = {}) {
      const path = `/api/admin/apps/conformance/clients/${id}`;
      const registered = await operate("PUT", path, {
        name: `The client ${id}`,
        redirect_uris: [REDIRECT_URI],
        public: false,
        ...settings,
      });
      const { client_id, client_secret = "" } = registered;
      return { client_id: String(client_id), client_secret: String(client_secret) };
    },
  };
}

async function signInForCookies(issuer: string, fetch: Fetch): Promise<string> {
  const response = await fetch(`${issuer}/signin/dev`, {
    method: "POST",
    headers: { Origin: issuer },
    body: new URLSearchParams({ email: OPERATOR, redirect_to: `${issuer}/account` }),
    redirect: "manual",
  });
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}

/** Registers three clients that need no PKCE. */
export async function openPassbookTarget(
  service: ServiceUnderTest,
  operating: Operating,
): Promise<Target> {
  const clientOf = async (id: string, authentication: "basic" | "post"): Promise<Client> => {
    const registered = await operating.registerClient(id, { pkce_optional: true });
    return { ...registered, authentication, redirect_uri: REDIRECT_URI };
  };
  return {
    ...service,
    clients: {
      basic: await clientOf("basic", "basic"),
      post: await clientOf("post", "post"),
      other: await clientOf("other", "basic"),
    },
    openVisitor: () => openPassbookVisitor(service),
    fill: fillPassbookForm,
  };
}

let visitors = 0;

/** A browser with a network of its own, because sign-ins and authorizations of one network are limited. */
export function openPassbookVisitor({ issuer, fetch }: ServiceUnderTest): Visitor {
  visitors += 1;
  const network = `2001:db8:c:${(visitors % 65_536).toString(16)}::1`;
  return openVisitor(issuer, fetch, { "CF-Connecting-IP": network });
}

/** Signs in with the development form, or allows what the consent page shows. `choices`: changed fields of that page. */
export function fillPassbookForm(
  visitor: Visitor,
  page: Page,
  email: string,
  choices: Readonly<Record<string, string>> = {},
): ReturnType<Target["fill"]> {
  const signing_in = page.forms.find(({ action }) => action.pathname === "/signin/dev");
  if (signing_in !== undefined) {
    return { step: "sign_in", next: visitor.submit(signing_in, { email }) };
  }
  const consent = page.forms.find(({ buttons }) => buttons.some(({ text }) => ALLOW.test(text)));
  if (consent === undefined) return null;
  return { step: "consent", next: visitor.submit(consent, choices, ALLOW) };
}

const ALLOW = /^Allow\b/;

/** Opens an address as this person, and completes the pages until the server redirects elsewhere. */
export async function goThrough(
  visitor: Visitor,
  url: string | URL,
  email: string,
  choices: Readonly<Record<string, string>> = {},
): Promise<URL> {
  let landing: Landing = await visitor.open(new URL(url));
  for (let step = 0; step < 4 && landing.kind === "page"; step += 1) {
    const filled = fillPassbookForm(visitor, landing.page, email, choices);
    if (filled === null) break;
    landing = await filled.next;
  }
  if (landing.kind === "left") return landing.url;
  const { url: where, status, html } = landing.page;
  throw new Error(`It ends at ${where.href} with ${status}: ${html.replaceAll(/<[^>]*>/g, " ")}`);
}
