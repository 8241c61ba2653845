/** The client's networks, as keys of rate limits. */
import type { AppContext } from "../context.ts";

interface ClientNetworks {
  /** An IPv4 address, or the /64 of an IPv6 address: providers assign at least a /64 to one customer. */
  readonly network: string;
  /** The /48 of an IPv6 address; null for IPv4. */
  readonly site: string | null;
}

/** Requests without an address share one network. Behind Cloudflare every request has an address. */
export function networksOf(context: AppContext): ClientNetworks {
  const address = context.req.header("CF-Connecting-IP") ?? "unknown";
  if (!address.includes(":")) return { network: address, site: null };
  const groups = groupsOfIpv6(address);
  return {
    network: `${groups.slice(0, 4).join(":")}::/64`,
    site: `${groups.slice(0, 3).join(":")}::/48`,
  };
}

/** The groups of an IPv6 address (RFC 4291, section 2.2), without leading zeros. */
function groupsOfIpv6(address: string): readonly string[] {
  const [head = "", tail] = address.toLowerCase().split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array<string>(missing).fill("0"), ...after];
  return groups.map((group) => group.replace(/^0+(?=.)/, ""));
}
