/**
 * `npm run deploy [-- --dry-run] [--config <file>] [--secrets <file>] [--discard-secrets]`
 *
 * Brings an account of Cloudflare to what wrangler.toml says: databases, namespaces and queues, secrets,
 * migrations, then the code, so that new code never meets an old schema. Every step finds what is done
 * already, so a run after a failure goes on where the last one stopped.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { mistakenSettings } from "../config/config.ts";
import { readPlan, reportDeployment, withIds, type DeployPlan } from "./deploy_plan.ts";
import {
  askWhereToKeep,
  drawMissing,
  keepSecrets,
  listSecrets,
  readSecrets,
  SECRETS_FILE,
  type Secrets,
} from "./deploy_secrets.ts";
import {
  applyRemoteMigrations,
  checkAccount,
  findOrMakeDatabase,
  findOrMakeNamespace,
  findOrMakeQueue,
  waitUntilReady,
} from "./deploy_steps.ts";
import {
  completeFile,
  describeCompletion,
  needsDiscovery,
  PROVIDERS_SETTING,
  withPlaceholders,
} from "./provider_settings.ts";
import { printReport } from "./settings_report.ts";
import { CONFIG_FILE, readWorkerConfig, type WorkerConfig } from "./wrangler_config.ts";
import { runWrangler, showWrangler } from "./wrangler_run.ts";

const USAGE = `usage: npm run deploy [-- <options>]
  --dry-run          show every step and bundle the code; reaches nobody
  --config <file>    another file than wrangler.toml, such as that of a staging Worker
  --secrets <file>   NAME='value' lines: what Cloudflare lacks is set from it, what is newly made is added
  --discard-secrets  keep newly made secrets nowhere but at Cloudflare, which never shows them again`;

const { values: options } = parseArgs({
  options: {
    config: { type: "string", default: CONFIG_FILE },
    "discard-secrets": { type: "boolean", default: false },
    "dry-run": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
    secrets: { type: "string" },
  },
});

/** One step: what it is called, and what it does, answering what it found. */
interface Step {
  readonly title: string;
  readonly run: () => Promise<string>;
}

/** What later steps know from earlier ones. */
interface Progress {
  readonly config: WorkerConfig;
  readonly plan: DeployPlan;
  readonly ids: Map<string, string>;
  /** From the file of `--secrets`. */
  readonly kept: Secrets;
  /** Names of secrets that Cloudflare has already. */
  present: readonly string[];
  /** To be set together with the code. */
  to_set: Secrets;
  kept_in: string | null;
  /** A folder for what must not outlive the run. */
  readonly folder: string;
  /** wrangler.toml with the ids, beside it, since its paths are relative to it. */
  readonly config_file: string;
}

function stepsOf(progress: Progress): readonly Step[] {
  const { plan, ids } = progress;
  const resources = (
    kind: string,
    list: DeployPlan["namespaces"],
    make: typeof findOrMakeDatabase,
  ) =>
    list.map(({ binding, name, id }): Step => ({
      title: `${kind} ${name} (${binding}): find it, or make it`,
      run: async () => {
        const found = id === null ? await make(name) : { id, is_new: false };
        ids.set(binding, found.id);
        return found.is_new ? "made" : "found";
      },
    }));
  return [
    { title: "Cloudflare: who is signed in", run: checkAccount },
    ...resources("D1 database", plan.databases, findOrMakeDatabase),
    ...resources("KV namespace", plan.namespaces, findOrMakeNamespace),
    ...plan.queues.map((name): Step => ({
      title: `Queue ${name}: find it, or make it`,
      run: async () => ((await findOrMakeQueue(name)) ? "made" : "found"),
    })),
    {
      title: "Secrets: draw those that are missing; they are set with the code, in one go",
      run: () => prepareSecrets(progress),
    },
    ...plan.databases
      .filter(({ has_migrations }) => has_migrations)
      .map(({ binding, name }): Step => ({
        title: `Migrations of ${name}: apply the new ones, before the code that needs them`,
        run: async () => {
          await writeFile(progress.config_file, withIds(progress.config, ids));
          await applyRemoteMigrations(binding, progress.config_file);
          return "applied";
        },
      })),
    {
      title: `Worker ${plan.worker}: bundle it minified, and deploy it`,
      run: () => deploy(progress),
    },
    {
      title: `Ready: ask ${plan.base_url ?? ""}/readyz`,
      run: async () => {
        await waitUntilReady(plan.base_url ?? "");
        return "yes";
      },
    },
  ];
}

async function prepareSecrets(progress: Progress): Promise<string> {
  const present = await listSecrets(options.config);
  for (const { name, meant } of mistakenSettings(
    Object.fromEntries(present.map((it) => [it, ""])),
  )) {
    console.error(`Warning: the secret ${name} is no setting; is ${meant} meant?`);
  }
  progress.present = present;
  const { from_file, drawn } = await drawMissing(present, progress.kept);
  const names = Object.keys(drawn);
  if (names.length > 0 && !options["discard-secrets"]) {
    const file = options.secrets ?? (process.stdin.isTTY ? await askWhereToKeep() : null);
    if (file === null && !process.stdin.isTTY) {
      throw new Error(
        `${names.join(" and ")} must be made, and Cloudflare never shows them again. Say where to keep ` +
          `them: npm run deploy -- --secrets ${SECRETS_FILE} (or --discard-secrets, to keep them nowhere).`,
      );
    }
    if (file !== null) await keepSecrets(file, drawn);
    progress.kept_in = file;
  }
  progress.to_set = { ...from_file, ...drawn };
  const to_set = Object.keys(progress.to_set);
  return to_set.length === 0 ? "all there" : `to be set: ${to_set.join(", ")}`;
}

