/** What every page shows around its own content, given once for a request. */
import { createContext } from "hono/jsx";

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

export const ShellContext = createContext<Shell>(DEFAULT_SHELL);
