/**
 * The Worker's configuration without its routes, for running it on this machine: with one, Wrangler makes
 * every request look like one for that host, and nobody on this machine would be at home.
 */
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CONFIG_FILE, readWorkerConfig } from "./wrangler_config.ts";

/** Beside the file it is made of, since paths in it count from there. */
const ROUTELESS_FILE = ".passbook-local.json";

const CONFIG_OPTION = /^(?:--config|-c)(?:=(.*))?$/;

/** Arguments of `wrangler dev`, with another configuration where theirs has a route. */
export async function withoutRoutes(args: readonly string[]): Promise<readonly string[]> {
  const place = args.findIndex((argument) => CONFIG_OPTION.test(argument));
  const given = CONFIG_OPTION.exec(args[place] ?? "")?.[1];
  const config_file = place === -1 ? CONFIG_FILE : (given ?? args[place + 1] ?? CONFIG_FILE);
  const { route, routes, ...routeless } = readWorkerConfig(config_file);
  if (route === undefined && routes === undefined) return args;
  const routeless_file = join(dirname(config_file), ROUTELESS_FILE);
  await writeChanged(routeless_file, JSON.stringify(routeless));
  const others = place === -1 ? args : args.toSpliced(place, given === undefined ? 2 : 1);
  return [...others, `--config=${routeless_file}`];
}

/** A server that runs already reads its configuration anew when it is written. */
async function writeChanged(path: string, text: string): Promise<void> {
  const before = await readFile(path, "utf8").catch(() => null);
  if (before !== text) await writeFile(path, text);
}
