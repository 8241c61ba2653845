/** `passbook admin apps`: the registry of apps and their keys, for operators. */
import { Option, type Command } from "commander";
import { PassbookError, type AppSettings, type RegisteredApp } from "../client/index.ts";
import { addAdminClients } from "./admin_clients.ts";
import { readCredits } from "./filters.ts";
import { addAdminWebhooks } from "./admin_webhooks.ts";
import { plain, table } from "./output.ts";
import { signedIn, type GlobalOptions } from "./session.ts";
import { readCap } from "./tokens.ts";

/** The option value for "no limit". Commander would turn null into empty text. */
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
  readonly icon?: string;
  readonly color?: string;
  readonly suggestedCap?: AppSettings["suggestedCap"] | typeof NONE;
  readonly excludeDomain?: readonly string[];
  readonly reason?: string;
}

/** Adds `apps` below `passbook admin`. */
export function addAdminApps(admin: Command): void {
  const apps = admin
    .command("apps")
    .description("list the registered apps")
    .action((_, command: Command) => listApps(command.optsWithGlobals<GlobalOptions>()));
  apps
    .command("set <slug>")
    .description("register an app, or change the named settings of an app")
    .option("--name <name>", "the name that people see")
    .option("--starter-credits <credits>", "credits granted once to each account", readCredits)
    .option("--origin <origins...>", "the origins of its pages; none: --origin ''")
    .option(
      "--daily-starter-budget <credits>",
      "the most that its grants of one UTC day may add up to, or: none",
      readLimit,
    )
    .addOption(
      new Option("--settle <who>", "who completes and fails its jobs").choices(["holder", "app"]),
    )
    .addOption(
      new Option("--on-expiry <what>", "what an expired job does with its reserve").choices([
        "refund",
        "charge",
      ]),
    )
    .option(
      "--max-overage <percent>",
      "how far a job's cost may exceed its estimate, or: none",
      readLimit,
    )
    .option(
      "--upstream-provider <ids...>",
      "sign-in providers whose tokens its pages get, such as google; none: --upstream-provider ''",
    )
    .option("--icon <url>", "https address of a picture, which is copied once, or: none")
    .option("--color <color>", "its colour, such as #12507b, or: none")
    .option(
      "--suggested-cap <cap>",
      "the cap to suggest for devices, such as 500/30_days, or: none",
      readSuggestedCap,
    )
    .option(
      "--exclude-domain <domains...>",
      "e-mail domains whose people get no starter credits; none: --exclude-domain ''",
    )
    .option("--reason <text>", "why; the audit log keeps it")
    .action((slug: string, _, command: Command) =>
      setApp(slug, command.optsWithGlobals<AppOptions>()),
    );
  addAdminWebhooks(apps);
  apps
    .command("keys <slug>")
    .description("list the keys of the app's servers")
    .action((slug: string, _, command: Command) =>
      listKeys(slug, command.optsWithGlobals<GlobalOptions>()),
    );
  apps
    .command("add-key <slug> <label>")
    .description("create a key; it is shown only once")
    .action((slug: string, label: string, _, command: Command) =>
      addKey(slug, label, command.optsWithGlobals<GlobalOptions>()),
    );
  apps
    .command("revoke-key <slug> <id>")
    .description("revoke a key; it stops working everywhere within a minute")
    .option("--reason <text>", "why; the audit log keeps it")
    .action((slug: string, id: string, _, command: Command) =>
      revokeKey(slug, id, command.optsWithGlobals<AppOptions>()),
    );
  addAdminClients(apps);
}

function print(options: GlobalOptions, value: unknown, text: string): void {
  process.stdout.write(`${options.json ? JSON.stringify(value, null, 2) : text}\n`);
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
    String(app.granted_today ?? "unknown"),
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
    "DAILY BUDGET",
    "TODAY",
    "SETTLES",
    "ON EXPIRY",
    "OVERAGE",
    "UPSTREAM",
    "ORIGINS",
  ];
  print(options, { apps }, rows.length === 0 ? "No apps." : table(names, rows));
}

/**
 * Omitted settings keep their values. A new app needs a name and its starter credits: in development an unregistered
 * slug has default starter credits, which must not silently become 0.
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
  const origins = options.origin ? withoutEmpty(options.origin) : (known?.origins ?? []);
  const client = await signedIn(options);
  const app = await client.adminApps.save(slug, {
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
      : { upstreamProviders: withoutEmpty(options.upstreamProvider) }),
    ...(options.icon === undefined ? {} : { icon: textOrNone(options.icon) }),
    ...(options.color === undefined ? {} : { color: textOrNone(options.color) }),
    ...(options.suggestedCap === undefined
      ? {}
      : { suggestedCap: options.suggestedCap === NONE ? null : options.suggestedCap }),
    ...(options.excludeDomain === undefined
      ? {}
      : { starterExcludedDomains: withoutEmpty(options.excludeDomain) }),
    ...(options.reason === undefined ? {} : { reason: options.reason }),
  });
  const text =
    `${plain(slug)} is saved: ${starterCredits} starter credits for each new account. ` +
    "The change takes effect everywhere within a minute.";
  print(options, { app }, text);
}

async function listKeys(slug: string, options: GlobalOptions): Promise<void> {
  const { keys } = await (await signedIn(options)).adminApps.listKeys(slug);
  const rows = keys.map(({ id, label, last_four, created_at, last_used_at }) => [
    id,
    label,
    `…${last_four}`,
    created_at,
    last_used_at?.slice(0, "2026-01-01".length) ?? "never",
  ]);
  print(
    options,
    { keys },
    rows.length === 0 ? "No keys." : table(["ID", "LABEL", "KEY", "CREATED", "LAST USED"], rows),
  );
}

async function addKey(slug: string, label: string, options: GlobalOptions): Promise<void> {
  const created = await (await signedIn(options)).adminApps.addKey(slug, label);
  const text =
    created.key === null
      ? `The key was created, but the response with it was lost. Revoke ${created.id} and create another key.`
      : `${created.key}\n\nStore it now: it is shown only once.`;
  print(options, created, text);
}

async function revokeKey(slug: string, id: string, options: AppOptions): Promise<void> {
  const { reason } = options;
  const given = reason === undefined ? {} : { reason };
  await (await signedIn(options)).adminApps.revokeKey(slug, id, given);
  print(options, { ok: true }, "Revoked. The key stops working everywhere within a minute.");
}

/** The entries of a list option. An empty entry means an empty list. */
function withoutEmpty(entries: readonly string[]): readonly string[] {
  return entries.filter((entry) => entry !== "");
}

function textOrNone(text: string): string | null {
  return text === NONE ? null : text;
}

function readSuggestedCap(text: string): AppOptions["suggestedCap"] {
  return text === NONE ? NONE : readCap(text);
}

function readLimit(text: string): number | typeof NONE {
  return text === NONE ? NONE : readCredits(text);
}

function limitOf(limit: number | typeof NONE): number | null {
  return limit === NONE ? null : limit;
}
