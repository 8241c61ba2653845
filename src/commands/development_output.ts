/** The output of `npm run dev`: Wrangler's lines, and a summary for the developer. */
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { DEVELOPMENT_OPERATOR } from "./development_settings.ts";

/** Wrangler's line with its address. */
const READY = /Ready on (https?:\/\/\S+)/;

const BINDINGS = "Your Worker has access to the following bindings:";

/**
 * Passes Wrangler's lines on without its list of bindings, 35 lines that an app developer does not need. Calls `onReady`
 * once with the address.
 */
export function passOnOutput(
  from: Readable,
  print: (line: string) => void,
  onReady: (url: string) => void,
): void {
  let in_bindings = false;
  let is_ready = false;
  createInterface({ input: from, crlfDelay: Infinity }).on("line", (line) => {
    const text = stripVTControlCharacters(line);
    in_bindings = in_bindings ? text.trim() !== "" : text.startsWith(BINDINGS);
    if (in_bindings) return;
    print(line);
    const url = READY.exec(text)?.[1];
    if (url === undefined || is_ready) return;
    is_ready = true;
    onReady(url);
  });
}

type Settings = Readonly<Record<string, unknown>>;

/**
 * The summary: the pages, how to sign in, and the operators. `served` is the address that Wrangler printed;
 * `settings_file` is the file with OPERATORS.
 */
export function describeService(served: string, settings: Settings, settings_file: string): string {
  const { BASE_URL, DEV_SIGNIN, OPERATORS } = settings;
  // Development sign-in works at localhost only, which also reaches a service on all interfaces.
  const local_url = served
    .replace(/\/\/(0\.0\.0\.0|\[::\])(?=:|$)/, "//localhost")
    .replace(/\/$/, "");
  const url = typeof BASE_URL === "string" && BASE_URL !== "" ? BASE_URL : local_url;
  const operators = typeof OPERATORS === "string" ? OPERATORS.trim() : "";
  const is_open = DEV_SIGNIN === "true";
  const operator_text = operators === "" ? "none yet" : operators;
  const lines = [
    "",
    "Passbook is ready.",
    `  Sign in   ${url}/signin${is_open ? "   any e-mail address, no password" : ""}`,
    `  Account   ${url}/account`,
    `  Console   ${url}/console   for operators: ${operator_text}`,
    `  API docs  ${url}/docs`,
  ];
  if (operators === "") {
    lines.push(
      `To become an operator, add the line OPERATORS=${DEVELOPMENT_OPERATOR} to ${settings_file}, ` +
        "restart, and sign in with that address.",
    );
  }
  return [...lines, "", ""].join("\n");
}

/** The effects of settings without `DEV_SIGNIN=true`; null with it. */
export function describeProduction({ DEV_SIGNIN }: Settings): string | null {
  if (DEV_SIGNIN === "true") return null;
  return (
    "DEV_SIGNIN is not true, so this runs as in production: BASE_URL is required, people sign in with " +
    "SIGNIN_PROVIDERS only, and an app has no starter credits before an operator registers it."
  );
}
