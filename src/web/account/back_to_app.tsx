/** The way back to the app, or to the approval, that sent a person to the account pages. */
import { allowedRedirect } from "../../http/middleware/origins.ts";
import type { AppContext } from "../../http/context.ts";

/** The longest address that is kept, encoded: it travels through the payment service inside another address. */
const RETURN_URL_MAX_LENGTH = 3_000;

/** An address to return to, and what it is called. */
export interface BackLink {
  readonly href: string;
  readonly name: string;
}

/** The address in `text` if an app may send people to it and get them back; otherwise null. */
export async function readReturnUrl(
  context: AppContext,
  text: string | undefined,
): Promise<BackLink | null> {
  if (text === undefined || encodeURIComponent(text).length > RETURN_URL_MAX_LENGTH) return null;
  const url = text === "" ? null : await allowedRedirect(context, text);
  if (url === null) return null;
  const { href, protocol, host } = url;
  const approvals = new URL("/approve/", context.get("base_url")).href;
  if (href.startsWith(approvals)) return { href, name: "the approval" };
  // A custom scheme such as `myapp://callback` names no host that means something to people.
  return { href, name: /^https?:$/.test(protocol) ? host : "the app" };
}

/** Where credits are for sale, with the way back. */
export function buyPath(return_url: Pick<BackLink, "href"> | null): string {
  if (return_url === null) return "/account#buy";
  return `/account?${new URLSearchParams({ return_url: return_url.href }).toString()}#buy`;
}

export function BackToApp({
  return_url,
  button,
}: {
  return_url: BackLink | null;
  button?: boolean;
}) {
  if (return_url === null) return null;
  return (
    <a class={button === true ? "button" : undefined} href={return_url.href}>
      {`Back to ${return_url.name}`}
    </a>
  );
}
