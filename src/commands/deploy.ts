/**
 * `npm run deploy [-- --dry-run] [--gradual] [--config <file>] [--secrets <file>] [--discard-secrets] [--location <region>]`
 *
 * Makes a Cloudflare account match wrangler.toml: databases, namespaces, buckets, queues, secrets and migrations, then the code, so
 * that new code never runs on an old schema. Every step skips what exists, so a run after a failure continues where the
 * last one stopped.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { mistakenSettings } from "../config/config.ts";
import { rehearse } from "./deploy_dry_run.ts";
import { readPlan, reportDeployment, withIds, type DeployPlan } from "./deploy_plan.ts";
import {
  listSecrets,
  missingSecrets,
  promptForSecretsFile,
  readSecrets,
  SECRETS_FILE,
  storeSecrets,
  type Secrets,
} from "./deploy_secrets.ts";
import {
  applyRemoteMigrations,
  checkAccount,
  acceptDirectory,
  D1_DATABASE,
  findOrCreateQueue,
  findStore,
  KV_NAMESPACE,
  LOCATIONS,
  R2_BUCKET,
  readLocation,
  type Location,
  type StoreKind,
} from "./deploy_steps.ts";
import { metricsAccess, rollOut } from "./deploy_gradual.ts";
import { confirmRelease } from "./deploy_rollback.ts";
import {
  mainVersion,
  readActive,
  refuseOtherClasses,
  refuseSecond,
  versionsOf,
  type Deployment,
} from "./deploy_versions.ts";
import {
  completeFile,
  describeCompletion,
  needsDiscovery,
  PROVIDERS_SETTING,
  withPlaceholders,
} from "./provider_settings.ts";
import { hasPasskeys, printReport } from "./settings_report.ts";
import { CONFIG_FILE, readWorkerConfig, type WorkerConfig } from "./wrangler_config.ts";
import { runWrangler, showWrangler } from "./wrangler_run.ts";

const USAGE = `usage: npm run deploy [-- <options>]
  --create-missing <binding>
                     create this store, such as DB, although the Worker is already deployed; may be repeated
  --dry-run          check the settings, show every step and bundle the code; contacts no service
  --gradual          send 1%, 10% and all requests to the new version, each after five good minutes, or take it back
  --config <file>    use this file instead of wrangler.toml, for example for a staging Worker
  --location <region>
                     where to create databases and buckets: ${LOCATIONS.join(", ")}; existing ones never move
  --secrets <file>   NAME='value' lines: sets secrets that Cloudflare lacks, and stores newly generated ones
  --discard-secrets  store newly generated secrets at Cloudflare only, which never shows them again`;

const { values: options } = parseArgs({
  options: {
    config: { type: "string", default: CONFIG_FILE },
    "create-missing": { type: "string", multiple: true, default: [] },
    "discard-secrets": { type: "boolean", default: false },
    "dry-run": { type: "boolean", default: false },
    gradual: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
    location: { type: "string" },
    secrets: { type: "string" },
  },
});

/** One step. `run` returns its result, for the line of the step. */
interface Step {
  readonly title: string;
  readonly run: () => Promise<string>;
}

/** The state that steps share. */
interface Progress {
  readonly config: WorkerConfig;
  readonly plan: DeployPlan;
  readonly ids: Map<string, string>;
  /** The region of stores that this run creates; undefined: Cloudflare chooses. */
  readonly location: Location | undefined;
  /** The secrets in the file of `--secrets`. */
  readonly from_file: Secrets;
  /** Names of the secrets that Cloudflare already has. */
  present: readonly string[];
  /** The deployment that was live before this run; null on a first one. */
  noted: Deployment | null;
  /** The version of most of its requests. */
  earlier: string | null;
  /** Bindings of stores that this run created. */
  readonly created: Set<string>;
  /** The version that this run uploaded; empty before that. */
  own: string;
  /** Secrets to set together with the code. */
  to_set: Secrets;
  /** The file that newly generated secrets were stored in. */
  stored_in: string | null;
  /** A folder that is deleted at the end of the run. */
  readonly folder: string;
  /** wrangler.toml with the ids, written to the same folder, since its paths are relative. */
  readonly config_file: string;
}

