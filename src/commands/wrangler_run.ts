/** Running Wrangler for what it does best: talking to Cloudflare as whoever is signed in. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";
import { exitCode } from "./local_worker.ts";

/** Nobody answers Wrangler's questions here, nobody reads its colours, and usage is not reported. */
const ENVIRONMENT = {
  ...process.env,
  CI: "true",
  FORCE_COLOR: "0",
  NO_COLOR: "1",
  WRANGLER_SEND_METRICS: "false",
};

export interface WranglerRun {
  readonly succeeded: boolean;
  readonly output: string;
  /** What it said of a failure, without its decoration. */
  readonly complaint: string;
}

/** Runs Wrangler without a terminal, and keeps what it says. */
export async function runWrangler(args: readonly string[]): Promise<WranglerRun> {
  const child = spawn("wrangler", [...args], {
    env: ENVIRONMENT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [code, output, errors] = await Promise.all([
    exitCode(child),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { succeeded: code === 0, output, complaint: complaintOf(`${output}\n${errors}`) };
}

/** Runs Wrangler on the terminal, where it may ask; its exit code. */
export function showWrangler(args: readonly string[]): Promise<number> {
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false" };
  return exitCode(spawn("wrangler", [...args], { env, stdio: "inherit" }));
}

/** From the first error on, without the line that names the log file. */
function complaintOf(said: string): string {
  const lines = stripVTControlCharacters(said)
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

/** The JSON array that a list command printed. @throws Error with Wrangler's words where it failed. */
export async function listByWrangler<Entry>(args: readonly string[]): Promise<readonly Entry[]> {
  const { succeeded, output, complaint } = await runWrangler(args);
  if (!succeeded) throw new Error(complaint);
  const entries: unknown = JSON.parse(output.slice(Math.max(output.indexOf("["), 0)));
  if (!Array.isArray(entries)) throw new Error(`wrangler ${args.join(" ")} printed no list`);
  return entries as readonly Entry[];
}
