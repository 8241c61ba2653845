/** The service is found at its own address alone: at `BASE_URL`'s host, over https where that is https. */
import { isLoopbackHost } from "../../domain/origins.ts";
import { factory, type AppContext } from "../context.ts";
import { refuseByAccept } from "../refusal_page.ts";

/** How long browsers remember to use only https (RFC 6797, section 6.1.1). */
const HSTS_MAX_AGE_SECONDS = 31_536_000;

/**
 * Turns away what was sent to another host, or in clear, before anything else is read of it. In
 * development any host is served: there `BASE_URL` may be missing, and {@link isLoopbackRequest} guards
 * what must not leave the machine.
 */
export const requireCanonicalHost = factory.createMiddleware(async (context, next) => {
  const { base_url, dev_signin } = context.get("services").config;
  if (dev_signin || base_url === null) return next();
  const [sent_to, own] = [new URL(context.req.url), new URL(base_url)];
  // A name that somebody points at us, or our workers.dev name beside a domain of our own (RFC 9110,
  // section 15.5.20).
  if (sent_to.host !== own.host) return refuseByAccept(context, { code: "unknown_host", base_url });
  if (own.protocol !== "https:") return next();
  if (sent_to.protocol !== "https:") return leadToHttps(context, sent_to, base_url);
  await next();
  // Never for loopback, where it would break every other service on the machine.
  context.header("Strict-Transport-Security", `max-age=${HSTS_MAX_AGE_SECONDS}`);
});

/**
 * A page somebody opens goes on over https. What carries a credential, a body or a call of the API is
 * refused instead, so that whoever wrote it mends it: a redirect would hide that it went in clear.
 */
function leadToHttps(
  context: AppContext,
  { pathname, search }: URL,
  base_url: string,
): Response | Promise<Response> {
  const opens_page =
    ["GET", "HEAD"].includes(context.req.method) &&
    !/^\/api(\/|$)/.test(pathname) &&
    context.req.header("Authorization") === undefined;
  // Put together as text: a path that begins with two slashes would be read as another host.
  if (opens_page) return context.redirect(`${base_url}${pathname}${search}`, 308);
  return refuseByAccept(context, { code: "https_required", base_url });
}

/** Whether a request was sent to this machine by a name that no one else can point here. */
export function isLoopbackRequest(context: AppContext): boolean {
  return isLoopbackHost(new URL(context.req.url).hostname);
}
