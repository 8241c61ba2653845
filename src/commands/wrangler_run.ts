/** Runs Wrangler, which contacts Cloudflare with the credentials of its own login. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";
import { exitCode } from "./local_worker.ts";

/** Wrangler must not prompt, print colours, or report usage. */
const ENVIRONMENT = {
  ...process.env,
  CI: "true",
  FORCE_COLOR: "0",
  NO_COLOR: "1",
  WRANGLER_SEND_METRICS: "false",
};

interface WranglerRun {
  readonly succeeded: boolean;
  readonly output: string;
  /** The error that it printed, without decoration. */
  readonly error: string;
}

/** The variable that names the file in which Wrangler records what it did, as lines of JSON. */
const recording = (file: string | null) =>
  file === null ? {} : { WRANGLER_OUTPUT_FILE_PATH: file };

/** Runs Wrangler without a terminal, and captures its output. `record`: the file of {@link recording}. */
export async function runWrangler(
  args: readonly string[],
  record: string | null = null,
): Promise<WranglerRun> {
  const child = spawn("wrangler", [...args], {
    env: { ...ENVIRONMENT, ...recording(record) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [code, output, errors] = await Promise.all([
    exitCode(child),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { succeeded: code === 0, output, error: errorOf(`${output}\n${errors}`) };
}

/** Runs Wrangler on the terminal, where it may prompt. @returns its exit code */
export function showWrangler(args: readonly string[], record: string): Promise<number> {
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false", ...recording(record) };
  return exitCode(spawn("wrangler", [...args], { env, stdio: "inherit" }));
}

/** The output from the first error on, without the line about the log file. */
function errorOf(output: string): string {
  const lines = stripVTControlCharacters(output)
    .split("\n")
    .map((line) => line.trim());
  const first = lines.findIndex((line) => line.includes("ERROR"));
  return lines
    .slice(Math.max(first, 0))
    .filter((line) => line !== "" && !/Logs were written|report this error/i.test(line))
    .map((line) => line.replace(/^\S* ?\[ERROR\] ?/, ""))
    .join("\n")
    .trim();
}

/** The JSON array that a list command printed. @throws Error with Wrangler's message if it failed */
export async function listByWrangler<Entry>(args: readonly string[]): Promise<readonly Entry[]> {
  const { succeeded, output, error } = await runWrangler(args);
  if (!succeeded) throw new Error(error);
  const entries: unknown = JSON.parse(output.slice(Math.max(output.indexOf("["), 0)));
  if (!Array.isArray(entries)) throw new Error(`wrangler ${args.join(" ")} printed no list`);
  return entries as readonly Entry[];
}
