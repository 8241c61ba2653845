/** Builds of the Worker, started one after another on one state, or one as the Worker and another as its objects. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { bundle, isModule, modulesOf } from "../../../src/commands/bundle.ts";
import { migrationsIn, readWorkerConfig } from "../../bench/platform.ts";

const SOURCES = ["src", "drizzle", "wrangler.toml", "package.json"];

/** A bundle, and the configuration that it was built with. */
export interface Build {
  readonly config: string;
  readonly bundle: string;
}

/** The revision of the newest release. Before the first release, the newest commit that changed `first_build.md`. */
export function releasedRevision(): string {
  const tags = execFileSync("git", ["tag", "--list", "v*", "--sort=-version:refname"], {
    encoding: "utf8",
  });
  const [newest] = tags.split("\n").filter((tag) => tag !== "");
  if (newest !== undefined) return newest;
  const first = ["log", "--format=%H", "-1", "--", "test/outside/flows/first_build.md"];
  const [commit] = execFileSync("git", first, { encoding: "utf8" }).split("\n");
  if (!commit) throw new Error("this clone has no history: run `git fetch --unshallow`");
  return commit;
}

/** Copies the current sources or those of a revision to a folder in the repository, so that imports find packages. */
export function copySources(folder: string, revision: string | null): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (revision === null) {
    for (const source of SOURCES) cpSync(source, join(folder, source), { recursive: true });
  } else {
    const archive = execFileSync("git", ["archive", revision, ...SOURCES], { maxBuffer: 2 ** 28 });
    execFileSync("tar", ["-x", "-C", folder], { input: archive });
  }
  return folder;
}

/** Adds a migration to a copy of the sources, after which only builds from `oldest_build` on may run. */
export function addMigration(
  folder: string,
  oldest_build: number,
  sql = "ALTER TABLE `jobs` ADD `added` integer;",
): void {
  const account = join(folder, "drizzle/account");
  const journal_file = join(account, "meta/_journal.json");
  const journal = JSON.parse(readFileSync(journal_file, "utf8")) as {
    entries: { idx: number; when: number; tag: string }[];
  };
  const [newest] = journal.entries.slice(-1);
  if (newest === undefined) throw new Error("there is no migration to add to");
  const added = { ...newest, idx: newest.idx + 1, when: newest.when + 1, tag: "added" };
  journal.entries.push(added);
  writeFileSync(journal_file, JSON.stringify(journal));
  writeFileSync(join(account, "added.sql"), sql);
  const place = String(added.idx).padStart(4, "0");
  replaceIn(join(account, "migrations.js"), "migrations: {", `migrations: { m${place},`);
  replaceIn(
    join(account, "migrations.js"),
    "import journal",
    `import m${place} from "./added.sql";\nimport journal`,
  );
  replaceIn(
    join(folder, "src/account/sql/migrate.ts"),
    "] as const satisfies",
    `, ${oldest_build}] as const satisfies`,
  );
}

/** Renames a method of the account object in a copy, and also in the file of its caller, if one is given. */
export function renameMethod(folder: string, method: string, caller?: string): void {
  const renamed = `${method}InThisRelease`;
  const operations = join(folder, "src/account/operations.ts");
  replaceIn(operations, `\n  ${method}: `, `\n  ${renamed}: `);
  if (caller === undefined) return;
  replaceIn(join(folder, "src", caller), `.${method}(`, `.${renamed}(`);
}

/** Replaces a part of a file of a copy. @throws Error if the part is not there. */
export function replaceIn(file: string, part: string, replacement: string): void {
  const text = readFileSync(file, "utf8");
  if (!text.includes(part)) throw new Error(`${file} has no ${part}`);
  writeFileSync(file, text.replace(part, replacement));
}

/** Bundles a copy of the sources, without the static files, which no test here reads. */
export async function build(folder: string): Promise<Build> {
  const config = join(folder, "wrangler.toml");
  const sections = readFileSync(config, "utf8").split(/^(?=\[)/m);
  const kept = sections.filter((section) => !/^\[(build|assets)\]/.test(section));
  writeFileSync(config, kept.join(""));
  const bundled = join(folder, "bundle");
  await bundle([`--config=${config}`], bundled);
  return { config, bundle: bundled };
}

export interface RunningBuilds {
  readonly url: string;
  readonly runtime: Miniflare;
}

interface Plan {
  /** The build that serves requests. */
  readonly worker: Build;
  /** The build of the Durable Objects. By default, the same as `worker`. */
  readonly objects?: Build;
  readonly persist_to: string;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  /** Whether the stores are empty. */
  readonly is_new: boolean;
  /** Receives each log entry. */
  readonly log: (entry: string) => void;
}

const OBJECTS = "objects";

/** Wrangler's table of applied migrations, which `/readyz` reads. */
const WRANGLER_TABLE = "create table d1_migrations (id integer primary key, name text)";

/** Starts builds on the stores under `persist_to`. The objects' storage belongs to one name, whichever build runs. */
export async function startBuilds(plan: Plan): Promise<RunningBuilds> {
  const config = readWorkerConfig(plan.worker.config);
  // All builds share this issuer of tokens, so that the next build accepts tokens of the one before.
  const url = `http://127.0.0.1:${plan.port}`;
  const common = async (name: string, { bundle: folder }: Build) => ({
    name,
    modules: await readModules(folder),
    modulesRoot: "/",
    compatibilityDate: config.compatibility_date ?? "",
    compatibilityFlags: config.compatibility_flags,
    bindings: { ...config.vars, ...plan.settings, BASE_URL: url },
    d1Databases: Object.fromEntries(config.d1_databases.map(({ binding }) => [binding, binding])),
    kvNamespaces: Object.fromEntries(config.kv_namespaces.map(({ binding }) => [binding, binding])),
    ratelimits: Object.fromEntries(
      config.ratelimits.map(({ name: limiter }) => [
        limiter,
        { namespace_id: limiter, simple: { limit: 100_000, period: 60 as const } },
      ]),
    ),
    durableObjects: Object.fromEntries(
      config.durable_objects.bindings.map(({ name: binding, class_name }) => [
        binding,
        { className: class_name, scriptName: OBJECTS, useSQLite: true },
      ]),
    ),
  });
  const options = convertV4MiniflareOptions({
    workers: [
      {
        ...(await common("worker", plan.worker)),
        unsafeDirectSockets: [{ host: "127.0.0.1", port: plan.port }],
      },
      await common(OBJECTS, plan.objects ?? plan.worker),
    ],
    cf: false,
  });
  const runtime = new Miniflare({
    ...options,
    resourcePersistencePath: plan.persist_to,
    handleStructuredLogs: ({ message }) => plan.log(message),
  });
  await runtime.ready;
  if (plan.is_new) {
    for (const { binding, migrations_dir = "" } of config.d1_databases) {
      const database = await runtime.getD1Database(binding, "worker");
      for (const statement of [WRANGLER_TABLE, ...(await migrationsIn(resolve(migrations_dir)))])
        await database.prepare(statement).run();
    }
  }
  return { url, runtime };
}

async function readModules(folder: string) {
  return Promise.all(
    (await modulesOf(folder)).map(async (name) => ({
      type: isModule(name) ? ("ESModule" as const) : ("Text" as const),
      path: name,
      contents: await readFile(join(folder, name), "utf8"),
    })),
  );
}
