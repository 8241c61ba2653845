/** Looking at the processes of this machine, for tests of commands that start others. */
import { execFileSync } from "node:child_process";

interface Entry {
  readonly pid: number;
  readonly parent_pid: number;
}

/** All processes that have not ended; one that ended and was not yet waited for has. */
function livingProcesses(): readonly Entry[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" });
  return lines.split("\n").flatMap((line) => {
    const [pid, parent_pid, state = "Z"] = line.trim().split(/\s+/);
    return state.startsWith("Z") ? [] : [{ pid: Number(pid), parent_pid: Number(parent_pid) }];
  });
}

/** A process and all that it started, directly or not. */
export function familyOf(pid: number): readonly number[] {
  const all = livingProcesses();
  const family = [pid];
  // Grows while it is walked.
  for (const member of family) {
    family.push(...all.filter((it) => it.parent_pid === member).map((it) => it.pid));
  }
  return family;
}

/** Those of `pids` that still live. */
export function survivorsOf(pids: readonly number[]): readonly number[] {
  const living = new Set(livingProcesses().map(({ pid }) => pid));
  return pids.filter((pid) => living.has(pid));
}

/** What a process was started with. */
export function commandLineOf(pid: number): string {
  return execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" });
}
