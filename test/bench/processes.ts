/** Processor time and memory of a process and its descendants, from /proc. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_SECOND = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

interface Stat {
  readonly pid: number;
  /** The name of its file, at most 15 characters. */
  readonly program: string;
  readonly parent: number;
  /** Of the process and of its ended children. */
  readonly cpu_ticks: number;
}

function readStat(pid: number): Stat | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may contain any character.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).map(Number);
    const program = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    return {
      pid,
      program,
      parent: Number(fields[1]),
      cpu_ticks: ticks.reduce((sum, it) => sum + it, 0),
    };
  } catch {
    // The process has ended.
    return null;
  }
}

/** `roots` and their descendants. */
function family(roots: readonly number[]): readonly Stat[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)) ?? []);
  const found = new Set(roots);
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid));
}

/** `roots` and their descendants that run, with their programs. */
export function processesOf(
  roots: readonly number[],
): readonly { readonly pid: number; readonly program: string }[] {
  return family(roots).map(({ pid, program }) => ({ pid, program }));
}

/** The processor time of `roots` and their descendants so far, in milliseconds. */
export function cpuMilliseconds(roots: readonly number[]): number {
  const ticks = family(roots).reduce((sum, { cpu_ticks }) => sum + cpu_ticks, 0);
  return (ticks * 1000) / TICKS_PER_SECOND;
}

/** The processor time of all programs of the machine so far, in milliseconds. */
export function machineCpuMilliseconds(): number {
  const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n");
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line
    .split(/ +/)
    .slice(1)
    .map(Number);
  return ((user + nice + system + irq + softirq) * 1000) / TICKS_PER_SECOND;
}

/** The memory of `roots` and their descendants in MiB. Shared memory is counted once. */
export function memoryMebibytes(roots: readonly number[]): number {
  const kib = family(roots).reduce((sum, { pid }) => {
    try {
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
      return sum + Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    } catch {
      return sum;
    }
  }, 0);
  return kib / 1024;
}
