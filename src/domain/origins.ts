/**
 * The one allowlist behind `redirect_to`, CORS and cookie-borne writes (design, section 3). Pure.
 *
 * An entry is an exact origin (`https://app.example.com`), any subdomain on the default port
 * (`https://*.example.com`, not the bare parent, and no parent whose names strangers get), a custom scheme (`myapp://callback`), or a
 * loopback origin with its port (`http://localhost:3000`). Plain http is for loopback alone.
 */
import { REDIRECT_MAX_LENGTH } from "./limits.ts";
import { isRegistrySuffix } from "./public_suffixes.ts";

export type AllowedOrigin =
  | { readonly kind: "exact"; readonly origin: string }
  | { readonly kind: "subdomains"; readonly suffix: string };

/** Schemes a browser would run or read locally instead of navigating to an app. */
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

/** Backslashes, blanks and control characters, which URL parsers repair silently and differently. */
// oxlint-disable-next-line no-control-regex -- refusing control characters is the point
const REPAIRED_CHARACTERS = /[\\\s\u0000-\u001f\u007f]/;

/** An absolute URL with an authority, exactly as written: no userinfo, nothing a parser repairs. */
export function parseAbsoluteUrl(text: string): URL | null {
  if (text.length > REDIRECT_MAX_LENGTH || REPAIRED_CHARACTERS.test(text)) return null;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(text)) return null;
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return null;
  // Percent-encoding grows it, and it must fit a cookie.
  if (url.href.length > REDIRECT_MAX_LENGTH) return null;
  // "https://:@host" has empty userinfo, which the parser drops.
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return null;
  return FORBIDDEN_SCHEMES.has(url.protocol) ? null : url;
}

/** The most of a refused address that is shown: enough for a host and the beginning of a path. */
const SHOWN_ADDRESS_MAX_LENGTH = 100;

/**
 * An address that was refused, to be shown to the person who sent it: without its query and fragment, which
 * may hold secrets, and percent-encoded and short, so that a stranger cannot write sentences into our pages.
 */
export function shownAddress(text: string): string {
  const [address = ""] = text.slice(0, REDIRECT_MAX_LENGTH).split(/[?#]/, 1);
  if (address === "") return "(empty)";
  const encoded = encodeURI(address.toWellFormed()).replaceAll("%25", "%");
  const is_short = encoded.length <= SHOWN_ADDRESS_MAX_LENGTH;
  return is_short ? encoded : `${encoded.slice(0, SHOWN_ADDRESS_MAX_LENGTH)}…`;
}

/** `scheme://host[:port]`; unlike `URL.origin` it also names the origin of a custom scheme. */
export function originOf(url: URL): string {
  return `${url.protocol}//${url.host}`;
}

/** Whether a host never leaves the machine: `localhost`, a name under it, or a loopback address. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  );
}

/**
 * Reads one entry of an allowlist; null where it is not of the form above. A wildcard counts only after it
 * was held to the list of hosts too: see `wildcards.ts`.
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

/** Whether the allowlist has this URL's origin. */
export function isAllowedUrl(url: URL, allowlist: readonly AllowedOrigin[]): boolean {
  return allowlist.some((allowed) =>
    allowed.kind === "exact"
      ? originOf(url) === allowed.origin
      : url.protocol === "https:" && url.port === "" && url.hostname.endsWith(allowed.suffix),
  );
}

/** Whether the allowlist has each host that receives the cookies of a domain: the domain itself, and those below. */
export function coversCookieDomain(domain: string, allowlist: readonly AllowedOrigin[]): boolean {
  const has_those_below = allowlist.some(
    (allowed) => allowed.kind === "subdomains" && `.${domain}`.endsWith(allowed.suffix),
  );
  return has_those_below && isAllowedOrigin(`https://${domain}`, allowlist);
}

/** The allowed URL that `text` names, or null: unparsable, not absolute, or not on the allowlist. */
export function allowedUrl(text: string, allowlist: readonly AllowedOrigin[]): URL | null {
  const url = parseAbsoluteUrl(text);
  return url !== null && isAllowedUrl(url, allowlist) ? url : null;
}

/** Whether an `Origin` header's value (never more than scheme, host and port) is allowed. */
export function isAllowedOrigin(header: string, allowlist: readonly AllowedOrigin[]): boolean {
  const url = parseAbsoluteUrl(header);
  return url !== null && originOf(url) === header && isAllowedUrl(url, allowlist);
}