function stepsOf(progress: Progress): readonly Step[] {
  const { plan, ids } = progress;
  const stores = (kind: StoreKind, list: DeployPlan["namespaces"]) =>
    list.map((store): Step => ({
      title: `${kind.title} ${store.name} (${store.binding}): find or create it`,
      run: () => prepareStore(progress, kind, store),
    }));
  return [
    { title: "Cloudflare: check who is signed in", run: checkAccount },
    {
      title: `Worker ${plan.worker}: note the live version, to roll back to it`,
      run: async () => {
        progress.noted = await readActive(options.config);
        refuseSecond(progress.noted);
        progress.earlier = mainVersion(progress.noted);
        progress.present = await listSecrets(options.config);
        return progress.earlier ?? "none: this is the first deployment";
      },
    },
    ...stores(D1_DATABASE, plan.databases),
    ...stores(KV_NAMESPACE, plan.namespaces),
    ...stores(R2_BUCKET, plan.buckets),
    ...plan.queues.map((name): Step => ({
      title: `Queue ${name}: find or create it`,
      run: async () => ((await findOrCreateQueue(name)) ? "created" : "found"),
    })),
    {
      title: "Secrets: generate missing ones; they are set together with the code",
      run: () => prepareSecrets(progress),
    },
    ...plan.databases
      .filter(({ has_migrations }) => has_migrations)
      .map(({ binding, name }): Step => ({
        title: `Migrations of ${name}: apply new ones before the code is deployed`,
        run: async () => {
          await writeFile(progress.config_file, withIds(progress.config, ids));
          await applyRemoteMigrations(binding, progress.config_file);
          if (binding !== "DIRECTORY" || !isReplaced(progress, binding)) return "applied";
          await acceptDirectory(progress.config_file);
          return "applied; the Worker will accept the empty directory";
        },
      })),
    ...(options.gradual ? gradualSteps(progress) : deploySteps(progress)),
  ];
}

function deploySteps(progress: Progress): readonly Step[] {
  const { plan } = progress;
  return [
    {
      title: `Worker ${plan.worker}: bundle it minified, and deploy it`,
      run: async () => {
        await upload(progress, "deploy");
        return `live: version ${progress.own}`;
      },
    },
    {
      title: `Readiness: check ${plan.base_url ?? ""}/readyz, and roll back a release that is not ready`,
      run: () =>
        confirmRelease({
          base_url: plan.base_url ?? "",
          own: progress.own,
          earlier: progress.earlier,
          config_file: options.config,
        }),
    },
  ];
}

/** The schedule and routes belong to no version, so they change when all requests go to the new one. */
function gradualSteps(progress: Progress): readonly Step[] {
  const { plan, config_file } = progress;
  return [
    {
      title: `Worker ${plan.worker}: bundle it minified, and upload it without requests`,
      run: async () => {
        const { earlier, config } = progress;
        if (earlier === null) throw new Error("A first deployment cannot be gradual.");
        await refuseOtherClasses(earlier, config, options.config);
        await upload(progress, "version-upload");
        return `version ${progress.own}`;
      },
    },
    {
      title: `Requests: to 1%, 10% and all of them, while ${plan.base_url ?? ""}/readyz is ready; about 25 minutes`,
      run: () =>
        rollOut({
          base_url: plan.base_url ?? "",
          worker: plan.worker,
          own: progress.own,
          earlier: progress.earlier ?? "",
          noted: progress.noted?.id ?? "",
          config_file: options.config,
          metrics: metricsAccess({ ...process.env, ...progress.from_file }),
        }),
    },
    {
      title: "Routes and schedule: set those of the configuration file",
      run: async () => {
        const args = ["triggers", "deploy", `--config=${config_file}`];
        const { succeeded, error } = await runWrangler(args);
        if (!succeeded) throw new Error(error);
        return "set";
      },
    },
  ];
}

async function prepareStore(
  progress: Progress,
  kind: StoreKind,
  store: DeployPlan["namespaces"][number],
): Promise<string> {
  const { binding } = store;
  const may_create = !isDeployed(progress) || options["create-missing"].includes(binding);
  const { location } = progress;
  const found = await findStore(kind, store, { may_create, location });
  progress.ids.set(binding, found.id);
  const is_placed = kind.is_regional && location !== undefined;
  if (!found.is_new) return is_placed ? "found; it stays where it was created" : "found";
  progress.created.add(binding);
  return is_placed ? `created in ${location}` : "created";
}

