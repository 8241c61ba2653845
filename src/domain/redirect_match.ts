/**
 * The redirect addresses of OAuth clients: which ones may be registered, and when a requested one equals a registered one
 * (RFC 9700, section 4.1; RFC 8252, section 7). Pure.
 */
import { REDIRECT_MAX_LENGTH } from "./limits.ts";
import { isForbiddenScheme, originOf, parseAbsoluteUrl } from "./origins.ts";

/**
 * A loopback address: host, port, path and query. The characters are compared, not a parsed URL, because a parser makes
 * different texts equal.
 */
const LOOPBACK =
  /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::([1-9]\d{0,4}))?((?:\/[^?#\s\\]*)?(?:\?[^#\s\\]*)?)$/;

const PORT_MAX = 65_535;

/**
 * A URI has only ASCII characters (RFC 3986). A redirect would have to encode any other one, so the address would not
 * be the same.
 */
const NOT_OF_URI = /[^\x20-\x7e]/;

/** The form of an app's own scheme (RFC 8252, section 7.1), such as `com.example.app:/callback` or `myapp://callback`. */
const OWN_SCHEME = /^([a-z][a-z0-9+.-]*:)\/[^\s\\]*$/;

/** Whether an address is on the person's own machine: any program there can receive what is sent to it. */
export function isLoopbackRedirect(uri: string): boolean {
  return partsOfLoopback(uri) !== null;
}

/** Host and path of a loopback address without its port; null: the address is not a loopback address. */
function partsOfLoopback(uri: string): { readonly host: string; readonly rest: string } | null {
  const [, host, port = "1", rest] = LOOPBACK.exec(uri) ?? [];
  if (host === undefined || rest === undefined || Number(port) > PORT_MAX) return null;
  return { host, rest };
}

/**
 * Whether a requested address equals one of the registered addresses, character by character. The port of a loopback
 * address may differ, because a program gets a free port only when it starts.
 */
export function matchesRedirect(requested: string, registered: readonly string[]): boolean {
  if (requested.length > REDIRECT_MAX_LENGTH) return false;
  if (registered.includes(requested)) return true;
  const wanted = partsOfLoopback(requested);
  if (wanted === null) return false;
  return registered.some((uri) => {
    const known = partsOfLoopback(uri);
    return known !== null && known.host === wanted.host && known.rest === wanted.rest;
  });
}

/**
 * The registered loopback address from which a requested one differs only in its host: a developer took `localhost` and
 * `127.0.0.1` for the same. Null: no registered address is like it.
 */
export function otherLoopback(requested: string, registered: readonly string[]): string | null {
  const wanted = partsOfLoopback(requested);
  if (wanted === null) return null;
  return registered.find((uri) => partsOfLoopback(uri)?.rest === wanted.rest) ?? null;
}

/** Whether an address is on the origin of one of the registered addresses; of a loopback address, on any port. */
export function isOnOriginOf(address: string, registered: readonly string[]): boolean {
  const loopback = partsOfLoopback(address);
  if (loopback !== null) {
    return registered.some((uri) => partsOfLoopback(uri)?.host === loopback.host);
  }
  const is_own_scheme = isOwnScheme(address) && !NOT_OF_URI.test(address);
  const url = parseAbsoluteUrl(address) ?? (is_own_scheme ? URL.parse(address) : null);
  if (url === null) return false;
  return registered.some((uri) => {
    const known = isLoopbackRedirect(uri) ? null : URL.parse(uri);
    return known !== null && originOf(known) === originOf(url);
  });
}

/** The fault of a redirect address that an operator enters; null: none. */
export function redirectProblem(uri: string): string | null {
  if (uri.length > REDIRECT_MAX_LENGTH)
    return `must have at most ${REDIRECT_MAX_LENGTH} characters`;
  if (NOT_OF_URI.test(uri)) return "must have only ASCII characters: encode any other";
  if (uri.includes("#")) return "must have no fragment (#)";
  if (uri.includes("*")) return "must have no wildcard: addresses are compared exactly";
  if (isWebRedirect(uri) || isOwnScheme(uri)) return null;
  if (/^http:/i.test(uri)) {
    return "must be https. Plain http is only for http://127.0.0.1, http://[::1] and http://localhost";
  }
  return "must be an address such as https://app.example.com/callback, http://127.0.0.1/callback or com.example.app:/callback";
}

/** Whether an address may be a redirect address of a client that no operator registered: https or loopback. */
export function isWebRedirect(uri: string): boolean {
  if (uri.length > REDIRECT_MAX_LENGTH || NOT_OF_URI.test(uri)) return false;
  if (uri.includes("#") || uri.includes("*")) return false;
  if (isLoopbackRedirect(uri)) return true;
  return uri.startsWith("https://") && parseAbsoluteUrl(uri) !== null;
}

function isOwnScheme(uri: string): boolean {
  const [, scheme = ""] = OWN_SCHEME.exec(uri) ?? [];
  if (scheme === "" || scheme === "http:" || scheme === "https:") return false;
  return !isForbiddenScheme(scheme) && URL.canParse(uri);
}
