/** What every page shows around its own content, given once for a request. */
import type { Child } from "hono/jsx";

export interface Shell {
  readonly service_name: string;
  /** The service's colour as `#rrggbb`; the style sheet of it is a file of its own. */
  readonly service_accent: string;
  /** Whether there is an account to navigate in. */
  readonly signed_in: boolean;
}

/** Before the settings are known, and where they make no sense. */
export const DEFAULT_SHELL: Shell = {
  service_name: "Passbook",
  service_accent: "#12507b",
  signed_in: false,
};

let present = DEFAULT_SHELL;

/**
 * The page as text, with `shell` around it. Pages are written out in one synchronous step, so none ever
 * sees another's. Not the library's own context: that brings 15 KiB of rendering in browsers along.
 */
export function renderIn(shell: Shell, page: Child): string {
  present = shell;
  try {
    return String(page);
  } finally {
    present = DEFAULT_SHELL;
  }
}

/** What is around the page that is being written out. */
export const shellOf = (): Shell => present;
