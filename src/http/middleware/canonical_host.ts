/** The service responds only at the host of `BASE_URL`, and only over https if `BASE_URL` has https. */
import { isLoopbackHost } from "../../domain/origins.ts";
import { factory, type AppContext } from "../context.ts";
import { refuseByAccept } from "../refusal_page.ts";

/** How long browsers remember to use only https (RFC 6797, section 6.1.1). */
const HSTS_MAX_AGE_SECONDS = 31_536_000;

/**
 * Refuses requests to another host or over plain http before anything else reads them. Development accepts any host:
 * `BASE_URL` may be missing there, and {@link isLoopbackRequest} protects development sign-in.
 */
export const requireCanonicalHost = factory.createMiddleware(async (context, next) => {
  const { base_url, dev_signin } = context.get("services").config;
  if (dev_signin || base_url === null) return next();
  const [sent_to, own] = [new URL(context.req.url), new URL(base_url)];
  // For example a foreign DNS name that points here, or the workers.dev name of a service with its own domain
  // (RFC 9110, section 15.5.20).
  if (sent_to.host !== own.host) return refuseByAccept(context, { code: "unknown_host", base_url });
  if (own.protocol !== "https:") return next();
  if (sent_to.protocol !== "https:") return redirectToHttps(context, sent_to, base_url);
  await next();
  // Never for loopback hosts: it would break every other service on the machine.
  context.header("Strict-Transport-Security", `max-age=${HSTS_MAX_AGE_SECONDS}`);
});

/**
 * Redirects page views to https. A request with a credential or a body, and an API call, is refused instead: a redirect
 * would hide from the developer that the request was sent unencrypted.
 */
function redirectToHttps(
  context: AppContext,
  { pathname, search }: URL,
  base_url: string,
): Response | Promise<Response> {
  const opens_page =
    ["GET", "HEAD"].includes(context.req.method) &&
    !/^\/api(\/|$)/.test(pathname) &&
    context.req.header("Authorization") === undefined;
  // Concatenated as text: `new URL` would read a path that begins with two slashes as another host.
  if (opens_page) return context.redirect(`${base_url}${pathname}${search}`, 308);
  return refuseByAccept(context, { code: "https_required", base_url });
}

/** Whether a request was sent to a loopback host name, which no one else can point at this machine. */
export function isLoopbackRequest(context: AppContext): boolean {
  return isLoopbackHost(new URL(context.req.url).hostname);
}
