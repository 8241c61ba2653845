/** The development build of the Worker as the package brings it: bundle, migrations, static files and settings. */
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { SUBSCRIBABLE_EVENTS } from "../domain/webhook.ts";
import { bundle, modulesOf } from "./bundle.ts";
import { CONFIG_FILE, readWorkerConfig } from "./wrangler_config.ts";

/** The entry of the development build. */
export const DEVELOPMENT_ENTRY = "src/development/worker.ts";

/** Writes the folder. `miniflare`: the version of the runtime. */
export async function packWorker(folder: string, miniflare: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const bundled = await mkdtemp(join(tmpdir(), "passbook-bundle-"));
  try {
    await bundle([DEVELOPMENT_ENTRY], bundled);
    const modules = await modulesOf(bundled);
    for (const name of modules) await cp(join(bundled, name), join(folder, name));
    const { options, assets_folder } = readOptions();
    await cp(assets_folder, join(folder, "assets"), { recursive: true });
    const databases = (readWorkerConfig().d1_databases ?? []).map(
      ({ binding, migrations_dir = "" }) => ({ binding, migrations_dir }),
    );
    for (const { binding, migrations_dir } of databases) {
      await cp(migrations_dir, join(folder, "migrations", binding), {
        recursive: true,
        filter: (path) => path === migrations_dir || path.endsWith(".sql"),
      });
    }
    const manifest = {
      miniflare,
      modules,
      options,
      databases: databases.map(({ binding }) => binding),
      events: SUBSCRIBABLE_EVENTS,
    };
    await writeFile(join(folder, "service.json"), `${JSON.stringify(manifest)}\n`);
  } finally {
    await rm(bundled, { recursive: true, force: true });
  }
}

/** The parts of wrangler.toml that the Worker needs on this machine, as JSON. */
function readOptions() {
  const { workerOptions } = unstable_getMiniflareWorkerOptions(CONFIG_FILE);
  const { compatibilityDate, compatibilityFlags, bindings, ratelimits, assets } = workerOptions;
  const { versionMetadata, kvNamespaces, d1Databases, durableObjects, r2Buckets } = workerOptions;
  // Wrangler's types leave its fields out.
  const { directory = "", ...settings } = (assets ?? {}) as { readonly directory?: string };
  const options = {
    compatibilityDate,
    compatibilityFlags,
    bindings,
    ratelimits,
    versionMetadata,
    kvNamespaces,
    d1Databases,
    durableObjects,
    r2Buckets,
    assets: settings,
  };
  return { options, assets_folder: directory };
}
