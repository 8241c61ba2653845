/** wrangler.toml as an operator has it who binds the queue: its blocks without the marks before them. */
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

/** The blocks of the queue, in or out of comments. @throws Error where wrangler.toml has none. */
export function bindQueue(toml: string): string {
  const blocks = /^# \[\[queues\.producers\]\]\n(?:#.*\n)+/m;
  if (!blocks.test(toml)) throw new Error("wrangler.toml has no commented block of the queue");
  return toml.replace(blocks, (commented) => commented.replaceAll(/^# ?/gm, ""));
}

/** Writes that configuration into a directory, and gives its path. Migrations are read from here. */
export async function writeQueueConfig(directory: string): Promise<string> {
  const path = join(directory, "queue.toml");
  const up = relative(dirname(path), ".");
  const toml = bindQueue(await readFile("wrangler.toml", "utf8"))
    .replace('main = "', `main = "${up}/`)
    .replace('directory = "', `directory = "${up}/`);
  await writeFile(path, toml);
  return path;
}
