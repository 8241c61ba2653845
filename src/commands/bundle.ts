/** Bundles a Worker as a deployment does, and measures the bundle. */
import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { exitCode } from "./local_worker.ts";

const KIB = 1024;

/** The size of the modules that a deployment uploads. */
interface BundleSize {
  readonly raw_kib: number;
  readonly gzip_kib: number;
}

/**
 * Bundles and minifies into `directory`, from wrangler.toml unless `args` name another configuration.
 * @throws Error with Wrangler's message if bundling fails
 */
export async function bundle(args: readonly string[], directory: string): Promise<void> {
  const wrangler = spawn(
    "wrangler",
    ["deploy", ...args, "--dry-run", "--minify", `--outdir=${directory}`],
    { env: { ...process.env, WRANGLER_SEND_METRICS: "false" }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  wrangler.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  wrangler.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  if ((await exitCode(wrangler)) !== 0) throw new Error(output);
}

/** The names of the files that a deployment uploads as modules, JavaScript first. */
export async function modulesOf(directory: string): Promise<readonly string[]> {
  const names = (await readdir(directory)).filter((name) => !/\.(map|md|capnp|toml)$/.test(name));
  return names.toSorted((one, other) => Number(isModule(other)) - Number(isModule(one)));
}

/** Whether a file of a bundle is JavaScript. */
export const isModule = (name: string): boolean => name.endsWith(".js");

/** The size of a bundle. */
export async function sizeOf(directory: string): Promise<BundleSize> {
  const names = await modulesOf(directory);
  const files = await Promise.all(names.map((name) => readFile(join(directory, name))));
  const total = (measure: (file: Buffer) => number): number =>
    files.reduce((sum, file) => sum + measure(file), 0) / KIB;
  return {
    raw_kib: total((file) => file.byteLength),
    gzip_kib: total((file) => gzipSync(file).byteLength),
  };
}
