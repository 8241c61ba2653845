/**
 * `node src/commands/process_group.ts <command> [arguments]`: runs a command in its own process group. It ends the whole
 * group on a signal, or when standard input closes, which happens even if its parent is killed. Exits with the command's
 * exit code.
 */
import { spawn } from "node:child_process";

/** How long a group may take to end after SIGTERM. */
const GRACE_MS = 5_000;

/** How long a killed group may take to disappear. */
const GONE_MS = 1_000;
const POLL_MS = 50;

const [command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"], detached: true });

/** Signals the group. False if it has no processes left. */
function signalGroup(signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}

async function isGoneWithin(limit_ms: number): Promise<boolean> {
  for (let waited_ms = 0; waited_ms < limit_ms; waited_ms += POLL_MS) {
    if (!signalGroup(0)) return true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return false;
}

let ending: Promise<void> | undefined;

/** Ends every process that the command started, and waits for them. Repeated calls share one run. */
function endGroup(): Promise<void> {
  ending ??= (async () => {
    signalGroup("SIGTERM");
    if (await isGoneWithin(GRACE_MS)) return;
    signalGroup("SIGKILL");
    await isGoneWithin(GONE_MS);
  })();
  return ending;
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => void endGroup());
}
process.stdin.on("close", () => void endGroup()).resume();

const code = await new Promise<number>((resolve) => {
  child.once("error", () => resolve(127));
  child.once("exit", (exit_code) => resolve(exit_code ?? 1));
});
// Ends processes that the command left behind, such as a runtime whose parent crashed.
await endGroup();
process.exit(code);
