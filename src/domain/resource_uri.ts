/** The addresses of protected resources (RFC 8707, RFC 9728). Pure. */
import { isLoopbackHost, parseAbsoluteUrl } from "./origins.ts";

/** Longest address of a resource, in characters. Every token for it has the address in its `aud`. */
const RESOURCE_URI_MAX_LENGTH = 480;

/** A scope of a resource (RFC 6749, section 3.3), and how many one resource may have. */
export const RESOURCE_SCOPE_PATTERN = /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/;
export const RESOURCE_SCOPES_MAX = 50;

/**
 * The form in which addresses are stored and compared. Some MCP clients send a bare origin with a slash, and the resource
 * is the same (RFC 3986, section 6.2.3). Everything else is compared exactly.
 */
export function resourceKey(uri: string): string {
  return /^[a-z]+:\/\/[^/?#]+\/$/.test(uri) ? uri.slice(0, -1) : uri;
}

/** The fault of a resource's address; null: none. */
export function resourceProblem(uri: string): string | null {
  const url = parseAbsoluteUrl(uri);
  if (uri.length > RESOURCE_URI_MAX_LENGTH) {
    return `must have at most ${RESOURCE_URI_MAX_LENGTH} characters`;
  }
  if (url === null) return "must be an absolute address such as https://mcp.example.com/mcp";
  if (uri.includes("#")) return "must have no fragment (#)";
  if (uri.includes("?")) return "must have no query (?)";
  const is_secure = url.protocol === "https:";
  if (!is_secure && !(url.protocol === "http:" && isLoopbackHost(url.hostname))) {
    return "must be https. Plain http is only for this machine";
  }
  // Clients send the address as a URL parser writes it, so another spelling would never match.
  return resourceKey(url.href) === resourceKey(uri) ? null : `must be written as ${url.href}`;
}
