/** Reads wrangler.toml in the same way as Wrangler. */
import {
  experimental_readRawConfig,
  unstable_getVarsForDev,
  type Unstable_RawConfig,
} from "wrangler";

/** The configuration as written, without defaults. */
export type WorkerConfig = Unstable_RawConfig;

/** The configuration file, unless `--config` names another. */
export const CONFIG_FILE = "wrangler.toml";

/** Reads a configuration file. @throws Error with Wrangler's message if it is invalid */
export function readWorkerConfig(path: string = CONFIG_FILE): WorkerConfig {
  return experimental_readRawConfig({ config: path }).rawConfig;
}

/** Bindings of the D1 databases that have migrations, in the order of the file. */
export function migratedDatabases(config: WorkerConfig): readonly string[] {
  return (config.d1_databases ?? [])
    .filter(({ migrations_dir }) => migrations_dir !== undefined)
    .map(({ binding }) => binding);
}

/** The arguments of `wrangler dev` that affect settings. */
interface SettingsSources {
  readonly config_file: string;
  readonly env_files: readonly string[];
  /** `NAME:value` texts of `--var`. */
  readonly vars: readonly string[];
}

/** The settings of a Worker that is started with these arguments. */
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
