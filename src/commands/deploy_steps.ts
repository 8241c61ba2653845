/** The steps of a deployment that contact Cloudflare. Each step skips what is already done. */
import { listByWrangler, runWrangler } from "./wrangler_run.ts";

/** Runs Wrangler. @throws Error with Wrangler's message if it fails */
async function mustRun(args: readonly string[]): Promise<void> {
  const { succeeded, error } = await runWrangler(args);
  if (!succeeded) throw new Error(error);
}

/** A resource of the account, and whether this run created it. */
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

/** The D1 database with this name, created if missing. */
export async function findOrCreateDatabase(name: string): Promise<Found> {
  const all = await listByWrangler<{ name: string; uuid: string }>(["d1", "list", "--json"]);
  const known = all.find((database) => database.name === name);
  if (known !== undefined) return { id: known.uuid, is_new: false };
  return create(["d1", "create", name], /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/);
}

/** The KV namespace with this title, created if missing. */
export async function findOrCreateNamespace(name: string): Promise<Found> {
  const all = await listByWrangler<{ title: string; id: string }>(["kv", "namespace", "list"]);
  const known = all.find(({ title }) => title === name);
  if (known !== undefined) return { id: known.id, is_new: false };
  return create(["kv", "namespace", "create", name], /\b[0-9a-f]{32}\b/);
}

/** Creates a resource, and reads its id from Wrangler's output. */
async function create(args: readonly string[], id_form: RegExp): Promise<Found> {
  const { succeeded, output, error } = await runWrangler(args);
  if (!succeeded) throw new Error(error);
  const [id] = id_form.exec(output) ?? [];
  if (id === undefined)
    throw new Error(
      `The output of wrangler ${args.join(" ")} has no id. Run the deployment again.`,
    );
  return { id, is_new: true };
}

/** Creates the queue if it is missing. @returns whether it was created */
export async function findOrCreateQueue(name: string): Promise<boolean> {
  const { succeeded, error } = await runWrangler(["queues", "info", name]);
  if (succeeded) return false;
  if (!error.includes("does not exist")) throw new Error(error);
  await mustRun(["queues", "create", name]);
  return true;
}

/** Applies the new migrations to a remote database. */
export function applyRemoteMigrations(binding: string, config_file: string): Promise<void> {
  return mustRun(["d1", "migrations", "apply", binding, "--remote", `--config=${config_file}`]);
}
