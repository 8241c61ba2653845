/** The steps of a deployment that contact Cloudflare. Each step skips what is already done. */
import type { Resource } from "./deploy_plan.ts";
import { listByWrangler, runWrangler } from "./wrangler_run.ts";

/** Runs Wrangler. @throws Error with Wrangler's message if it fails */
async function mustRun(args: readonly string[]): Promise<void> {
  const { succeeded, error } = await runWrangler(args);
  if (!succeeded) throw new Error(error);
}

/** A resource of the account, and whether this run creates it. */
export interface Found {
  readonly id: string;
  readonly is_new: boolean;
}

/** The account that Wrangler is signed in to. @throws Error if it is not signed in */
export async function checkAccount(): Promise<string> {
  const { succeeded, output } = await runWrangler(["whoami", "--json"]);
  if (!succeeded) {
    throw new Error(
      "You are not signed in to Cloudflare. Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.",
    );
  }
  const { accounts = [] } = JSON.parse(output.slice(output.indexOf("{"))) as {
    accounts?: readonly { name: string }[];
  };
  return accounts.map(({ name }) => name).join(", ") || "signed in";
}

/** The regions that Cloudflare accepts as a hint for a new store. It refuses others. */
export const LOCATIONS = ["weur", "eeur", "apac", "oc", "wnam", "enam"] as const;
export type Location = (typeof LOCATIONS)[number];

/** Reads the value of `--location`; undefined: Cloudflare chooses. @throws Error that lists the regions */
export function readLocation(value: string | undefined): Location | undefined {
  const known = LOCATIONS.find((location) => location === value);
  if (value === undefined || known !== undefined) return known;
  throw new Error(`--location ${value} is not a region. Use one of ${LOCATIONS.join(", ")}.`);
}

/** A kind of store, with its list in the account. */
export interface StoreKind {
  readonly title: string;
  /** The key of its id in wrangler.toml. */
  readonly id_key: string;
  /** The account's stores, or at least the one that is `wanted`, by its id or else its name. */
  list(wanted: string): Promise<readonly { readonly name: string; readonly id: string }[]>;
  /** Whether it is in one region, which its creation chooses for good. */
  readonly is_regional: boolean;
  create(name: string, location?: Location): Promise<string>;
}

const locationArgs = (location: Location | undefined): readonly string[] =>
  location === undefined ? [] : [`--location=${location}`];

export const D1_DATABASE: StoreKind = {
  title: "D1 database",
  id_key: "database_id",
  is_regional: true,
  async list() {
    const all = await listByWrangler<{ name: string; uuid: string }>(["d1", "list", "--json"]);
    return all.map(({ name, uuid }) => ({ name, id: uuid }));
  },
  create: (name, location) =>
    create(
      ["d1", "create", name, ...locationArgs(location)],
      /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/,
    ),
};

export const KV_NAMESPACE: StoreKind = {
  title: "KV namespace",
  id_key: "id",
  is_regional: false,
  async list() {
    const all = await listByWrangler<{ title: string; id: string }>(["kv", "namespace", "list"]);
    return all.map(({ title, id }) => ({ name: title, id }));
  },
  create: (name) => create(["kv", "namespace", "create", name], /\b[0-9a-f]{32}\b/),
};

/** Wrangler lists only some buckets, so the rules of this one are read. A bucket's name is its id. */
export const R2_BUCKET: StoreKind = {
  title: "R2 bucket",
  id_key: "bucket_name",
  is_regional: true,
  async list(wanted) {
    const { succeeded, error } = await runWrangler(["r2", "bucket", "lifecycle", "list", wanted]);
    if (succeeded) return [{ name: wanted, id: wanted }];
    if (/does not exist|10006/.test(error)) return [];
    throw new Error(
      `${error}\nR2 must be enabled once for the account, in Cloudflare's dashboard.`,
    );
  },
  async create(name, location) {
    await mustRun(["r2", "bucket", "create", name, ...locationArgs(location)]);
    return name;
  },
};

interface Creation {
  readonly may_create: boolean;
  /** The region of a new store; undefined: Cloudflare chooses. */
  readonly location: Location | undefined;
}

/**
 * The store of a binding, by its id in wrangler.toml or else by its name. A missing one is created only if `may_create`.
 * @throws Error that says how to go on
 */
export async function findStore(
  kind: StoreKind,
  { binding, name, id }: Resource,
  { may_create, location }: Creation,
): Promise<Found> {
  const all = await kind.list(id ?? name);
  const known = all.find((store) => (id === null ? store.name === name : store.id === id));
  if (known !== undefined) return { id: known.id, is_new: false };
  if (id !== null) {
    throw new Error(
      `The account has no ${kind.title} with the ${kind.id_key} ${id}, which the configuration file names for ${binding}. ` +
        `Restore it, or correct the id.`,
    );
  }
  if (!may_create) throw new Error(missing(kind, { binding, name }));
  return { id: await kind.create(name, location), is_new: true };
}

function missing({ title }: StoreKind, { binding, name }: Omit<Resource, "id">): string {
  const loss =
    binding === "DIRECTORY"
      ? "An empty one would have no people: everybody would get a new, empty account. "
      : "";
  return `The ${title} ${name} (${binding}) is missing, although this Worker is already deployed. ${loss}Check the account and the name of the Worker.
If the store has another name, write its id into the configuration file. If it is new in this release, or lost for good, run
the command again with --create-missing ${binding}, which creates an empty one (docs/operate.md, "A missing store").`;
}

/** Creates a resource, and reads its id from Wrangler's output. */
async function create(args: readonly string[], id_form: RegExp): Promise<string> {
  const { succeeded, output, error } = await runWrangler(args);
  if (!succeeded) throw new Error(error);
  const [id] = id_form.exec(output) ?? [];
  if (id === undefined)
    throw new Error(
      `The output of wrangler ${args.join(" ")} has no id. Run the deployment again.`,
    );
  return id;
}

/** Creates the queue if it is missing. @returns whether it was created */
export async function findOrCreateQueue(name: string): Promise<boolean> {
  const { succeeded, error } = await runWrangler(["queues", "info", name]);
  if (succeeded) return false;
  if (!error.includes("does not exist")) throw new Error(error);
  await mustRun(["queues", "create", name]);
  return true;
}

/** Lets the Worker accept a new directory: see `directory/marker.ts`. */
export function acceptDirectory(config_file: string): Promise<void> {
  const accept = "insert or replace into directory_marker (one, id) values (1, 'accepted')";
  const args = ["d1", "execute", "DIRECTORY", "--remote", "--yes", `--command=${accept}`];
  return mustRun([...args, `--config=${config_file}`]);
}

/** Applies the new migrations to a remote database. */
export function applyRemoteMigrations(binding: string, config_file: string): Promise<void> {
  return mustRun(["d1", "migrations", "apply", binding, "--remote", `--config=${config_file}`]);
}
