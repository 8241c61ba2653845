/**
 * `npm run dev`: creates `.dev.vars` if it is missing, fetches the endpoints of sign-in providers, checks the settings,
 * migrates the local databases and runs `wrangler dev` with the arguments after `--`. The migrations use `--persist-to` too.
 * When this process or its npm ends for any reason, all processes that it started end.
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { onceOrphaned } from "../cli/parent_watch.ts";
import { describeProduction, describeService, passOnOutput } from "./development_output.ts";
import { developmentSettings } from "./development_settings.ts";
import { applyMigrations, exitCode, startWrangler } from "./local_worker.ts";
import {
  completeFile,
  describeCompletion,
  needsDiscovery,
  PROVIDERS_SETTING,
} from "./provider_settings.ts";
import { DEVELOPMENT_ENTRY } from "./packed_worker.ts";
import { removeServerRecord, isPortTaken, recordServer, serverOf } from "./running_server.ts";
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

/** Why the server cannot start; null if it can. */
async function findObstacle(): Promise<string | null> {
  const other = await serverOf(state_folder);
  if (other !== null) {
    return (
      `Passbook already runs on this state: http://localhost:${other.port} (process ${other.pid}). ` +
      `Stop it first, or start this one with its own state: ${alternativeCommand(other.port + 1)}`
    );
  }
  if (!(await isPortTaken(port))) return null;
  return `Port ${port} is taken by another program. Stop it, or use another port: ${alternativeCommand(port + 1)}`;
}

function alternativeCommand(free_port: number): string {
  return `npm run dev -- --port ${free_port} --persist-to .wrangler/state-${free_port}`;
}

/** The settings, after fetching the endpoints of sign-in providers into their files. */
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
    console.log(`Created ${SETTINGS_FILE} with new keys.`);
  }
  const settings_files = env_files.length === 0 ? [SETTINGS_FILE] : env_files;
  const settings = await readSettings(settings_files);
  const production_note = describeProduction(settings);
  if (production_note !== null) console.error(production_note);
  if (!printReport(reportSettings(settings))) {
    const sources = [...settings_files, config_file].join(" and ");
    console.error(`The settings are in ${sources}. docs/settings.md describes each of them.`);
    return 1;
  }
  console.log("Applying the migrations of the local databases …");
  await applyMigrations(persist_to);
  // Without --port, Wrangler would silently use another port.
  const wrangler = await startWrangler(
    [
      // Another configuration names its own Worker.
      ...(values.config === undefined ? [DEVELOPMENT_ENTRY] : []),
      ...args,
      ...(values.port === undefined ? [`--port=${port}`] : []),
    ],
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
  await recordServer(state_folder, port);
  try {
    return await exitCode(wrangler);
  } finally {
    await removeServerRecord(state_folder);
  }
}

process.exitCode = await serve().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  return 1;
});
