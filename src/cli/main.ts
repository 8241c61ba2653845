#!/usr/bin/env node
/**
 * `passbook`, the command line. Exit codes: 0 done, 1 refused by the service, 2 invalid command, 3 not signed in,
 * 4 no response from the service, 5 a check found a problem, such as "admin health" or "archive verify".
 */
import { readFile } from "node:fs/promises";
import { CommanderError } from "commander";
import { PassbookError } from "../client/index.ts";
import { credentialsPath, readLogin } from "./credentials_file.ts";
import { plain, exitOnClosedOutput } from "./output.ts";
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

// What follows "--" belongs to the command of `passbook run`.
const own_end = process.argv.indexOf("--");
const own_arguments = own_end === -1 ? process.argv : process.argv.slice(0, own_end);
const json = own_arguments.includes("--json");

/** Prints an error with advice. @returns the exit code */
async function report(error: unknown): Promise<number> {
  if (error instanceof CommanderError) return reportUsage(error);
  const code = error instanceof PassbookError ? error.code : "failed";
  const message = plain(error instanceof Error ? error.message : "An unknown error occurred.");
  const exit_code = EXIT_CODES[code] ?? 1;
  const body = error instanceof PassbookError ? error.body : {};
  const advice =
    exit_code === 3 && code !== "no_credentials"
      ? ` ${await signInAdvice()}`
      : adviceOn(code, body);
  write({ ...body, error: message, code }, `passbook: ${message}${advice}`);
  return exit_code;
}

function adviceOn(code: string, { approval_url, topup_url }: PassbookError["body"]): string {
  if (typeof approval_url === "string") return ` Allow this one job: ${plain(approval_url)}`;
  if (code === "insufficient_credits" && typeof topup_url === "string")
    return ` Buy credits: ${plain(topup_url)}`;
  // Even an operator's token operates the service only if it was approved for that.
  return code === "not_operator" ? " Operators sign in with: passbook login --admin" : "";
}

/** Commander has printed the error already, except with --json. --help and --version exit with 0. */
function reportUsage({ exitCode, code, message }: CommanderError): number {
  if (exitCode === 0) return 0;
  const text = code === "commander.help" ? "Name a command. See: passbook --help" : plain(message);
  if (json) write({ error: text.replace(/^error: /, ""), code: "invalid_argument" }, "");
  return 2;
}

/** A new login does not help while PASSBOOK_TOKEN takes precedence over it. */
async function signInAdvice(): Promise<string> {
  if (environmentToken() === null) {
    const login = await readLogin(credentialsPath(process.env)).catch(() => null);
    return `Run: passbook ${(login?.connection ?? null) === null ? "login" : "connect"}`;
  }
  return "The token is from PASSBOOK_TOKEN: set another one, or unset it and run: passbook login";
}

function write(refusal: object, text: string): void {
  process.stderr.write(`${json ? JSON.stringify(refusal) : text}\n`);
}

exitOnClosedOutput();
try {
  await createProgram(version, { json }).parseAsync();
} catch (error) {
  process.exitCode = await report(error);
}
