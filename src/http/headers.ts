/** Headers that every answer of a kind carries. */
import type { Context } from "hono";
import { secureHeaders } from "hono/secure-headers";
import { factory } from "./context.ts";

/** The pages that show pictures which apps name; the account itself never loads them elsewhere. */
const PAGES_WITH_PICTURES: readonly string[] = ["/account", "/account/jobs"];

const pictures = (context: Context): string =>
  PAGES_WITH_PICTURES.includes(context.req.path) ? "'self' https:" : "'self'";

/**
 * Nothing inline, no scripts but our own files, no frames, no sniffing. `form-action` stays open: browsers hold it against the redirect
 * that follows a form too, and a sign-in ends at another origin.
 */
export const safeHeaders = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    styleSrc: ["'self'"],
    scriptSrc: ["'self'"],
    connectSrc: ["'self'"],
    imgSrc: [pictures],
    baseUri: ["'none'"],
    frameAncestors: ["'none'"],
  },
  // Only where the service is https: own_address.ts.
  strictTransportSecurity: false,
  referrerPolicy: false,
  xFrameOptions: "DENY",
  // The family's other origins read the API; CORS says which.
  crossOriginResourcePolicy: false,
});

/**
 * Our addresses stay ours. Not `no-referrer` everywhere: a browser then sends `Origin: null` with our
 * own forms, which the check for cross-site posts would refuse. Set first, so that handlers may go
 * further.
 */
export const strictReferrer = factory.createMiddleware(async (context, next) => {
  context.header("Referrer-Policy", "same-origin");
  await next();
});

/** Answers about a person are kept by no cache. */
export const noStore = factory.createMiddleware(async (context, next) => {
  context.header("Cache-Control", "no-store");
  await next();
});
