/** What every page shows around its own content, given once for a request. */
import type { JSXNode } from "hono/jsx";

export interface Shell {
  readonly service_name: string;
  /** The service's colour as `#rrggbb`; the style sheet of it is a file of its own. */
  readonly service_accent: string;
  /** Another text for another release; "" where it is not known. */
  readonly release: string;
  /** Whether there is an account to navigate in. */
  readonly signed_in: boolean;
  /** Whether whoever looks operates the service, and may be led to its console. */
  readonly operates: boolean;
}

/** Before the settings are known, and where they make no sense. */
export const DEFAULT_SHELL: Shell = {
  service_name: "Passbook",
  service_accent: "#12507b",
  release: "",
  signed_in: false,
  operates: false,
};

let present = DEFAULT_SHELL;

/**
 * The page as text, with `shell` around it. Pages are written out in one synchronous step, so none ever
 * sees another's. Not the library's own context: that brings 15 KiB of rendering in browsers along.
 */
export function renderIn(shell: Shell, page: JSXNode): string {
  present = shell;
  try {
    const text = page.toString();
    if (typeof text !== "string") throw new TypeError("a page waits for nothing");
    return text;
  } finally {
    present = DEFAULT_SHELL;
  }
}

/** What is around the page that is being written out. */
export const shellOf = (): Shell => present;
