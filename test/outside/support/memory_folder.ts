/** Where tests keep their stores. */
import { readFileSync, statfsSync } from "node:fs";

/** Linux's file system in memory. */
const SHARED_MEMORY = "/dev/shm";

/** Twice what all tests together write. A container often has 64 MiB there. */
const NEEDED_BYTES = 3 * 1024 ** 3;

/**
 * A folder in memory, or null where this machine has none that is large enough and may hold programs. On a
 * disk, SQLite waits for the disk at each write, which takes most of the time of the tests. No test cuts the
 * power, so none needs the disk.
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
