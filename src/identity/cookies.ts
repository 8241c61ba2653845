/** How cookies are scoped: shared with the family's subdomains, out of reach of scripts. */
import { serialize } from "hono/utils/cookie";

/** The parent domain that shares the cookies; null keeps them to the service's own host. */
export interface CookieScope {
  readonly domain: string | null;
}

/** A `Set-Cookie` value for a cookie that proves who is signed in (spec, Authentication 2). */
export function sessionCookie(
  name: string,
  value: string,
  max_age_seconds: number,
  scope: CookieScope,
): string {
  return serialize(name, value, {
    path: "/",
    httpOnly: true,
    secure: true,
    sameSite: "None",
    maxAge: max_age_seconds,
    ...(scope.domain === null ? {} : { domain: scope.domain }),
  });
}
