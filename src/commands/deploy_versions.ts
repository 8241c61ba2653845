/** The versions of the Worker and their shares of the requests, at Cloudflare. */
import { listByWrangler, runWrangler } from "./wrangler_run.ts";
import type { WorkerConfig } from "./wrangler_config.ts";

export interface Deployment {
  readonly id: string;
  readonly created_on: string;
  readonly versions: readonly { readonly version_id: string; readonly percentage: number }[];
}

/** Cloudflare's error code for a Worker that does not exist. */
const NO_SUCH_WORKER = "[code: 10007]";

/** The newest deployment; null if the Worker was never deployed. */
export async function readActive(config_file: string): Promise<Deployment | null> {
  const args = ["deployments", "list", "--json", `--config=${config_file}`];
  const deployments = await listByWrangler<Deployment>(args).catch((error: unknown) => {
    if (String(error).includes(NO_SUCH_WORKER)) return [];
    throw error;
  });
  const [newest = null] = deployments.toSorted((one, other) =>
    other.created_on.localeCompare(one.created_on),
  );
  return newest;
}

/** The version that serves most requests; null: there is none. */
export function mainVersion(deployment: Deployment | null): string | null {
  const [main] = (deployment?.versions ?? []).toSorted(
    (one, other) => other.percentage - one.percentage,
  );
  return main?.version_id ?? null;
}

/** Such as `1a2b 90%, 3c4d 10%`. */
export const versionsOf = (deployment: Deployment | null): string =>
  deployment?.versions.map((it) => `${it.version_id} ${it.percentage}%`).join(", ") ?? "unknown";

/** Refuses a second deployment during a gradual one. @throws Error that names its versions */
export function refuseSecond(deployment: Deployment | null): void {
  if (deployment === null || deployment.versions.length < 2) return;
  throw new Error(`A gradual deployment is under way: ${versionsOf(deployment)}. Two at once would take each other back.
Wait for its end. If its command was stopped, choose the version that gets all requests:
npx wrangler versions deploy ${mainVersion(deployment)}@100% --yes`);
}

/** Makes a deployment of these parts, such as `<version>@10`. @throws Error with Wrangler's message */
export async function createDeployment(
  parts: readonly string[],
  message: string,
  config_file: string,
  ...more: readonly string[]
): Promise<void> {
  const args = ["versions", "deploy", ...parts.map((part) => `${part}%`), "--yes", ...more];
  const { succeeded, error } = await runWrangler([
    ...args,
    `--message=${message}`,
    `--config=${config_file}`,
  ]);
  if (!succeeded) throw new Error(error);
}

interface VersionView {
  readonly resources: {
    readonly bindings?: readonly { readonly type: string; readonly class_name?: string }[];
  };
}

/** Refuses a version with other classes of objects: Cloudflare cannot give them to a part of the requests. @throws Error */
export async function refuseOtherClasses(
  version: string,
  config: WorkerConfig,
  config_file: string,
): Promise<void> {
  const args = ["versions", "view", version, "--json", `--config=${config_file}`];
  const { succeeded, output, error } = await runWrangler(args);
  if (!succeeded) throw new Error(error);
  const { resources } = JSON.parse(output.slice(output.indexOf("{"))) as VersionView;
  const live = (resources.bindings ?? []).flatMap(({ type, class_name }) =>
    type === "durable_object_namespace" && class_name !== undefined ? [class_name] : [],
  );
  const own = (config.durable_objects?.bindings ?? []).map(({ class_name }) => class_name);
  const changed = [
    ...live.filter((name) => !own.includes(name)),
    ...own.filter((name) => !live.includes(name)),
  ];
  if (changed.length === 0) return;
  throw new Error(`This release adds or removes classes of objects (${changed.join(", ")}), which cannot go to a part of the requests.
Nothing was uploaded. Run the command without --gradual.`);
}
