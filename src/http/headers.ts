/** Headers that every answer of a kind carries; set once the answer is there, in one pass. */
import { factory } from "./context.ts";

/**
 * No scripts, no frames, no sniffing. `form-action` stays open: browsers hold it against the redirect
 * that follows a form too, and a sign-in ends at another origin. What is only said where the service is
 * https is in `own_address.ts`; which other origins may read an answer, CORS says.
 */
const SAFE_HEADERS = Object.freeze([
  [
    "Content-Security-Policy",
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  ],
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
export const safeHeaders = factory.createMiddleware(async (context, next) => {
  await next();
  const { headers } = context.res;
  for (const [name, value] of SAFE_HEADERS) headers.set(name, value);
  if (!headers.has("Referrer-Policy")) headers.set("Referrer-Policy", "same-origin");
});

/** Answers about a person are kept by no cache. */
export const noStore = factory.createMiddleware(async (context, next) => {
  await next();
  context.res.headers.set("Cache-Control", "no-store");
});
