/** Headers that every answer of a kind carries; set once the answer is there, in one pass. */
import { factory } from "../context.ts";

/** The pages that show pictures which apps name; no other loads them. */
const PAGES_WITH_PICTURES: ReadonlySet<string> = new Set(["/account", "/account/jobs"]);

/** Nothing inline, no scripts but our own files, no frames. */
const policyWith = (pictures: string): string =>
  `default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src ${pictures}; ` +
  "base-uri 'none'; frame-ancestors 'none'";
const POLICY = policyWith("'self'");
const POLICY_WITH_PICTURES = policyWith("'self' https:");

/**
 * No sniffing, no frames. The policy's `form-action` stays open: browsers hold it against the redirect
 * that follows a form too, and a sign-in ends at another origin. What is only said where the service is
 * https is in `canonical_host.ts`; which other origins may read an answer, CORS says.
 */
const SAFE_HEADERS = Object.freeze([
  ["Cross-Origin-Opener-Policy", "same-origin"],
  ["Origin-Agent-Cluster", "?1"],
  ["X-Content-Type-Options", "nosniff"],
  ["X-DNS-Prefetch-Control", "off"],
  ["X-Download-Options", "noopen"],
  ["X-Frame-Options", "DENY"],
  ["X-Permitted-Cross-Domain-Policies", "none"],
  ["X-XSS-Protection", "0"],
] as const);

/**
 * Our addresses stay ours: `same-origin`, unless a handler said more. Not `no-referrer` everywhere: a
 * browser then sends `Origin: null` with our own forms, which the check for cross-site posts would
 * refuse.
 */
export const securityHeaders = factory.createMiddleware(async (context, next) => {
  await next();
  const { headers } = context.res;
  const shows_pictures = PAGES_WITH_PICTURES.has(context.req.path);
  headers.set("Content-Security-Policy", shows_pictures ? POLICY_WITH_PICTURES : POLICY);
  for (const [name, value] of SAFE_HEADERS) headers.set(name, value);
  if (!headers.has("Referrer-Policy")) headers.set("Referrer-Policy", "same-origin");
});

/** Answers about a person are kept by no cache. */
export const noStore = factory.createMiddleware(async (context, next) => {
  await next();
  context.res.headers.set("Cache-Control", "no-store");
});
