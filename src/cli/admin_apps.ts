/** `passbook admin apps`: the registry of apps and their keys, for operators. */
import { Option, type Command } from "commander";
import { PassbookError, type RegisteredApp } from "../client/index.ts";
import { readCredits } from "./filters.ts";
import { plain, table } from "./output.ts";
import { signedIn, type GlobalOptions } from "./session.ts";

/** Stands for "no such limit". Commander would turn null into empty text. */
const NONE = "none";

interface AppOptions extends GlobalOptions {
  readonly name?: string;
  readonly starterCredits?: number;
  readonly origin?: readonly string[];
  readonly dailyStarterBudget?: number | typeof NONE;
  readonly settle?: "holder" | "app";
  readonly onExpiry?: "refund" | "charge";
  readonly maxOverage?: number | typeof NONE;
  readonly upstreamProvider?: readonly string[];
  readonly reason?: string;
}

/** Adds `apps` below `passbook admin`. */
export function addAdminApps(admin: Command): void {
  const apps = admin
    .command("apps")
    .description("the registered apps")
    .action((_, command: Command) => listApps(command.optsWithGlobals<GlobalOptions>()));
  apps
    .command("set <slug>")
    .description("register an app, or change what is named of it")
    .option("--name <name>", "what people know it by")
    .option("--starter-credits <credits>", "granted once to each account", readCredits)
    .option("--origin <origins...>", "where it lives; none: --origin ''")
    .option("--daily-starter-budget <credits>", "of all grants of a UTC day, or: none", readLimit)
    .addOption(new Option("--settle <who>", "who settles its jobs").choices(["holder", "app"]))
    .addOption(
      new Option("--on-expiry <what>", "what a time-out does").choices(["refund", "charge"]),
    )
    .option(
      "--max-overage <percent>",
      "how far a job's cost may exceed its estimate, or: none",
      readLimit,
    )
    .option(
      "--upstream-provider <ids...>",
      "whose upstream tokens its pages get, such as google; none: --upstream-provider ''",
    )
    .option("--reason <text>", "for the audit log")
    .action((slug: string, _, command: Command) =>
      setApp(slug, command.optsWithGlobals<AppOptions>()),
    );
  apps
    .command("keys <slug>")
    .description("the keys of the app's servers")
    .action((slug: string, _, command: Command) =>
      listKeys(slug, command.optsWithGlobals<GlobalOptions>()),
    );
  apps
    .command("add-key <slug> <label>")
    .description("make a key; it is shown this once")
    .action((slug: string, label: string, _, command: Command) =>
      addKey(slug, label, command.optsWithGlobals<GlobalOptions>()),
    );
  apps
    .command("revoke-key <slug> <id>")
    .description("end a key, everywhere within a minute")
    .action((slug: string, id: string, _, command: Command) =>
      revokeKey(slug, id, command.optsWithGlobals<GlobalOptions>()),
    );
}

function print(options: GlobalOptions, value: unknown, words: string): void {
  process.stdout.write(`${options.json ? JSON.stringify(value, null, 2) : words}\n`);
}

async function allApps(options: GlobalOptions): Promise<RegisteredApp[]> {
  const client = await signedIn(options);
  const all: RegisteredApp[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.adminApps.list(cursor === undefined ? {} : { cursor });
    all.push(...page.apps);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return all;
}

async function listApps(options: GlobalOptions): Promise<void> {
  const apps = await allApps(options);
  const rows = apps.map((app) => [
    app.slug,
    app.name,
    String(app.starter_credits),
    app.daily_starter_budget === null ? "none" : String(app.daily_starter_budget),
    app.settle,
    app.on_expiry,
    app.max_overage_percent === null ? "any" : `${app.max_overage_percent} %`,
    app.upstream_providers.join(" "),
    app.origins.join(" "),
  ]);
  const names = [
    "SLUG",
    "NAME",
    "STARTER",
    "A DAY",
    "SETTLES",
    "ON EXPIRY",
    "OVERAGE",
    "UPSTREAM",
    "ORIGINS",
  ];
  print(options, { apps }, rows.length === 0 ? "No apps." : table(names, rows));
}

/**
 * What is not named stays as it is. A new app needs a name, and its starter credits: in development a slug has
 * some before it is registered, which must not become 0 without a word.
 */
async function setApp(slug: string, options: AppOptions): Promise<void> {
  const known = (await allApps(options)).find((app) => app.slug === slug);
  const name = options.name ?? known?.name;
  const starterCredits = options.starterCredits ?? known?.starter_credits;
  if (name === undefined || starterCredits === undefined) {
    const message = `${slug} is not registered yet. A new app needs --name and --starter-credits.`;
    throw new PassbookError("invalid_argument", message);
  }
  const budget =
    options.dailyStarterBudget === undefined
      ? (known?.daily_starter_budget ?? null)
      : limitOf(options.dailyStarterBudget);
  const origins = options.origin ? namedIn(options.origin) : (known?.origins ?? []);
  const client = await signedIn(options);
  await client.adminApps.save(slug, {
    name,
    starterCredits,
    origins,
    dailyStarterBudget: budget,
    ...(known === undefined ? {} : { version: known.version }),
    ...(options.settle === undefined ? {} : { settle: options.settle }),
    ...(options.onExpiry === undefined ? {} : { onExpiry: options.onExpiry }),
    ...(options.maxOverage === undefined ? {} : { maxOveragePercent: limitOf(options.maxOverage) }),
    ...(options.upstreamProvider === undefined
      ? {}
      : { upstreamProviders: namedIn(options.upstreamProvider) }),
    ...(options.reason === undefined ? {} : { reason: options.reason }),
  });
  const words =
    `${plain(slug)} is set: ${starterCredits} starter credits for each new account. ` +
    "It is in force everywhere in a minute.";
  print(options, { ok: true }, words);
}

async function listKeys(slug: string, options: GlobalOptions): Promise<void> {
  const { keys } = await (await signedIn(options)).adminApps.listKeys(slug);
  const rows = keys.map(({ id, label, created_at }) => [id, label, created_at]);
  print(
    options,
    { keys },
    rows.length === 0 ? "No keys." : table(["ID", "LABEL", "CREATED"], rows),
  );
}

async function addKey(slug: string, label: string, options: GlobalOptions): Promise<void> {
  const made = await (await signedIn(options)).adminApps.addKey(slug, label);
  const words =
    made.key === null
      ? `The key was made, but its answer was lost. Revoke ${made.id} and make another.`
      : `${made.key}\n\nKeep it now: it is shown this once.`;
  print(options, made, words);
}

async function revokeKey(slug: string, id: string, options: GlobalOptions): Promise<void> {
  await (await signedIn(options)).adminApps.revokeKey(slug, id);
  print(options, { ok: true }, "The key ends everywhere within a minute.");
}

/** The entries of a list option, of which an empty one stands for none. */
function namedIn(entries: readonly string[]): readonly string[] {
  return entries.filter((entry) => entry !== "");
}

function readLimit(text: string): number | typeof NONE {
  return text === NONE ? NONE : readCredits(text);
}

function limitOf(limit: number | typeof NONE): number | null {
  return limit === NONE ? null : limit;
}
