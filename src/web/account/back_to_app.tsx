/** The way back to the app that sent a person to the account pages. */
import { allowedRedirect } from "../../http/middleware/origins.ts";
import type { AppContext } from "../../http/context.ts";

/** The longest address that is kept, in characters: it travels through the payment service inside another address. */
const RETURN_URL_MAX_LENGTH = 1_000;

/** The address in `text` if an app may send people to it and get them back; otherwise null. */
export async function readReturnUrl(
  context: AppContext,
  text: string | undefined,
): Promise<URL | null> {
  if (text === undefined || text === "" || text.length > RETURN_URL_MAX_LENGTH) return null;
  return allowedRedirect(context, text);
}

export function BackToApp({ return_url, button }: { return_url: URL | null; button?: boolean }) {
  if (return_url === null) return null;
  // A custom scheme such as `myapp://callback` names no host that means something to people.
  const is_page = ["https:", "http:"].includes(return_url.protocol);
  return (
    <a class={button === true ? "button" : undefined} href={return_url.href}>
      {`Back to ${is_page ? return_url.host : "the app"}`}
    </a>
  );
}
