/**
 * `npm run dev`: makes `.dev.vars` where there is none, migrates the local D1s, runs `wrangler dev`.
 * Arguments after `--` go to it; the migrations follow `--persist-to`.
 */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs, parseEnv } from "node:util";
import { developmentSettings } from "./development_settings.ts";
import { applyMigrations, exitCode, startWrangler } from "./local_worker.ts";
import { wildcardsOpenToStrangers } from "./wildcards.ts";

const SETTINGS_FILE = ".dev.vars";

const args = process.argv.slice(2);
const { values } = parseArgs({
  args,
  options: { "persist-to": { type: "string" } },
  strict: false,
});
const persist_to = values["persist-to"];

if (!existsSync(SETTINGS_FILE)) {
  await writeFile(SETTINGS_FILE, await developmentSettings(), { mode: 0o600 });
  console.log(`Made ${SETTINGS_FILE} with new keys.`);
}
const { ALLOWED_ORIGINS = "" } = parseEnv(await readFile(SETTINGS_FILE, "utf8"));
const open = wildcardsOpenToStrangers(ALLOWED_ORIGINS);
if (open.length > 0) {
  console.error(
    `ALLOWED_ORIGINS in ${SETTINGS_FILE} would let strangers in by ${open.join(", ")}.`,
  );
  process.exit(1);
}
console.log("Applying the migrations of the local databases …");
await applyMigrations(typeof persist_to === "string" ? persist_to : null);

const wrangler = startWrangler(args, "inherit");
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => wrangler.kill(signal));
}
process.exitCode = await exitCode(wrangler);
