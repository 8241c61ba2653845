/** Where a request comes from, for rate limits. */
import type { AppContext } from "./context.ts";

/**
 * The address of the client, as far as one customer has it alone: an IPv4 address, or the /64 of an
 * IPv6 address, within which anybody has more addresses than a limit could count. Requests without
 * one, which do not happen behind Cloudflare, share a limit.
 */
export function clientNetwork(context: AppContext): string {
  const address = context.req.header("CF-Connecting-IP") ?? "unknown";
  return address.includes(":") ? networkOfIpv6(address) : address;
}

/** The first four groups of an IPv6 address (RFC 4291, section 2.2), leading zeros left out. */
function networkOfIpv6(address: string): string {
  const [head = "", tail] = address.toLowerCase().split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array<string>(missing).fill("0"), ...after];
  const network = groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ""));
  return `${network.join(":")}::/64`;
}
