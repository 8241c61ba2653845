/** The steps of a deployment that reach Cloudflare. Each finds what is done and does what is not. */
import { listByWrangler, runWrangler } from "./wrangler_run.ts";

/** Runs a command that must succeed. @throws Error with Wrangler's words where it does not. */
async function mustRun(args: readonly string[]): Promise<void> {
  const { succeeded, complaint } = await runWrangler(args);
  if (!succeeded) throw new Error(complaint);
}

/** A thing in the account, and whether it had to be made. */
export interface Found {
  readonly id: string;
  readonly is_new: boolean;
}

/** Whoever is signed in, as Wrangler knows them. @throws Error where nobody is. */
export async function checkAccount(): Promise<string> {
  const { succeeded, output } = await runWrangler(["whoami", "--json"]);
  if (!succeeded) {
    throw new Error(
      "Nobody is signed in to Cloudflare. Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.",
    );
  }
  const { accounts = [] } = JSON.parse(output.slice(output.indexOf("{"))) as {
    accounts?: readonly { name: string }[];
  };
  return accounts.map(({ name }) => name).join(", ") || "signed in";
}

/** The D1 database of this name, made where there is none. */
export async function findOrMakeDatabase(name: string): Promise<Found> {
  const all = await listByWrangler<{ name: string; uuid: string }>(["d1", "list", "--json"]);
  const known = all.find((database) => database.name === name);
  if (known !== undefined) return { id: known.uuid, is_new: false };
  return make(["d1", "create", name], /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/);
}

/** The KV namespace of this title, made where there is none. */
export async function findOrMakeNamespace(name: string): Promise<Found> {
  const all = await listByWrangler<{ title: string; id: string }>(["kv", "namespace", "list"]);
  const known = all.find(({ title }) => title === name);
  if (known !== undefined) return { id: known.id, is_new: false };
  return make(["kv", "namespace", "create", name], /\b[0-9a-f]{32}\b/);
}

/** Makes something, and reads its id from what Wrangler says of it. */
async function make(args: readonly string[], id_form: RegExp): Promise<Found> {
  const { succeeded, output, complaint } = await runWrangler(args);
  if (!succeeded) throw new Error(complaint);
  const [id] = id_form.exec(output) ?? [];
  if (id === undefined) throw new Error(`wrangler ${args.join(" ")} named no id. Run this again.`);
  return { id, is_new: true };
}

/** The queue of this name, made where there is none. @returns whether it had to be. */
export async function findOrMakeQueue(name: string): Promise<boolean> {
  const { succeeded, complaint } = await runWrangler(["queues", "info", name]);
  if (succeeded) return false;
  if (!complaint.includes("does not exist")) throw new Error(complaint);
  await mustRun(["queues", "create", name]);
  return true;
}

/** Applies the migrations that a remote database has not had yet. */
export function applyRemoteMigrations(binding: string, config_file: string): Promise<void> {
  return mustRun(["d1", "migrations", "apply", binding, "--remote", `--config=${config_file}`]);
}

const READY_TRIES = 20;
/** A Worker that answers that it is not ready has been found; its stores get a moment more. */
const NOT_READY_TRIES = 3;
const READY_PAUSE_MS = 3_000;

/** Asks `/readyz` until it says yes. @throws Error with what it says at last. */
export async function waitUntilReady(base_url: string): Promise<void> {
  let refusals = 0;
  let last = "no answer";
  for (let attempt = 0; attempt < READY_TRIES && refusals < NOT_READY_TRIES; attempt += 1) {
    if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, READY_PAUSE_MS));
    const answer = await fetch(new URL("/readyz", base_url), {
      signal: AbortSignal.timeout(10_000),
      redirect: "manual",
    }).catch(() => null);
    if (answer?.ok === true) return;
    if (answer === null) continue;
    last = await sayNotReady(answer);
    if (answer.status !== 404 && answer.status < 520) refusals += 1;
  }
  throw new Error(`${base_url}/readyz: ${last}`);
}

/** The checks that fail, by name; the status where the answer has none. */
async function sayNotReady(answer: Response): Promise<string> {
  const body: unknown = await answer.json().catch(() => null);
  const checks = (body as { checks?: Record<string, unknown> } | null)?.checks ?? {};
  const failing = Object.keys(checks).filter(
    (name) => checks[name] !== true && checks[name] !== "ok",
  );
  return failing.length === 0 ? `status ${answer.status}` : `not ready: ${failing.join(", ")}`;
}
