/** `npm run deploy -- --dry-run`: shows the settings and steps of a deployment, and bundles the code. Contacts no service. */
import { settingNames } from "../config/config.ts";
import { GENERATED_SECRETS } from "./deploy_plan.ts";
import type { Secrets } from "./deploy_secrets.ts";
import { printReport, unusableWarnings, type SettingsReport } from "./settings_report.ts";
import type { WorkerConfig } from "./wrangler_config.ts";
import { runWrangler } from "./wrangler_run.ts";

interface Rehearsal {
  readonly config: WorkerConfig;
  readonly config_file: string;
  readonly from_file: Secrets;
  readonly secrets_file: string | null;
  readonly report: SettingsReport;
  readonly titles: readonly string[];
}

/** Ends with the error, if the deployment would fail. @throws Error if the code cannot be bundled */
export async function rehearse(rehearsal: Rehearsal): Promise<void> {
  const { config, config_file, from_file, report, titles } = rehearsal;
  showSettings(rehearsal);
  for (const [index, title] of titles.entries()) {
    console.log(`${index + 1}/${titles.length} ${title}`);
  }
  const warnings = [
    ...report.warnings,
    ...unusableWarnings({ ...config.vars, ...from_file }, config_file),
  ];
  if (!printReport({ ...report, warnings })) {
    throw new Error("The deployment would fail. The code was not bundled; fix the settings first.");
  }
  const args = [
    "deploy",
    "--dry-run",
    "--minify",
    "--outdir=.wrangler/build",
    `--config=${config_file}`,
  ];
  const { succeeded, error } = await runWrangler(args);
  if (!succeeded) throw new Error(`The code cannot be bundled: ${error}`);
  console.log("The code bundles. No request was sent to Cloudflare, and nothing was changed.");
}

/** Names only, because a value may be a secret, also in the wrong file. */
function showSettings({ config, config_file, from_file, secrets_file }: Rehearsal): void {
  const in_config = Object.keys(config.vars ?? {});
  const in_file = Object.keys(from_file);
  const generated = Object.keys(GENERATED_SECRETS).filter(
    (name) => !in_config.includes(name) && !in_file.includes(name),
  );
  const set = [...in_config, ...in_file, ...generated];
  const show = (source: string, names: readonly string[]): void => {
    const known = names.filter((name) => settingNames().includes(name));
    if (known.length > 0) console.log(`  ${source}: ${known.join(", ")}`);
  };
  console.log("The settings that were checked:");
  show(config_file, in_config);
  show(secrets_file ?? "", in_file);
  show("generated, if Cloudflare lacks them", generated);
  show(
    "with their defaults",
    settingNames().filter((name) => !set.includes(name)),
  );
  console.log("Secrets that Cloudflare has already were not checked, since it does not show them.");
}
