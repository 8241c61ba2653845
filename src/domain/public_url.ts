/** Addresses that the service may fetch although a stranger or an operator wrote them. Pure. */
import { isLoopbackHost, parseAbsoluteUrl } from "./origins.ts";

/** Names under which no public server can be: RFC 6761, RFC 6762, RFC 8375, and names that routers use. */
const PRIVATE_SUFFIXES =
  /\.(?:localhost|local|internal|intranet|private|lan|home|corp|test|invalid|example|onion|arpa)$/;

/**
 * The fault of an address's host outside development; null: it may be the name of a public server. A public
 * name that leads to a private address is refused by the platform, which has no route to private networks.
 */
export function publicHostProblem({ hostname }: URL): "ip_address" | "private" | null {
  // The parser writes IPv6 in brackets, and every form of an IPv4 address with digits at the end. Dots may follow.
  if (/^\[|(?:^|\.)\d+\.*$/.test(hostname)) return "ip_address";
  // A name with a last dot is the same name.
  const host = hostname.replace(/\.$/, "");
  const is_public = /^(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*$/.test(host);
  return is_public && !PRIVATE_SUFFIXES.test(host) ? null : "private";
}

/** Whether an address is https on the default port of a public host name. */
export function isPublicHttpsUrl(text: string): boolean {
  const url = parseAbsoluteUrl(text);
  if (url === null || url.protocol !== "https:" || url.port !== "") return false;
  return publicHostProblem(url) === null;
}

/** Whether the service may fetch an address: a public one, and in development also servers on this machine. */
export function isFetchable(text: string, allows_loopback: boolean): boolean {
  if (isPublicHttpsUrl(text)) return true;
  const url = allows_loopback ? parseAbsoluteUrl(text) : null;
  return url !== null && url.protocol === "http:" && isLoopbackHost(url.hostname);
}
