/** Addresses that the service may fetch although a stranger or an operator wrote them. Pure. */
import { isLoopbackHost, parseAbsoluteUrl } from "./origins.ts";

/** Names under which no public server can be: RFC 6761, RFC 6762, RFC 8375, and names that routers use. */
const PRIVATE_SUFFIXES =
  /\.(?:localhost|local|internal|intranet|private|lan|home|corp|test|invalid|example|onion|arpa)$/;

/**
 * Whether an address is https on the default port of a public host name: no IP address, no user name. A public name that
 * leads to a private address is refused by the platform, which has no route to private networks.
 */
export function isPublicHttpsUrl(text: string): boolean {
  const url = parseAbsoluteUrl(text);
  if (url === null || url.protocol !== "https:" || url.port !== "") return false;
  // A name with a last dot is the same name.
  const host = url.hostname.replace(/\.$/, "");
  // The parser writes every form of an IPv4 address with digits at the end, and IPv6 in brackets.
  return /^[a-z0-9.-]+\.[a-z][a-z0-9-]*$/.test(host) && !PRIVATE_SUFFIXES.test(host);
}

/** Whether the service may fetch an address: a public one, and in development also servers on this machine. */
export function isFetchable(text: string, allows_loopback: boolean): boolean {
  if (isPublicHttpsUrl(text)) return true;
  const url = allows_loopback ? parseAbsoluteUrl(text) : null;
  return url !== null && url.protocol === "http:" && isLoopbackHost(url.hostname);
}
