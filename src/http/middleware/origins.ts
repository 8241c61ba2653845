/** The allowlist applied: configured origins, the service's own, and those of registered apps. */
import { cors } from "hono/cors";
import { allowedUrl, isAllowedOrigin, type AllowedOrigin } from "../../domain/origins.ts";
import { UNKNOWN_AZP } from "../../domain/proof.ts";
import { factory, type AppContext } from "../context.ts";
import { refuseByAccept } from "../refusal_page.ts";
import { logRefusedOrigin } from "./refused_origins.ts";
import { refuse } from "../refusals.ts";

/** What is known without asking a store. */
async function configuredOrigins(context: AppContext): Promise<readonly AllowedOrigin[]> {
  const { config, keepOwned } = context.get("services");
  const allowed = await keepOwned(config.allowed_origins);
  return [{ kind: "exact", origin: context.get("base_url") }, ...allowed];
}

async function registeredOrigins(context: AppContext): Promise<readonly AllowedOrigin[]> {
  const apps = await context.get("services").apps.all();
  return [...apps.values()].flatMap((app) => app.origins);
}

/** Whether an `Origin` header may read answers and act with cookies. */
export async function isOriginAllowed(context: AppContext, origin: string): Promise<boolean> {
  if (isAllowedOrigin(origin, await configuredOrigins(context))) return true;
  return isAllowedOrigin(origin, await registeredOrigins(context));
}

/** The address `text` if people may be sent there, else null. */
export async function allowedRedirect(context: AppContext, text: string): Promise<URL | null> {
  const configured = allowedUrl(text, await configuredOrigins(context));
  return configured ?? allowedUrl(text, await registeredOrigins(context));
}

const share = cors({
  origin: (origin) => origin,
  credentials: true,
  allowMethods: ["GET", "POST", "PUT", "DELETE"],
  allowHeaders: ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"],
  exposeHeaders: [
    "Idempotency-Replayed",
    "Passbook-Request-Id",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "WWW-Authenticate",
  ],
  maxAge: 600,
});

/** CORS for the API, on errors too. An origin that is not allowed gets no header at all. */
export const corsForAllowedOrigins = factory.createMiddleware(async (context, next) => {
  const origin = context.req.header("Origin");
  if (origin !== undefined && (await isOriginAllowed(context, origin))) {
    return share(context, next);
  }
  if (origin !== undefined) logRefusedOrigin(context, "cors", origin);
  await next();
  context.res.headers.set("Vary", "Origin");
  return undefined;
});

/**
 * Stops a write that a cookie authenticates unless the page that asks is known: an allowed `Origin`,
 * or, where a browser sends none, `Sec-Fetch-Site: same-origin`. A bearer token is proof of intent.
 */
export const guardCookieWrites = factory.createMiddleware(async (context, next) => {
  if (context.get("caller").via === "bearer" || (await isFromAllowedPage(context))) return next();
  return refuse(context, { code: "origin_not_allowed" });
});

/**
 * Stops a page of strangers from asking with a person's cookie for what is worth a lot. Not a write, so
 * a client that says nothing of a page passes: it is no browser, or somebody typed the address.
 */
export const guardCookieReads = factory.createMiddleware(async (context, next) => {
  const { via } = context.get("caller");
  if (via === "bearer" || !(await isFromForeignPage(context))) return next();
  return refuse(context, { code: "origin_not_allowed" });
});

/** Whether the page behind a request is one of the family's. */
export async function isFromAllowedPage(context: AppContext): Promise<boolean> {
  const origin = context.req.header("Origin");
  if (origin === undefined) return context.req.header("Sec-Fetch-Site") === "same-origin";
  return isOriginAllowed(context, origin);
}

/**
 * The origin whose page sent a cookie request, as `azp`. A browser names the origin of a script's request to
 * another site, so a request without one is our own page's, a typed address or a program; if the browser says
 * that it came from another site all the same, its origin is unknown.
 */
export function requestingOrigin(context: AppContext): string {
  const origin = context.req.header("Origin");
  if (origin !== undefined) return origin;
  const site = context.req.header("Sec-Fetch-Site") ?? "none";
  return ["same-origin", "none"].includes(site) ? context.get("base_url") : UNKNOWN_AZP;
}

/** Whether the page behind a request is our own: of this very origin. */
export function isFromOwnPage(context: AppContext): boolean {
  const origin = context.req.header("Origin");
  return origin === undefined
    ? context.req.header("Sec-Fetch-Site") === "same-origin"
    : origin === context.get("base_url");
}

/**
 * Whether one of our own pages led the browser here. Navigations carry no `Origin`. A browser that does not send
 * `Sec-Fetch-Site` sends `Referer`, since our pages' policy is `same-origin`; no other site can set either.
 */
export function isNavigationFromOwnPage(context: AppContext): boolean {
  const site = context.req.header("Sec-Fetch-Site");
  if (site !== undefined) return site === "same-origin";
  const referer = URL.parse(context.req.header("Referer") ?? "");
  return referer?.origin === context.get("base_url");
}

/** Holds a form that the family's apps may send too to {@link isFromAllowedPage}. */
export const guardForm = factory.createMiddleware(async (context, next) =>
  (await isFromAllowedPage(context))
    ? next()
    : refuseByAccept(context, { code: "origin_not_allowed" }),
);

/**
 * Whether a browser says that the page behind a request is a stranger's. Unlike the check above it
 * lets a client pass that is no browser: without cookies there is nothing to abuse.
 */
export async function isFromForeignPage(context: AppContext): Promise<boolean> {
  const site = context.req.header("Sec-Fetch-Site") ?? "none";
  const silent = context.req.header("Origin") === undefined && site === "none";
  return !silent && !(await isFromAllowedPage(context));
}