/** Whether the Worker was deployed before, so its stores have data. Without a version it may still have secrets. */
const isDeployed = ({ earlier, present }: Progress): boolean =>
  earlier !== null || present.length > 0;

/** Whether this run created an empty store in place of one with data. */
const isReplaced = (progress: Progress, binding: string): boolean =>
  isDeployed(progress) && progress.created.has(binding);

async function prepareSecrets(progress: Progress): Promise<string> {
  const { present } = progress;
  for (const { name, meant } of mistakenSettings(
    Object.fromEntries(present.map((it) => [it, ""])),
  )) {
    console.error(`Warning: the secret ${name} is not a setting. Did you mean ${meant}?`);
  }
  const { supplied, generated } = await missingSecrets(present, progress.from_file);
  const names = Object.keys(generated);
  if (names.length > 0 && !options["discard-secrets"]) {
    const file = options.secrets ?? (process.stdin.isTTY ? await promptForSecretsFile() : null);
    if (file === null && !process.stdin.isTTY) {
      throw new Error(
        `${names.join(" and ")} must be generated, and Cloudflare never shows them again. Name a file for ` +
          `them: npm run deploy -- --secrets ${SECRETS_FILE} (or use --discard-secrets to store them at Cloudflare only).`,
      );
    }
    if (file !== null) await storeSecrets(file, generated);
    progress.stored_in = file;
  }
  progress.to_set = { ...supplied, ...generated };
  const to_set = Object.keys(progress.to_set);
  return to_set.length === 0 ? "all set" : `to set: ${to_set.join(", ")}`;
}

/**
 * Uploads code and secrets as one version, so that neither is live without the other. `deploy` also makes it live.
 * @throws Error if another deployment was made since this one began
 */
async function upload(progress: Progress, how: "deploy" | "version-upload"): Promise<void> {
  const active = await readActive(options.config);
  if (active?.id !== progress.noted?.id) {
    throw new Error(
      `Another deployment was made meanwhile (${versionsOf(active)}). Nothing was uploaded.`,
    );
  }
  const { config, ids, to_set, folder, config_file } = progress;
  const record = join(folder, "wrangler-output.ndjson");
  await writeFile(config_file, withIds(config, ids));
  const secrets = join(folder, "secrets.json");
  await writeFile(secrets, JSON.stringify(to_set), { mode: 0o600 });
  const command = how === "deploy" ? ["deploy"] : ["versions", "upload"];
  const args = [...command, `--config=${config_file}`, "--minify"];
  if (Object.keys(to_set).length > 0) args.push(`--secrets-file=${secrets}`);
  // On a terminal Wrangler asks before it takes over a domain that is already in use.
  if (process.stdout.isTTY) {
    const code = await showWrangler(args, record);
    if (code !== 0) throw new Error("Wrangler could not deploy; see above.");
  } else {
    const { succeeded, error } = await runWrangler(args, record);
    if (!succeeded) throw new Error(error);
  }
  progress.own = await uploadedVersion(record, how);
}

/** The version that Wrangler uploaded, from the file in which Wrangler records what it did. */
async function uploadedVersion(record: string, how: string): Promise<string> {
  const lines = (await readFile(record, "utf8")).trim().split("\n");
  const entries = lines.map((line) => JSON.parse(line) as { type: string; version_id?: string });
  const id = entries.find(({ type }) => type === how)?.version_id;
  if (typeof id !== "string")
    throw new Error("Wrangler did not name the version that it uploaded.");
  return id;
}

async function perform(steps: readonly Step[]): Promise<void> {
  for (const [index, { title, run }] of steps.entries()) {
    process.stdout.write(`${index + 1}/${steps.length} ${title} … `);
    try {
      console.log(await run());
    } catch (error) {
      console.log("failed");
      const reason = error instanceof Error ? error.message : String(error);
      // The last step says what to do next.
      if (index === steps.length - 1) throw error;
      throw new Error(
        `${reason}\nThe steps after this one were not run. Fix the cause and run the same command again: ` +
          "it skips what is already done.",
        { cause: error },
      );
    }
  }
}

