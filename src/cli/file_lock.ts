/** A lock that programs on one machine share: a file next to the one that it protects. */
import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** A holder touches the lock this often. One that was killed does not. */
const TOUCH_MS = 2_000;
const ABANDONED_MS = 10_000;

const RETRY_MS = 25;

/** Runs `work` while no other program has the lock of `path`. Waits for it, and takes over a lock whose holder was killed. */
export async function withLock<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
  const lock = `${path}.lock`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  while (!(await acquire(lock))) await wait(RETRY_MS);
  const touching = setInterval(() => {
    const now = new Date();
    utimes(lock, now, now).catch(() => {});
  }, TOUCH_MS);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    await rm(lock, { force: true });
  }
}

async function acquire(lock: string): Promise<boolean> {
  try {
    await (await open(lock, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  if (await isAbandoned(lock)) await remove(lock);
  return false;
}

async function isAbandoned(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > ABANDONED_MS;
}

/**
 * Renames the lock first: of several programs that wait, only one moves the abandoned file. If it moved the lock of a faster
 * one, it puts that back.
 */
async function remove(lock: string): Promise<void> {
  const moved = `${lock}.${randomUUID()}`;
  try {
    await rename(lock, moved);
    if (await isAbandoned(moved)) await rm(moved, { force: true });
    else await rename(moved, lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
