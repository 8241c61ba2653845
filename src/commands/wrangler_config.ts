/** wrangler.toml, read as Wrangler reads it. */
import {
  experimental_readRawConfig,
  unstable_getVarsForDev,
  type Unstable_RawConfig,
} from "wrangler";

/** The configuration as written, with no default filled in. */
export type WorkerConfig = Unstable_RawConfig;

/** Where a developer's and an operator's settings stand unless `--config` names another file. */
export const CONFIG_FILE = "wrangler.toml";

/** Reads a configuration file. @throws Error in Wrangler's words where it cannot be read. */
export function readWorkerConfig(path: string = CONFIG_FILE): WorkerConfig {
  return experimental_readRawConfig({ config: path }).rawConfig;
}

/** Bindings of the D1 databases that have migrations, in the order of the file. */
export function migratedDatabases(config: WorkerConfig): readonly string[] {
  return (config.d1_databases ?? [])
    .filter(({ migrations_dir }) => migrations_dir !== undefined)
    .map(({ binding }) => binding);
}

/** What of `wrangler dev`'s arguments decides over settings. */
export interface SettingsSources {
  readonly config_file: string;
  readonly env_files: readonly string[];
  /** `NAME:value`, as `--var` takes them. */
  readonly vars: readonly string[];
}

/** The settings that a Worker started with these arguments is given. */
export function readDevelopmentSettings(sources: SettingsSources): Record<string, unknown> {
  const config = readWorkerConfig(sources.config_file);
  const env_files = sources.env_files.length === 0 ? undefined : [...sources.env_files];
  const bindings = unstable_getVarsForDev(
    sources.config_file,
    env_files,
    config.vars ?? {},
    undefined,
    true,
  );
  const settings = Object.entries(bindings).map(([name, { value }]) => [name, value] as const);
  const given = sources.vars.map((text) => {
    const [name = "", ...value] = text.split(":");
    return [name, value.join(":")] as const;
  });
  return Object.fromEntries([...settings, ...given]);
}