/** Names what the operator must do about stores: ids to write down, and data to restore. */
function printStores(progress: Progress): void {
  const { plan, ids } = progress;
  if (isReplaced(progress, "DB")) {
    console.log(
      "Warning: DB is empty, so the console shows no accounts. Rebuild it now: passbook admin rebuild --all",
    );
  }
  if (isReplaced(progress, "DIRECTORY")) {
    console.log(
      "Warning: DIRECTORY is empty: it has no people, apps and keys (docs/drills.md, Restored directory).",
    );
  }
  const lines = (
    [
      [D1_DATABASE, plan.databases],
      [KV_NAMESPACE, plan.namespaces],
      [R2_BUCKET, plan.buckets],
    ] as const
  ).flatMap(([{ id_key }, stores]) =>
    stores
      .filter(({ id }) => id === null)
      .map(({ binding }) => `  ${id_key} = "${ids.get(binding)}"   # below binding = "${binding}"`),
  );
  if (lines.length === 0) return;
  console.log(
    `Write the ids of the stores into ${options.config}, so that this Worker never uses another store of the same name:`,
  );
  for (const line of lines) console.log(line);
}

function printNextSteps(progress: Progress): void {
  const { config, plan, from_file, stored_in, present, to_set } = progress;
  console.log(`\nPassbook is live at ${plan.base_url}.`);
  printStores(progress);
  if (stored_in !== null) {
    console.log(
      `New secrets are in ${stored_in}. Move that file to your password store: rotating keys needs it.`,
    );
  }
  const isSet = (name: string): boolean =>
    [
      ...present,
      ...Object.keys(from_file),
      ...Object.keys(to_set),
      ...Object.keys(config.vars ?? {}),
    ].includes(name);
  console.log("Next:");
  if (!isSet("SIGNIN_PROVIDERS") && !hasPasskeys({ ...config.vars, ...from_file })) {
    console.log(
      "  * let people sign in: npx wrangler secret put SIGNIN_PROVIDERS (docs/signing-in.md)",
    );
  }
  if (!isSet("OPERATORS")) {
    console.log(
      "  * name an operator: your own address as OPERATORS in wrangler.toml (docs/settings.md)",
    );
  }
  if (!isSet("ALERT_WEBHOOK_URL")) {
    console.log(
      "  * get a message when something fails: npx wrangler secret put ALERT_WEBHOOK_URL (docs/alerts.md)",
    );
  }
  console.log("  * register your apps and their starter credits (docs/operators.md)");
  console.log("  * read docs/operate.md: upgrades, backups, keys, limits, logs");
}

/**
 * The secrets of `--secrets`, after the endpoints of sign-in providers were fetched into that file. A dry run contacts no
 * service: it checks the other settings and assumes that those endpoints are valid.
 */
async function readSecretsFile(): Promise<Secrets> {
  const file = options.secrets ?? null;
  const secrets = await readSecrets(file);
  const json = secrets[PROVIDERS_SETTING];
  if (file === null || json === undefined || !needsDiscovery(json)) return secrets;
  if (options["dry-run"]) {
    console.log(`Sign-in providers: their endpoints would be fetched and written into ${file}.`);
    return { ...secrets, [PROVIDERS_SETTING]: withPlaceholders(json) };
  }
  const completed = await completeFile(file);
  if (completed !== null) console.log(describeCompletion(completed, file));
  return readSecrets(file);
}

async function main(): Promise<void> {
  if (options.help) {
    console.log(USAGE);
    return;
  }
  const location = readLocation(options.location);
  const config = readWorkerConfig(options.config);
  const from_file = await readSecretsFile();
  const report = await reportDeployment(config, from_file);
  const folder = await mkdtemp(join(tmpdir(), "passbook-deploy-"));
  const config_file = join(dirname(options.config), `.passbook-deploy-${process.pid}.json`);
  const plan = readPlan(config);
  const progress: Progress = {
    config,
    plan,
    ids: new Map(),
    location,
    from_file,
    present: [],
    noted: null,
    earlier: null,
    created: new Set(),
    own: "",
    to_set: {},
    stored_in: null,
    folder,
    config_file,
  };
  try {
    const steps = stepsOf(progress);
    if (options["dry-run"]) {
      const titles = steps.map(({ title }) => title);
      const { config: config_file, secrets: secrets_file = null } = options;
      return await rehearse({ config, config_file, from_file, secrets_file, report, titles });
    }
    if (!printReport(report)) {
      process.exitCode = 1;
      return;
    }
    await perform(steps);
    printNextSteps(progress);
  } finally {
    await rm(config_file, { force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
