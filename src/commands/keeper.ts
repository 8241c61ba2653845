/**
 * `node src/commands/keeper.ts <command> [arguments]`: runs a command in a process group of its own,
 * and ends the whole group when told to, or when standard input ends, which it does when the process
 * that started the keeper dies, however it dies. Exits as the command did.
 */
import { spawn } from "node:child_process";

/** What a group may take to end by itself, and to be gone once it was killed. */
const GRACE_MS = 5_000;
const GONE_MS = 1_000;
const POLL_MS = 50;

const [command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"], detached: true });

/** Signals the group; false where nobody is left in it. */
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

/** Ends everything that the command started, and waits for it, once. */
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
// What the command left behind, such as a runtime whose parent crashed, goes with it.
await endGroup();
process.exit(code);
