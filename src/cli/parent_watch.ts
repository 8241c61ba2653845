/** Detects that the process which waits for this one has died, such as npm or npx, even if a shell is between the two. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const POLL_MS = 1_000;

interface ProcessEntry {
  readonly parent_pid: number;
  readonly name: string;
}

/** The system's entry for a process; null if it has ended. */
function lookUp(pid: number): ProcessEntry | null {
  try {
    if (process.platform === "linux") {
      // pid (name) state parent_pid …; a name may contain blanks and parentheses.
      const [, name = "", parent_pid] =
        /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
      return { parent_pid: Number(parent_pid), name };
    }
    const line = execFileSync("ps", ["-o", "ppid=,comm=", "-p", String(pid)], { encoding: "utf8" });
    const [, parent_pid, name = ""] = /^\s*(\d+)\s+(.*?)\s*$/s.exec(line) ?? [];
    return { parent_pid: Number(parent_pid), name };
  } catch {
    return null;
  }
}

/** The parent, and the parents of shells that only wait: npm runs scripts through a shell. */
function ancestors(): readonly number[] {
  const pids = [process.ppid];
  let entry = lookUp(process.ppid);
  while (entry !== null && /(^|\/)(ba|da|z|a)?sh$/.test(entry.name) && entry.parent_pid > 1) {
    pids.push(entry.parent_pid);
    entry = lookUp(entry.parent_pid);
  }
  return pids;
}

/** Calls back once when a process that waits for this one has ended. */
export function onceOrphaned(callback: () => void): void {
  const before = ancestors().join();
  const timer = setInterval(() => {
    if (ancestors().join() === before) return;
    clearInterval(timer);
    callback();
  }, POLL_MS);
  timer.unref();
}
