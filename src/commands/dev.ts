/**
 * `npm run dev`: makes `.dev.vars` where there is none, fetches what sign-in providers publish, checks the
 * settings, migrates the local databases, runs `wrangler dev`. Arguments after `--` go to it; the migrations follow `--persist-to`.
 * Whatever ends this process, or the npm that runs it, ends all that it started.
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { onceOrphaned } from "./ancestors.ts";
import { describeProduction, describeService, passOnOutput } from "./development_output.ts";
import { developmentSettings } from "./development_settings.ts";
import { applyMigrations, exitCode, startWrangler } from "./local_worker.ts";
import {
  completeFile,
  describeCompletion,
  needsDiscovery,
  PROVIDERS_SETTING,
} from "./provider_settings.ts";
import { forgetServer, isPortTaken, noteServer, serverOf } from "./running_server.ts";
import { writeSecretFile } from "./secret_file.ts";
import { printReport, reportSettings } from "./settings_report.ts";
import { CONFIG_FILE, readDevelopmentSettings, readWorkerConfig } from "./wrangler_config.ts";

const SETTINGS_FILE = ".dev.vars";
const STATE_FOLDER = ".wrangler/state";
const DEFAULT_PORT = 8787;

const args = process.argv.slice(2);
const { values } = parseArgs({
  args,
  options: {
    config: { type: "string", short: "c" },
    "env-file": { type: "string", multiple: true },
    "persist-to": { type: "string" },
    port: { type: "string" },
    var: { type: "string", multiple: true },
  },
  strict: false,
});
const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((it): it is string => typeof it === "string") : [];

const config_file = text(values.config) ?? CONFIG_FILE;
const persist_to = text(values["persist-to"]);
const port = Number(text(values.port) ?? readWorkerConfig(config_file).dev?.port ?? DEFAULT_PORT);
const state_folder = persist_to ?? STATE_FOLDER;
const env_files = texts(values["env-file"]);

/** Why the server cannot start, in words; null where it can. */
async function findObstacle(): Promise<string | null> {
  const other = await serverOf(state_folder);
  if (other !== null) {
    return (
      `Passbook already runs on this state: http://localhost:${other.port} (process ${other.pid}). ` +
      `Stop it first, or give this one its own: ${anotherWay(other.port + 1)}`
    );
  }
  if (!(await isPortTaken(port))) return null;
  return `Port ${port} is taken by another program. Stop it, or choose another port: ${anotherWay(port + 1)}`;
}

function anotherWay(free_port: number): string {
  return `npm run dev -- --port ${free_port} --persist-to .wrangler/state-${free_port}`;
}

/** The settings, after the endpoints of sign-in providers were fetched into the files that name them. */
async function readSettings(files: readonly string[]): Promise<Record<string, unknown>> {
  const sources = { config_file, env_files, vars: texts(values.var) };
  const settings = readDevelopmentSettings(sources);
  if (!needsDiscovery(settings[PROVIDERS_SETTING])) return settings;
  for (const file of files) {
    const completed = await completeFile(file);
    if (completed !== null && completed.ids.length > 0) {
      console.log(describeCompletion(completed, file));
    }
  }
  return readDevelopmentSettings(sources);
}

async function serve(): Promise<number> {
  const obstacle = await findObstacle();
  if (obstacle !== null) {
    console.error(obstacle);
    return 1;
  }
  if (env_files.length === 0 && !existsSync(SETTINGS_FILE)) {
    await writeSecretFile(SETTINGS_FILE, await developmentSettings());
    console.log(`Made ${SETTINGS_FILE} with new keys.`);
  }
  const settings_files = env_files.length === 0 ? [SETTINGS_FILE] : env_files;
  const settings = await readSettings(settings_files);
  const as_in_production = describeProduction(settings);
  if (as_in_production !== null) console.error(as_in_production);
  if (!printReport(reportSettings(settings))) {
    const places = [...settings_files, config_file].join(" and ");
    console.error(`The settings are in ${places}. README.md says what each of them means.`);
    return 1;
  }
  console.log("Applying the migrations of the local databases …");
  await applyMigrations(persist_to);
  // Wrangler would take another port in silence where it is told none.
  const wrangler = await startWrangler(
    values.port === undefined ? [...args, `--port=${port}`] : args,
    "pipe",
  );
  wrangler.stderr?.pipe(process.stderr);
  if (wrangler.stdout !== null) {
    passOnOutput(wrangler.stdout, console.log, (url) =>
      process.stdout.write(describeService(url, settings, settings_files.join(" or "))),
    );
  }
  const stop = () => wrangler.kill("SIGTERM");
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  onceOrphaned(stop);
  await noteServer(state_folder, port);
  try {
    return await exitCode(wrangler);
  } finally {
    await forgetServer(state_folder);
  }
}

process.exitCode = await serve().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  return 1;
});
