/**
 * Our cookies. Scripts cannot read them. Under https their names have prefixes with which browsers refuse
 * cookies that other hosts set (RFC 6265bis, section 4.1.3). Browsers accept the prefixes only under https, so
 * local development goes without.
 */
import { serialize } from "hono/utils/cookie";

/**
 * The most cookies of one name that a request is checked for; further ones are ignored. Each JWT among them
 * costs a signature check before any rate limit counts. Another host of the parent domain can set so many JWT
 * cookies that the browser's own is not among the first 8. The session cookie is used then, which other hosts
 * cannot set under https.
 */
const COOKIES_OF_ONE_NAME_MAX = 8;

/** A cookie's name without its prefix, its value, and its lifetime; 0 seconds delete it. */
interface CookieToSet {
  readonly name: string;
  readonly value: string;
  readonly max_age_seconds: number;
}

/** The name of a cookie that only this host sets and receives. */
export function hostCookieName(base_url: string, name: string): string {
  return isSecure(base_url) ? `__Host-${name}` : name;
}

/** The name of a cookie that every host of the parent domain receives. Those hosts can set it too. */
export function sharedCookieName(base_url: string, name: string): string {
  return isSecure(base_url) ? `__Secure-${name}` : name;
}

/** The `Set-Cookie` value of a cookie that only this host receives. */
export function hostCookie(
  base_url: string,
  { name, value, max_age_seconds }: CookieToSet,
  same_site: "Lax" | "None",
): string {
  return serialize(hostCookieName(base_url, name), value, {
    path: "/",
    httpOnly: true,
    secure: true,
    sameSite: same_site,
    maxAge: max_age_seconds,
  });
}

/** The `Set-Cookie` value of a cookie for all hosts of `domain`; null: only for this host. */
export function sharedCookie(
  base_url: string,
  { name, value, max_age_seconds }: CookieToSet,
  domain: string | null,
): string {
  return serialize(sharedCookieName(base_url, name), value, {
    path: "/",
    httpOnly: true,
    secure: true,
    sameSite: "None",
    maxAge: max_age_seconds,
    ...(domain === null ? {} : { domain }),
  });
}

/**
 * All values of a cookie, in the order of the header. Other hosts and paths may have set further ones, so a
 * reader takes the first valid one.
 */
export function readCookies(request: Request, name: string): readonly string[] {
  const pairs = (request.headers.get("Cookie") ?? "").split(";").map((pair) => pair.trim());
  return pairs
    .filter((pair) => pair.startsWith(`${name}=`))
    .slice(0, COOKIES_OF_ONE_NAME_MAX)
    .map((pair) => pair.slice(name.length + 1));
}

function isSecure(base_url: string): boolean {
  return base_url.startsWith("https:");
}
