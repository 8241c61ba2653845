/** The loss of D1 `DIRECTORY`: an empty database is in its place. */
import { env } from "cloudflare:workers";

/** Empties the directory, as a database that was created again is. */
export async function loseDirectory(): Promise<void> {
  const { results } = await env.DIRECTORY.prepare(
    "select name from sqlite_master where type = 'table' and name not glob '[_d]*_*' or name = 'directory_marker'",
  ).run<{ readonly name: string }>();
  const names = results.map(({ name }) => name).filter((name) => !name.startsWith("sqlite"));
  // Twice, because triggers write rows during the first time.
  for (const _ of [1, 2]) {
    await env.DIRECTORY.batch(names.map((name) => env.DIRECTORY.prepare(`delete from "${name}"`)));
  }
}

/** The keys of the archive in a folder. */
export async function keysIn(prefix: string): Promise<readonly string[]> {
  const { objects } = await env.ARCHIVE.list({ prefix });
  return objects.map(({ key }) => key);
}
