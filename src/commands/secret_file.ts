/** Files with secrets, which only their owner can read at any time. */
import type { Stats } from "node:fs";
import { chmod, lstat, readFile, rename, rm, writeFile } from "node:fs/promises";

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/** The text of a file with secrets; null without a file. Removes other users' access to the file. */
export async function readSecretFile(file: string): Promise<string | null> {
  const stats = await statsOf(file);
  if (stats === null) return null;
  // A pipe or symbolic link, for example of a password manager, is read but not changed.
  if (stats.isFile() && isOwn(stats) && (stats.mode & OTHERS) !== 0) await chmod(file, OWNER_ONLY);
  return readFile(file, "utf8");
}

/**
 * Replaces a file with secrets atomically. The new file never inherits a mode that lets other users read it.
 * @throws Error if the secrets would reach another file or another user
 */
export async function writeSecretFile(file: string, text: string): Promise<void> {
  const stats = await statsOf(file);
  if (stats?.isSymbolicLink() === true) {
    throw new Error(`${file} is a symbolic link. Name the file that it points to instead.`);
  }
  if (stats !== null && !stats.isFile()) {
    throw new Error(`${file} is not a file. Name a file of your own, or one that does not exist.`);
  }
  if (stats !== null && !isOwn(stats)) {
    throw new Error(`${file} belongs to another user, who could read it. Name a file of your own.`);
  }
  const fresh = `${file}.${process.pid}.new`;
  await rm(fresh, { force: true });
  try {
    await writeFile(fresh, text, { mode: OWNER_ONLY, flag: "wx" });
    await rename(fresh, file);
  } finally {
    await rm(fresh, { force: true });
  }
}

async function statsOf(file: string): Promise<Stats | null> {
  return lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}

/** Windows has no user ids, so every file counts as own. */
function isOwn({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}
