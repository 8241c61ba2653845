/** `passbook run`: runs a command with a narrower token of its own, which is revoked when the command ends. */
import { spawn, type ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { createClient, isPassbookError, PassbookError } from "../client/index.ts";
import { issueNarrower, type ExchangeOptions } from "./exchange.ts";
import { plain } from "./output.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** As a shell does for a command that it cannot run, or cannot find. */
const EXIT_NOT_RUNNABLE = 126;
const EXIT_NOT_FOUND = 127;

/**
 * Runs the command with `PASSBOOK_TOKEN` and `PASSBOOK_URL`. Its exit code, or the signal that ended it, becomes that of this
 * program.
 */
export async function runCommand(
  [program = "", ...args]: readonly string[],
  options: ExchangeOptions,
): Promise<void> {
  const { url, issued } = await issueNarrower(options);
  const env = { ...process.env, PASSBOOK_TOKEN: issued.token, PASSBOOK_URL: url };
  let child: ChildProcess | null = null;
  // Kept until the token is revoked, so that a signal does not prevent that.
  const stopPassing = passSignals(() => child);
  let ended: Ended;
  try {
    child = spawn(program, args, { env, stdio: "inherit" });
    ended = await endOf(child);
  } finally {
    await revoke(url, issued.token);
    stopPassing();
  }
  if (ended.kind === "failed") {
    process.stderr.write(`passbook: ${plain(program)} cannot be run: ${plain(ended.reason)}\n`);
    process.exitCode = ended.is_missing ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
  } else if (ended.kind === "signal") {
    // If this program survives the signal, its exit code is that of a shell.
    process.exitCode = 128 + constants.signals[ended.signal];
    process.kill(process.pid, ended.signal);
  } else {
    process.exitCode = ended.code;
  }
}

type Ended =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "signal"; readonly signal: NodeJS.Signals }
  | { readonly kind: "failed"; readonly reason: string; readonly is_missing: boolean };

function endOf(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve) => {
    child.on("error", (error: NodeJS.ErrnoException) => {
      resolve({ kind: "failed", reason: error.message, is_missing: error.code === "ENOENT" });
    });
    child.on("exit", (code, signal) => {
      resolve(signal === null ? { kind: "exit", code: code ?? 1 } : { kind: "signal", signal });
    });
  });
}

/** @returns a function that ends the passing */
function passSignals(childNow: () => ChildProcess | null): () => void {
  const pass = (signal: NodeJS.Signals): void => {
    // A terminal sends Ctrl-C and Ctrl-\ to the command too.
    const is_from_terminal = process.stdin.isTTY && (signal === "SIGINT" || signal === "SIGQUIT");
    if (!is_from_terminal) childNow()?.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, pass);
  return () => {
    for (const signal of SIGNALS) process.off(signal, pass);
  };
}

/** If the service does not revoke it, the token expires by itself. */
async function revoke(url: string, token: string): Promise<void> {
  try {
    const { tokens } = createClient({ baseUrl: url, token, retries: 1 });
    const current = (await tokens.list()).find((listed) => listed.current);
    if (current !== undefined) await tokens.revoke(current.id);
  } catch (error) {
    if (!(error instanceof PassbookError)) throw error;
    // It has expired, or its connection has ended.
    if (isPassbookError(error, "unauthorized")) return;
    process.stderr.write(
      `passbook: the command's token was not revoked: ${plain(error.message)} It expires by itself; revoke it now on ${url}/account/access.\n`,
    );
  }
}
