#!/usr/bin/env node
/**
 * `passbook`, the command line. Exits with 0 when done, 1 when the service refused, 2 when the command
 * makes no sense, 3 when you are not signed in, 4 when the service gave no answer.
 */
import { readFile } from "node:fs/promises";
import { CommanderError } from "commander";
import { PassbookError } from "../client/index.ts";
import { plain, stopWhenNobodyReads } from "./output.ts";
import { createProgram } from "./program.ts";
import { environmentToken } from "./session.ts";

const manifest = new URL("../package.json", import.meta.url);
const { version = "" } = JSON.parse(await readFile(manifest, "utf8").catch(() => "{}")) as {
  version?: string;
};

const EXIT_CODES: Readonly<Record<string, number>> = {
  invalid_argument: 2,
  no_credentials: 3,
  unauthorized: 3,
  token_expired: 3,
  no_response: 4,
  invalid_response: 4,
};

const json = process.argv.includes("--json");

/** The exit code of an error, after saying what is wrong and what to do. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) return explainUsage(error);
  const code = error instanceof PassbookError ? error.code : "failed";
  const message = plain(error instanceof Error ? error.message : "Something went wrong.");
  const exit_code = EXIT_CODES[code] ?? 1;
  const advice = exit_code === 3 && code !== "no_credentials" ? ` ${howToGetIn()}` : adviceOn(code);
  say(message, code, `passbook: ${message}${advice}`);
  return exit_code;
}

/** A token for one's own account operates nothing, even an operator's. */
function adviceOn(code: string): string {
  return code === "not_operator" ? " Operators sign in with: passbook login --admin" : "";
}

/** Commander has said it already, unless it should be JSON; 0 is --help and --version. */
function explainUsage({ exitCode, code, message }: CommanderError): number {
  if (exitCode === 0) return 0;
  const words = code === "commander.help" ? "Which command? See: passbook --help" : plain(message);
  if (json) say(words.replace(/^error: /, ""), "invalid_argument", "");
  return 2;
}

/** A new login is of no use where the environment's token goes before it. */
function howToGetIn(): string {
  if (environmentToken() === null) return "Run: passbook login";
  return "It is PASSBOOK_TOKEN's: set another there, or unset it and run: passbook login";
}

function say(error: string, code: string, words: string): void {
  process.stderr.write(`${json ? JSON.stringify({ error, code }) : words}\n`);
}

stopWhenNobodyReads();
try {
  await createProgram(version, { json }).parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}
