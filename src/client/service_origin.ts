/** Validation of the service's origin. */
import { PassbookError } from "./errors.ts";

const LOOPBACK_HOST = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * A host without a dot is a name in the local network, such as a container (`http://passbook:8787`). Production refuses
 * it, since its network may not be private.
 */
function isDevelopmentHost({ hostname }: URL): boolean {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return /^[a-z0-9-]+$/.test(hostname) && process?.env?.["NODE_ENV"] !== "production";
}

/** The origin of all requests. Tokens must not be sent over plain http through a network. @throws PassbookError */
export function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const local = url !== null && (LOOPBACK_HOST.test(url.hostname) || isDevelopmentHost(url));
  const secure = url?.protocol === "https:" || (url?.protocol === "http:" && local);
  const bare = url?.pathname === "/" && url.search === "" && url.username === "";
  if (url !== null && secure && bare) return url.origin;
  const message =
    `baseUrl must be an origin such as https://passbook.example.com, but it is "${text}". ` +
    "Plain http is allowed only for this machine and, in development, for hosts without a dot.";
  throw new PassbookError("invalid_argument", message);
}