/** Code and secrets become one version, so neither is ever live without the other. */
async function deploy({ config, ids, to_set, folder, config_file }: Progress): Promise<string> {
  await writeFile(config_file, withIds(config, ids));
  const secrets = join(folder, "secrets.json");
  await writeFile(secrets, JSON.stringify(to_set), { mode: 0o600 });
  const args = ["deploy", `--config=${config_file}`, "--minify"];
  if (Object.keys(to_set).length > 0) args.push(`--secrets-file=${secrets}`);
  // On a terminal Wrangler asks before it takes over a domain that something else answers.
  if (process.stdout.isTTY) {
    if ((await showWrangler(args)) !== 0) throw new Error("Wrangler could not deploy; see above.");
    return "live";
  }
  const { succeeded, complaint } = await runWrangler(args);
  if (!succeeded) throw new Error(complaint);
  return "live";
}

async function rehearse(steps: readonly Step[]): Promise<void> {
  for (const [place, { title }] of steps.entries()) {
    console.log(`${place + 1}/${steps.length} ${title}`);
  }
  const args = [
    "deploy",
    "--dry-run",
    "--minify",
    "--outdir=.wrangler/build",
    `--config=${options.config}`,
  ];
  const { succeeded, complaint } = await runWrangler(args);
  if (!succeeded) throw new Error(`The code cannot be bundled: ${complaint}`);
  console.log("The code bundles. Nothing was asked of Cloudflare, and nothing was changed.");
}

async function perform(steps: readonly Step[]): Promise<void> {
  for (const [place, { title, run }] of steps.entries()) {
    process.stdout.write(`${place + 1}/${steps.length} ${title} … `);
    try {
      console.log(await run());
    } catch (error) {
      console.log("failed");
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(
        `${reason}\nNothing after this step was done. Once it is mended, run the same command again: ` +
          "what is done is found, and not done twice.",
        { cause: error },
      );
    }
  }
}

function sayWhatIsNext({ config, plan, kept, kept_in, present, to_set }: Progress): void {
  console.log(`\nPassbook is live at ${plan.base_url}.`);
  if (kept_in !== null) {
    console.log(
      `New secrets are in ${kept_in}. Move it to where you keep secrets: rotating needs them.`,
    );
  }
  const isSet = (name: string): boolean =>
    [
      ...present,
      ...Object.keys(kept),
      ...Object.keys(to_set),
      ...Object.keys(config.vars ?? {}),
    ].includes(name);
  console.log("Next:");
  if (!isSet("SIGNIN_PROVIDERS")) {
    console.log(
      "  * let people sign in: npx wrangler secret put SIGNIN_PROVIDERS (docs/signing-in.md)",
    );
  }
  if (!isSet("OPERATORS")) {
    console.log(
      "  * say who operates it: OPERATORS, your own address, in wrangler.toml (README.md)",
    );
  }
  console.log("  * register your apps, and their starter credits (docs/operators.md)");
  console.log("  * read docs/operate.md: upgrades, backups, keys, limits, logs");
}

/**
 * The secrets of `--secrets`, after the endpoints of sign-in providers were fetched into it. A rehearsal
 * reaches nobody, so it checks the others and takes those endpoints as good.
 */
async function readKeptSecrets(): Promise<Secrets> {
  const file = options.secrets ?? null;
  const kept = await readSecrets(file);
  const json = kept[PROVIDERS_SETTING];
  if (file === null || json === undefined || !needsDiscovery(json)) return kept;
  if (options["dry-run"]) {
    console.log(`Sign-in providers: their endpoints would be fetched, and written into ${file}.`);
    return { ...kept, [PROVIDERS_SETTING]: withPlaceholders(json) };
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
  const config = readWorkerConfig(options.config);
  const kept = await readKeptSecrets();
  const is_sound = printReport(await reportDeployment(config, kept));
  if (!is_sound) process.exitCode = 1;
  const folder = await mkdtemp(join(tmpdir(), "passbook-deploy-"));
  const config_file = join(dirname(options.config), `.passbook-deploy-${process.pid}.json`);
  const plan = readPlan(config);
  const progress: Progress = {
    config,
    plan,
    ids: new Map(),
    kept,
    present: [],
    to_set: {},
    kept_in: null,
    folder,
    config_file,
  };
  try {
    const steps = stepsOf(progress);
    if (options["dry-run"]) return await rehearse(steps);
    if (!is_sound) return;
    await perform(steps);
    sayWhatIsNext(progress);
  } finally {
    await rm(config_file, { force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
