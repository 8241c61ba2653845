/** The folder of the tests' stores. */
import { readFileSync, statfsSync } from "node:fs";

/** Linux's in-memory file system. */
const SHARED_MEMORY = "/dev/shm";

/** Twice what all tests together write. Containers often have only 64 MiB. */
const NEEDED_BYTES = 3 * 1024 ** 3;

/**
 * A folder in memory; null if this machine has no such folder that is large enough and allows programs. On a disk, SQLite
 * waits for each write, which takes most of the tests' time. No test needs data to survive a power failure.
 */
export function memoryFolder(): string | null {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    if (bavail * bsize < NEEDED_BYTES) return null;
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .find((line) => line.split(" ")[1] === SHARED_MEMORY);
    const options = mount?.split(" ")[3]?.split(",") ?? ["noexec"];
    return options.includes("noexec") ? null : SHARED_MEMORY;
  } catch {
    return null;
  }
}
