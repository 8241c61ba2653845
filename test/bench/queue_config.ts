/** wrangler.toml with the queue bound: its commented blocks without the comment marks. */
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

/** Uncomments the blocks of the queue. @throws Error if wrangler.toml has no such blocks */
export function bindQueue(toml: string): string {
  const blocks = /^# \[\[queues\.producers\]\]\n(?:#.*\n)+/m;
  if (!blocks.test(toml)) throw new Error("wrangler.toml has no commented block of the queue");
  return toml.replace(blocks, (commented) => commented.replaceAll(/^# ?/gm, ""));
}

/** Writes that configuration into a directory. Migrations are read from here. @returns its path */
export async function writeQueueConfig(directory: string): Promise<string> {
  const path = join(directory, "queue.toml");
  const up = relative(dirname(path), ".");
  const toml = bindQueue(await readFile("wrangler.toml", "utf8"))
    .replace('main = "', `main = "${up}/`)
    .replace('directory = "', `directory = "${up}/`)
    .replaceAll('= "./drizzle/', `= "${up}/drizzle/`);
  await writeFile(path, toml);
  return path;
}
