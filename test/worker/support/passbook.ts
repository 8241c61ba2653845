/** A client of the Worker for tests, which uses HTTP like an app or browser. */
import { env } from "cloudflare:workers";
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { servicesFor } from "../../../src/services.ts";
import worker from "../../../src/worker.ts";
import { expectDocumented } from "./conformance.ts";

/** A loopback name, because the development sign-in is served only there. */
export const BASE_URL = "http://passbook.localhost";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON body; null if it is not JSON. */
  readonly body: any; // oxlint-disable-line typescript/no-explicit-any -- tests look into it freely
  readonly text: string;
}

export interface Sent {
  readonly headers?: HeadersInit;
  readonly body?: BodyInit | null;
}

let environments = new WeakMap<object, Env>();

/**
 * The test environment with some variables or bindings replaced; `undefined` removes one. The same settings
 * give the same environment, whose services are created once as in an isolate.
 */
export function environmentWith(settings: object): Env {
  const environment = environments.get(settings) ?? { ...env, ...settings };
  environments.set(settings, environment);
  return environment;
}

/** Starts with new services, as a new isolate would: nothing is cached. */
export function forgetEnvironments(): void {
  environments = new WeakMap();
  const services = servicesFor(env);
  if (services.ok) services.value.apps.forget();
}

/**
 * Sends one request to the Worker, with `settings` in place of the usual ones; a path goes to their
 * `BASE_URL`.
 */
export async function send(
  method: string,
  path: string,
  init: Sent = {},
  settings: object = {},
): Promise<Answer> {
  const environment = Object.keys(settings).length === 0 ? env : environmentWith(settings);
  const context = createExecutionContext();
  const { BASE_URL: configured } = settings as { BASE_URL?: unknown };
  const own_address =
    typeof configured === "string" && URL.canParse(configured) ? configured : BASE_URL;
  const request = new Request(new URL(path, own_address), { method, redirect: "manual", ...init });
  const response = await worker.fetch(request, environment, context);
  const text = await response.text();
  await waitOnExecutionContext(context);
  const answer = { status: response.status, headers: response.headers, body: parse(text), text };
  expectDocumented(method, request.url, answer);
  return answer;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Someone signed in through the development form. */
export interface SignedIn {
  readonly token: string;
  readonly identity_id: string;
  /** The `Cookie` header a browser would send. */
  readonly cookies: string;
  get(path: string): Promise<Answer>;
  /** With the cookies, from a page of the service itself. */
  getOwn(path: string): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
}

let sign_ins = 0;

/** Signs in a local user and returns calls with their bearer token. */
/** `settings`: those of the isolate in which the person signs in. */
export async function signIn(email = "ada@example.com", settings: object = {}): Promise<SignedIn> {
  const form = new URLSearchParams({ email, redirect_to: "http://localhost:3000/back" });
  sign_ins += 1;
  // From their own network, because sign-ins of one network are limited.
  const headers = { "CF-Connecting-IP": `2001:db8:${(sign_ins % 65_536).toString(16)}::1` };
  const landed = await send("POST", "/signin/dev", { headers, body: form }, settings);
  const token = new URL(landed.headers.get("Location") ?? "").searchParams.get("token") ?? "";
  const [, payload = ""] = token.split(".");
  const claims = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
  const cookies = landed.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
  const authorization = { Authorization: `Bearer ${token}` };
  return {
    token,
    identity_id: claims.sub,
    cookies,
    get: (path) => send("GET", path, { headers: authorization }),
    getOwn: (path) => send("GET", path, { headers: { Cookie: cookies, Origin: BASE_URL } }),
    post: (path, body, headers = {}) =>
      send("POST", path, {
        headers: { ...authorization, "Content-Type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
  };
}

/** Signs in and receives the development starter credits of 100 for `app`. */
export async function signInWithCredits(app = "demo", email?: string): Promise<SignedIn> {
  const person = await signIn(email);
  await person.get(`/api/wallet?app=${app}`);
  return person;
}
