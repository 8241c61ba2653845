/** Noticing that the process which ran an npm script has died, even where a shell stands between. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const POLL_MS = 1_000;

interface ProcessEntry {
  readonly parent_pid: number;
  readonly name: string;
}

/** What the system says of a process; null where there is none. */
function lookUp(pid: number): ProcessEntry | null {
  try {
    if (process.platform === "linux") {
      // pid (name) state parent_pid …; a name may itself have blanks and parentheses.
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

/** The parent, and above it as long as there are shells that only wait: npm runs scripts by one. */
function ancestors(): readonly number[] {
  const pids = [process.ppid];
  let entry = lookUp(process.ppid);
  while (entry !== null && /(^|\/)(ba|da|z|a)?sh$/.test(entry.name) && entry.parent_pid > 1) {
    pids.push(entry.parent_pid);
    entry = lookUp(entry.parent_pid);
  }
  return pids;
}

/** Calls back once, when one of the processes that wait for this one is no longer there. */
export function onceOrphaned(callback: () => void): void {
  const before = ancestors().join();
  const timer = setInterval(() => {
    if (ancestors().join() === before) return;
    clearInterval(timer);
    callback();
  }, POLL_MS);
  timer.unref();
}
