/** What `npm run dev` prints of Wrangler's output, and what a developer needs to know first. */
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { DEVELOPMENT_OPERATOR } from "./development_settings.ts";

/** The address that Wrangler serves. */
const READY = /Ready on (https?:\/\/\S+)/;

const BINDINGS = "Your Worker has access to the following bindings:";

/**
 * Passes Wrangler's lines on, without its list of bindings: 35 lines that a developer of an app cannot use.
 * `onReady` is called once with the address.
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
 * Where everything is, how to sign in, and who is operator. `served`: the address that Wrangler names;
 * `settings_file`: where to change the operators.
 */
export function describeService(served: string, settings: Settings, settings_file: string): string {
  const { BASE_URL, DEV_SIGNIN, OPERATORS } = settings;
  // A service for every interface is opened at localhost too, and development sign-in only there.
  const here = served.replace(/\/\/(0\.0\.0\.0|\[::\])(?=:|$)/, "//localhost").replace(/\/$/, "");
  const url = typeof BASE_URL === "string" && BASE_URL !== "" ? BASE_URL : here;
  const operators = typeof OPERATORS === "string" ? OPERATORS.trim() : "";
  const is_open = DEV_SIGNIN === "true";
  const who = operators === "" ? "nobody yet" : operators;
  const lines = [
    "",
    "Passbook is ready.",
    `  Sign in   ${url}/signin${is_open ? "   any e-mail address, no password" : ""}`,
    `  Account   ${url}/account`,
    `  Console   ${url}/console   for operators: ${who}`,
    `  API docs  ${url}/docs`,
  ];
  if (operators === "") {
    lines.push(
      `To become operator, add the line OPERATORS=${DEVELOPMENT_OPERATOR} to ${settings_file}, ` +
        "start again, and sign in with that address.",
    );
  }
  return [...lines, "", ""].join("\n");
}

/** What the absence of `DEV_SIGNIN=true` means. Null in development. */
export function describeProduction({ DEV_SIGNIN }: Settings): string | null {
  if (DEV_SIGNIN === "true") return null;
  return (
    "DEV_SIGNIN is not true, so this runs as in production: BASE_URL is required, people sign in with " +
    "SIGNIN_PROVIDERS only, and an app has no starter credits before an operator registers it."
  );
}
