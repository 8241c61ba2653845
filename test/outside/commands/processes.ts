/** The processes of this machine, for tests of commands that start others. */
import { execFileSync } from "node:child_process";

interface Entry {
  readonly pid: number;
  readonly parent_pid: number;
}

/** All running processes, without zombies. */
function livingProcesses(): readonly Entry[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" });
  return lines.split("\n").flatMap((line) => {
    const [pid, parent_pid, state = "Z"] = line.trim().split(/\s+/);
    return state.startsWith("Z") ? [] : [{ pid: Number(pid), parent_pid: Number(parent_pid) }];
  });
}

/** A process and all its descendants. */
export function familyOf(pid: number): readonly number[] {
  const all = livingProcesses();
  const family = [pid];
  // The loop appends to the list that it walks.
  for (const member of family) {
    family.push(...all.filter((it) => it.parent_pid === member).map((it) => it.pid));
  }
  return family;
}

/** The processes of `pids` that are still running. */
export function survivorsOf(pids: readonly number[]): readonly number[] {
  const living = new Set(livingProcesses().map(({ pid }) => pid));
  return pids.filter((pid) => living.has(pid));
}

/** The command line of a process. */
export function commandLineOf(pid: number): string {
  return execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" });
}
