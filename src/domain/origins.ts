/**
 * The allowlist for `redirect_to`, CORS and writes with a cookie (design, section 3). Pure. An entry is an
 * exact origin (`https://app.example.com`), any subdomain on the default port (`https://*.example.com`: not the
 * bare parent, and not a parent under which strangers register names), a custom scheme (`myapp://callback`), or
 * a loopback origin with its port (`http://localhost:3000`). Plain http is only for loopback.
 */
import { REDIRECT_MAX_LENGTH } from "./limits.ts";
import { isRegistrySuffix } from "./public_suffixes.ts";

export type AllowedOrigin =
  | { readonly kind: "exact"; readonly origin: string }
  | { readonly kind: "subdomains"; readonly suffix: string }
  /** Every origin of this machine. No setting has this form: only the development build adds it. */
  | { readonly kind: "loopback" };

/** Schemes that a browser executes or reads locally instead of opening an app. */
const FORBIDDEN_SCHEMES = new Set([
  "javascript:",
  "data:",
  "vbscript:",
  "file:",
  "blob:",
  "about:",
  "filesystem:",
  "view-source:",
  "ws:",
  "wss:",
  "ftp:",
]);

export function isForbiddenScheme(protocol: string): boolean {
  return FORBIDDEN_SCHEMES.has(protocol);
}

/**
 * Backslashes, spaces and control characters. URL parsers repair them silently, and not all in the same way.
 */
// oxlint-disable-next-line no-control-regex -- refusing control characters is the point
const REPAIRED_CHARACTERS = /[\\\s\u0000-\u001f\u007f]/;

/**
 * An absolute URL with an authority, exactly as written: without userinfo and without characters that a parser
 * repairs.
 */
export function parseAbsoluteUrl(text: string): URL | null {
  if (text.length > REDIRECT_MAX_LENGTH || REPAIRED_CHARACTERS.test(text)) return null;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(text)) return null;
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return null;
  // Percent-encoding makes it longer, and it must fit in a cookie.
  if (url.href.length > REDIRECT_MAX_LENGTH) return null;
  // "https://:@host" has empty userinfo, which the parser drops.
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return null;
  return isForbiddenScheme(url.protocol) ? null : url;
}

/** Longest part of a refused address that is shown: enough for a host and the start of a path. */
const SHOWN_ADDRESS_MAX_LENGTH = 100;

/**
 * A refused address for an error message to the person who sent it. It has no query and no fragment, which may
 * be secret. It is percent-encoded and short, so that nobody can place sentences on our pages.
 */
export function shownAddress(text: string): string {
  const [address = ""] = text.slice(0, REDIRECT_MAX_LENGTH).split(/[?#]/, 1);
  if (address === "") return "(empty)";
  const encoded = encodeURI(address.toWellFormed()).replaceAll("%25", "%");
  const is_short = encoded.length <= SHOWN_ADDRESS_MAX_LENGTH;
  return is_short ? encoded : `${encoded.slice(0, SHOWN_ADDRESS_MAX_LENGTH)}…`;
}

/** `scheme://host[:port]`. Unlike `URL.origin`, it also names the origin of a custom scheme. */
export function originOf(url: URL): string {
  return `${url.protocol}//${url.host}`;
}

/** Whether a host is this machine: `localhost`, a name under it, or a loopback address. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  );
}

/**
 * Reads one entry of an allowlist; null if it has none of the forms above. A wildcard must also pass the list
 * of shared hosting suffixes: see `operations/wildcards.ts`.
 */
export function parseAllowedOrigin(entry: string): AllowedOrigin | null {
  const wildcard = /^https:\/\/\*\.([a-z0-9-]+(?:\.[a-z0-9-]+)+)$/.exec(entry);
  if (wildcard?.[1] !== undefined) {
    return isRegistrySuffix(wildcard[1]) ? null : { kind: "subdomains", suffix: `.${wildcard[1]}` };
  }
  const url = parseAbsoluteUrl(entry);
  if (url === null || entry.includes("*")) return null;
  const bare =
    url.search === "" && url.hash === "" && (url.pathname === "/" || url.pathname === "");
  if (!bare) return null;
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) return null;
  return { kind: "exact", origin: originOf(url) };
}

function isAllowedUrl(url: URL, allowlist: readonly AllowedOrigin[]): boolean {
  return allowlist.some((allowed) => {
    switch (allowed.kind) {
      case "exact":
        return originOf(url) === allowed.origin;
      case "subdomains":
        return (
          url.protocol === "https:" && url.port === "" && url.hostname.endsWith(allowed.suffix)
        );
      case "loopback":
        return /^https?:$/.test(url.protocol) && isLoopbackHost(url.hostname);
    }
  });
}

/**
 * Whether the allowlist has every host that receives a cookie with this `Domain`: the domain itself and its
 * subdomains.
 */
export function coversCookieDomain(domain: string, allowlist: readonly AllowedOrigin[]): boolean {
  const has_those_below = allowlist.some(
    (allowed) => allowed.kind === "subdomains" && `.${domain}`.endsWith(allowed.suffix),
  );
  return has_those_below && isAllowedOrigin(`https://${domain}`, allowlist);
}

/**
 * How closely an allowlist names an origin: not at all (0), by a wildcard (more for a longer parent), or exactly. The most
 * precise entry decides which of several apps an origin belongs to.
 */
export function precisionOf(origin: string, allowlist: readonly AllowedOrigin[]): number {
  const matching = allowlist.filter((allowed) => isAllowedOrigin(origin, [allowed]));
  const precisions = matching.map((allowed) =>
    allowed.kind === "subdomains" ? allowed.suffix.length : Number.POSITIVE_INFINITY,
  );
  return Math.max(0, ...precisions);
}

/** Whether the allowlist has a host that receives a cookie with this `Domain`. */
export function reachesCookieDomain(domain: string, allowlist: readonly AllowedOrigin[]): boolean {
  return allowlist.some((allowed) => {
    if (allowed.kind === "loopback") return false;
    return allowed.kind === "exact"
      ? `.${URL.parse(allowed.origin)?.hostname ?? ""}`.endsWith(`.${domain}`)
      : allowed.suffix.endsWith(`.${domain}`) || `.${domain}`.endsWith(allowed.suffix);
  });
}

/** The URL in `text` if it is on the allowlist; null if it is not, or cannot be parsed, or is not absolute. */
export function allowedUrl(text: string, allowlist: readonly AllowedOrigin[]): URL | null {
  const url = parseAbsoluteUrl(text);
  return url !== null && isAllowedUrl(url, allowlist) ? url : null;
}

/** Whether the value of an `Origin` header (only scheme, host and port) is allowed. */
export function isAllowedOrigin(header: string, allowlist: readonly AllowedOrigin[]): boolean {
  const url = parseAbsoluteUrl(header);
  return url !== null && originOf(url) === header && isAllowedUrl(url, allowlist);
}
