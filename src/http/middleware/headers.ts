/** Security and cache headers, set on the finished response. */
import { factory } from "../context.ts";

/** Only a job's own page loads a picture from a URL that an app provides. */
const PAGES_WITH_PICTURES = "/account/jobs/";

/** No inline code, no frames, and only our own scripts. */
const policyWith = (pictures: string): string =>
  `default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src ${pictures}; ` +
  "base-uri 'none'; frame-ancestors 'none'";
const POLICY = policyWith("'self'");
const POLICY_WITH_PICTURES = policyWith("'self' https:");

/**
 * The policy above has no `form-action`: browsers apply it also to the redirect after a form, and a sign-in ends at
 * another origin. `canonical_host.ts` sets the header that only https may have.
 */
const SAFE_HEADERS = Object.freeze([
  ["Origin-Agent-Cluster", "?1"],
  ["X-Content-Type-Options", "nosniff"],
  ["X-DNS-Prefetch-Control", "off"],
  ["X-Download-Options", "noopen"],
  ["X-Frame-Options", "DENY"],
  ["X-Permitted-Cross-Domain-Policies", "none"],
  ["X-XSS-Protection", "0"],
] as const);

/**
 * A client may open its authorization in a popup, whose last page, the client's own, tells the opener the result. The
 * browser cuts that connection for good if one page on the way, such as sign-in, has the policy `same-origin`.
 */
const PAGES_IN_POPUPS = /^\/(oauth|signin)(\/|$)/;

/**
 * The default of `Referrer-Policy` is `same-origin`. With `no-referrer` a browser would send `Origin: null` with our own
 * forms, and the check for cross-site posts would refuse them.
 */
export const securityHeaders = factory.createMiddleware(async (context, next) => {
  await next();
  const { headers } = context.res;
  const loads_pictures = context.req.path.startsWith(PAGES_WITH_PICTURES);
  headers.set("Content-Security-Policy", loads_pictures ? POLICY_WITH_PICTURES : POLICY);
  const opener_policy = PAGES_IN_POPUPS.test(context.req.path) ? "unsafe-none" : "same-origin";
  headers.set("Cross-Origin-Opener-Policy", opener_policy);
  for (const [name, value] of SAFE_HEADERS) headers.set(name, value);
  if (!headers.has("Referrer-Policy")) headers.set("Referrer-Policy", "same-origin");
});

/** No cache may store responses about a person. */
export const noStore = factory.createMiddleware(async (context, next) => {
  await next();
  context.res.headers.set("Cache-Control", "no-store");
});
