/** Applies the allowlist: the service's own origin, configured origins, and origins of registered apps. */
import { cors } from "hono/cors";
import { allowedUrl, isAllowedOrigin, type AllowedOrigin } from "../../domain/origins.ts";
import { UNKNOWN_AZP } from "../../domain/proof.ts";
import { factory, type AppContext } from "../context.ts";
import { refuseByAccept } from "../refusal_page.ts";
import { logRefusedOrigin } from "./refused_origins.ts";
import { refuse } from "../refusals.ts";

/** The origins that are known without a query. */
async function configuredOrigins(context: AppContext): Promise<readonly AllowedOrigin[]> {
  const { config, keepOwned } = context.get("services");
  const allowed = await keepOwned(config.allowed_origins);
  return [{ kind: "exact", origin: context.get("base_url") }, ...allowed];
}

async function registeredOrigins(context: AppContext): Promise<readonly AllowedOrigin[]> {
  const apps = await context.get("services").apps.all();
  return [...apps.values()].flatMap((app) => app.origins);
}

/** Whether an origin may read responses and send cookies. */
export async function isOriginAllowed(context: AppContext, origin: string): Promise<boolean> {
  if (isAllowedOrigin(origin, await configuredOrigins(context))) return true;
  return isAllowedOrigin(origin, await registeredOrigins(context));
}

/** The URL in `text` if it is on a configured origin, or on one of an app; null if not. `app_slug`: null for every app. */
export async function allowedReturn(
  context: AppContext,
  text: string,
  app_slug: string | null,
): Promise<URL | null> {
  const { config, keepOwned, apps } = context.get("services");
  const configured = allowedUrl(text, await keepOwned(config.allowed_origins));
  if (configured !== null) return configured;
  const origins =
    app_slug === null
      ? await registeredOrigins(context)
      : ((await apps.all()).get(app_slug)?.origins ?? []);
  return allowedUrl(text, origins);
}

/** The URL in `text` if a redirect to it is allowed, else null. */
export async function allowedRedirect(context: AppContext, text: string): Promise<URL | null> {
  const configured = allowedUrl(text, await configuredOrigins(context));
  return configured ?? allowedUrl(text, await registeredOrigins(context));
}

const share = cors({
  origin: (origin) => origin,
  credentials: true,
  allowMethods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
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

/** CORS for the API, also on errors. An origin that is not allowed gets no CORS header. */
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
 * Refuses a write with a cookie unless it comes from a page of an allowed origin: `Origin` is allowed, or it is missing
 * and `Sec-Fetch-Site` is `same-origin`. A bearer token needs no check, since browsers never add one by themselves.
 */
export const guardCookieWrites = factory.createMiddleware(async (context, next) =>
  (await isForeignCookieWrite(context)) ? refuse(context, { code: "origin_not_allowed" }) : next(),
);

/** Whether {@link guardCookieWrites} refuses the request. */
export async function isForeignCookieWrite(context: AppContext): Promise<boolean> {
  return context.get("caller").via === "cookie" && !(await isFromAllowedPage(context));
}

/**
 * Refuses a read of sensitive data with a cookie from a page of an origin that is not allowed. A request that names no
 * page passes: it comes from a program or a typed address.
 */
export const guardCookieReads = factory.createMiddleware(async (context, next) => {
  const { via } = context.get("caller");
  if (via === "bearer" || !(await isFromForeignPage(context))) return next();
  return refuse(context, { code: "origin_not_allowed" });
});

/** Whether the page that sent a request has an allowed origin. */
async function isFromAllowedPage(context: AppContext): Promise<boolean> {
  const origin = context.req.header("Origin");
  if (origin === undefined) return context.req.header("Sec-Fetch-Site") === "same-origin";
  return isOriginAllowed(context, origin);
}

/**
 * The origin of the page that sent a cookie request, for the claim `azp`. Browsers send `Origin` with a script's request
 * to another site, so a request without it comes from our own page, a typed address or a program. If `Sec-Fetch-Site`
 * contradicts that, the origin is unknown.
 */
export function requestingOrigin(context: AppContext): string {
  const origin = context.req.header("Origin");
  if (origin !== undefined) return origin;
  const site = context.req.header("Sec-Fetch-Site") ?? "none";
  return ["same-origin", "none"].includes(site) ? context.get("base_url") : UNKNOWN_AZP;
}

/** Whether the page that sent a request has the service's own origin. */
export function isFromOwnPage(context: AppContext): boolean {
  const origin = context.req.header("Origin");
  return origin === undefined
    ? context.req.header("Sec-Fetch-Site") === "same-origin"
    : origin === context.get("base_url");
}

/**
 * Whether a navigation started on one of our own pages. Navigations have no `Origin`. A browser without
 * `Sec-Fetch-Site` sends `Referer`, since our pages' policy is `same-origin`; other sites can set neither.
 */
export function isNavigationFromOwnPage(context: AppContext): boolean {
  const site = context.req.header("Sec-Fetch-Site");
  if (site !== undefined) return site === "same-origin";
  const referer = URL.parse(context.req.header("Referer") ?? "");
  return referer?.origin === context.get("base_url");
}

/** For a form that apps may also send: requires {@link isFromAllowedPage}. */
export const guardForm = factory.createMiddleware(async (context, next) =>
  (await isFromAllowedPage(context))
    ? next()
    : refuseByAccept(context, { code: "origin_not_allowed" }),
);

/**
 * Whether a browser reports that a page of an origin that is not allowed sent the request. Unlike
 * {@link isFromAllowedPage} it accepts requests without such headers: they come from programs, which hold no one's cookies.
 */
export async function isFromForeignPage(context: AppContext): Promise<boolean> {
  const site = context.req.header("Sec-Fetch-Site") ?? "none";
  const names_no_page = context.req.header("Origin") === undefined && site === "none";
  return !names_no_page && !(await isFromAllowedPage(context));
}
