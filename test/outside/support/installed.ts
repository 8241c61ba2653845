/** The package, packed and installed into an empty folder without network access. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Installed {
  /** The folder that contains `node_modules/passbook-client`. */
  readonly folder: string;
  remove(): Promise<void>;
}

/** Packs and installs the package. The caller removes the folder. */
export async function installPackage(): Promise<Installed> {
  const folder = await mkdtemp(join(tmpdir(), "passbook-installed-"));
  // Not `dist`, which test files that run at the same time would empty for each other.
  const packed = ["src/commands/package.ts", "--out", join(folder, "packed")];
  const { stdout } = await run("node", packed);
  const tarball = stdout.trim().split("\n").at(-1) ?? "";
  await writeFile(join(folder, "package.json"), '{ "type": "module", "private": true }');
  const options = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["install", ...options, tarball], { cwd: folder });
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
