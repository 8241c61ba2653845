/** What a deployment needs, read from wrangler.toml, so that a new database there is one here too. */
import { reportSettings, type SettingsReport } from "./settings_report.ts";
import { newEncryptionKeys, newSigningKeys } from "./development_settings.ts";
import type { WorkerConfig } from "./wrangler_config.ts";

/** A D1 database or KV namespace: found by its name in the account, and by its id once it is known. */
export interface Resource {
  readonly binding: string;
  readonly name: string;
  /** From wrangler.toml; null where it names none. */
  readonly id: string | null;
}

export interface Database extends Resource {
  readonly has_migrations: boolean;
}

export interface DeployPlan {
  readonly worker: string;
  readonly base_url: string | null;
  readonly databases: readonly Database[];
  readonly namespaces: readonly Resource[];
  readonly queues: readonly string[];
}

/** Secrets without which nothing works, and which can be drawn at random. */
export const GENERATED_SECRETS: Readonly<Record<string, () => Promise<string>>> = {
  SIGNING_KEYS: newSigningKeys,
  ENCRYPTION_KEYS: async () => newEncryptionKeys(),
};

/** Reads the plan. Names that are not written are those Wrangler itself would give. */
export function readPlan(config: WorkerConfig): DeployPlan {
  const worker = config.name ?? "passbook";
  const nameFor = (binding: string): string =>
    `${worker}-${binding.toLowerCase().replaceAll("_", "-")}`;
  const { BASE_URL } = config.vars ?? {};
  return {
    worker,
    base_url: typeof BASE_URL === "string" ? BASE_URL : null,
    databases: (config.d1_databases ?? []).map((database) => ({
      binding: database.binding,
      name: database.database_name ?? nameFor(database.binding),
      id: database.database_id ?? null,
      has_migrations: database.migrations_dir !== undefined,
    })),
    namespaces: (config.kv_namespaces ?? []).map(({ binding, id }) => ({
      binding,
      name: nameFor(binding),
      id: id ?? null,
    })),
    queues: queuesOf(config),
  };
}

/** Queues to send to, and those where given-up messages go; each once. */
function queuesOf({ queues }: WorkerConfig): readonly string[] {
  const names = [
    ...(queues?.producers ?? []).map(({ queue }) => queue),
    ...(queues?.consumers ?? []).flatMap(({ queue, dead_letter_queue }) => [
      queue,
      dead_letter_queue,
    ]),
  ];
  return [...new Set(names.filter((name): name is string => name !== undefined))];
}

/**
 * Checks what will be deployed: the public settings with `secrets` beside them. Secrets that Cloudflare
 * keeps already cannot be read back; those that would be drawn are taken as good.
 */
export async function reportDeployment(
  config: WorkerConfig,
  secrets: Readonly<Record<string, string>>,
): Promise<SettingsReport> {
  const drawn: Record<string, string> = {};
  for (const [name, draw] of Object.entries(GENERATED_SECRETS)) drawn[name] = await draw();
  const report = reportSettings({ ...config.vars, ...drawn, ...secrets });
  return { ...report, problems: [...report.problems, ...addressProblems(config)] };
}

/** Deployed at no address, or at another than its own, the service would answer nobody. */
function addressProblems(config: WorkerConfig): readonly string[] {
  const { base_url } = readPlan(config);
  const host = URL.parse(base_url ?? "");
  if (host === null) return [];
  if (host.protocol !== "https:") return ["BASE_URL: must be an https address to be deployed"];
  const { routes = [], route, workers_dev } = config;
  const patterns = [...routes, ...(route === undefined ? [] : [route])].map((it) =>
    typeof it === "string" ? it : it.pattern,
  );
  const is_routed = patterns.some((pattern) => pattern.split("/")[0] === host.hostname);
  const is_workers_dev = workers_dev === true && host.hostname.endsWith(".workers.dev");
  if (is_routed || is_workers_dev) return [];
  return host.hostname.endsWith(".workers.dev")
    ? ["workers_dev: must be true for the BASE_URL that is set"]
    : [
        `routes: must have the host of BASE_URL: routes = [{ pattern = "${host.hostname}", custom_domain = true }]`,
      ];
}

/** The configuration with the ids filled in, as JSON, so that migrations and code meet one database. */
export function withIds(config: WorkerConfig, ids: ReadonlyMap<string, string>): string {
  const { databases } = readPlan(config);
  const filled: WorkerConfig = {
    ...config,
    d1_databases: (config.d1_databases ?? []).map((database, place) => ({
      ...database,
      database_name: databases[place]?.name ?? database.binding,
      database_id: ids.get(database.binding) ?? "",
    })),
    kv_namespaces: (config.kv_namespaces ?? []).map((namespace) => ({
      ...namespace,
      id: ids.get(namespace.binding) ?? "",
    })),
  };
  return JSON.stringify(filled, null, 2);
}
