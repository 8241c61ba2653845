/**
 * The Worker's configuration without routes, for development. With a route, `wrangler dev` gives every request the
 * route's host, and the service would refuse requests for this machine.
 */
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CONFIG_FILE, readWorkerConfig } from "./wrangler_config.ts";

/** Written next to the original file, since its paths are relative. */
const ROUTELESS_FILE = ".passbook-local.json";

const CONFIG_OPTION = /^(?:--config|-c)(?:=(.*))?$/;

/** Arguments of `wrangler dev`, with a configuration without routes if theirs has any. */
export async function withoutRoutes(args: readonly string[]): Promise<readonly string[]> {
  const index = args.findIndex((argument) => CONFIG_OPTION.test(argument));
  const given = CONFIG_OPTION.exec(args[index] ?? "")?.[1];
  const config_file = index === -1 ? CONFIG_FILE : (given ?? args[index + 1] ?? CONFIG_FILE);
  const { route, routes, ...routeless } = readWorkerConfig(config_file);
  if (route === undefined && routes === undefined) return args;
  const routeless_file = join(dirname(config_file), ROUTELESS_FILE);
  await writeChanged(routeless_file, JSON.stringify(routeless));
  const others = index === -1 ? args : args.toSpliced(index, given === undefined ? 2 : 1);
  return [...others, `--config=${routeless_file}`];
}

/** Writes only a changed text: a running server restarts when its configuration is written. */
async function writeChanged(path: string, text: string): Promise<void> {
  const before = await readFile(path, "utf8").catch(() => null);
  if (before !== text) await writeFile(path, text);
}
