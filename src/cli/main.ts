#!/usr/bin/env node
/**
 * `passbook`, the command line. Exits with 0 when done, 1 when the service refused, 2 when the command
 * makes no sense, 3 when you are not signed in, 4 when the service gave no answer.
 */
import { readFile } from "node:fs/promises";
import { CommanderError } from "commander";
import { PassbookError } from "../client/index.ts";
import { plain } from "./output.ts";
import { createProgram } from "./program.ts";

const manifest = new URL("../package.json", import.meta.url);
const { version = "" } = JSON.parse(await readFile(manifest, "utf8").catch(() => "{}")) as {
  version?: string;
};

const EXIT_CODES: Readonly<Record<string, number>> = {
  invalid_argument: 2,
  no_credentials: 3,
  unauthorized: 3,
  no_answer: 4,
  bad_answer: 4,
};

/** The exit code of an error, after saying what is wrong and what to do. */
function explain(error: unknown): number {
  // Commander has said it already; 0 is --help and --version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const json = process.argv.includes("--json");
  const code = error instanceof PassbookError ? error.code : "failed";
  const message = plain(error instanceof Error ? error.message : "Something went wrong.");
  const advice = code === "unauthorized" ? " Run: passbook login" : "";
  const text = json ? JSON.stringify({ error: message, code }) : `passbook: ${message}${advice}`;
  process.stderr.write(`${text}\n`);
  return EXIT_CODES[code] ?? 1;
}

try {
  await createProgram(version).parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}
