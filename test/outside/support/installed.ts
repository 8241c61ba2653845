/** The package, packed and installed into an empty folder without network access. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Installed {
  /** The folder that contains `node_modules/passbook-client`. */
  readonly folder: string;
  remove(): Promise<void>;
}

/** Packs and installs the package. The caller removes the folder. */
export async function installPackage(): Promise<Installed> {
  const { stdout } = await run("node", ["src/commands/package.ts"]);
  const tarball = resolve(stdout.trim().split("\n").at(-1) ?? "");
  const folder = await mkdtemp(join(tmpdir(), "passbook-installed-"));
  await writeFile(join(folder, "package.json"), '{ "type": "module", "private": true }');
  const options = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["install", ...options, tarball], { cwd: folder });
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
