/** The resources of a deployment, read from wrangler.toml, and the checks of its settings. */
import { reportSettings, type SettingsReport } from "./settings_report.ts";
import { newEncryptionKeys, newIdTokenKeys, newSigningKeys } from "./development_settings.ts";
import { withOwnNamespaces } from "./rate_limit_namespaces.ts";
import type { WorkerConfig } from "./wrangler_config.ts";

/** A D1 database, KV namespace or R2 bucket, looked up by its name in the account. */
export interface Resource {
  readonly binding: string;
  readonly name: string;
  /** The id in wrangler.toml; null without one. */
  readonly id: string | null;
}

interface Database extends Resource {
  readonly has_migrations: boolean;
}

export interface DeployPlan {
  readonly worker: string;
  readonly base_url: string | null;
  readonly databases: readonly Database[];
  readonly namespaces: readonly Resource[];
  readonly buckets: readonly Resource[];
  readonly queues: readonly string[];
}

/** Required secrets that a deployment can generate. */
export const GENERATED_SECRETS: Readonly<Record<string, () => Promise<string>>> = {
  SIGNING_KEYS: newSigningKeys,
  ID_TOKEN_KEYS: newIdTokenKeys,
  ENCRYPTION_KEYS: async () => newEncryptionKeys(),
};

/** Reads the plan. Omitted names get the name that Wrangler would give. */
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
    buckets: (config.r2_buckets ?? []).map(({ binding, bucket_name }) => ({
      binding,
      name: nameFor(binding),
      id: bucket_name ?? null,
    })),
    queues: queuesOf(config),
  };
}

/** The queues and their dead-letter queues, without duplicates. */
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
 * Checks the settings of a deployment: those of wrangler.toml together with `secrets`. Cloudflare does not show the
 * secrets that it has, so they are not checked.
 */
export async function reportDeployment(
  config: WorkerConfig,
  secrets: Readonly<Record<string, string>>,
): Promise<SettingsReport> {
  const generated: Record<string, string> = {};
  for (const [name, generate] of Object.entries(GENERATED_SECRETS)) {
    generated[name] = await generate();
  }
  const report = reportSettings({ ...config.vars, ...generated, ...secrets });
  return { ...report, problems: [...report.problems, ...addressProblems(config)] };
}

/** The service refuses requests for any host but that of BASE_URL, so a route must lead there. */
function addressProblems(config: WorkerConfig): readonly string[] {
  const { base_url } = readPlan(config);
  const host = URL.parse(base_url ?? "");
  if (host === null) return [];
  if (host.protocol !== "https:") return ["BASE_URL: must be an https address in a deployment"];
  const { routes = [], route, workers_dev } = config;
  const patterns = [...routes, ...(route === undefined ? [] : [route])].map((it) =>
    typeof it === "string" ? it : it.pattern,
  );
  const is_routed = patterns.some((pattern) => pattern.split("/")[0] === host.hostname);
  const is_workers_dev = workers_dev === true && host.hostname.endsWith(".workers.dev");
  if (is_routed || is_workers_dev) return [];
  return host.hostname.endsWith(".workers.dev")
    ? ["workers_dev: must be true for this BASE_URL"]
    : [
        `routes: must include the host of BASE_URL: routes = [{ pattern = "${host.hostname}", custom_domain = true }]`,
      ];
}

/**
 * The configuration with all ids, as JSON, so that migrations and code use the same databases. The rate limits get
 * namespaces of this Worker's own.
 */
export function withIds(config: WorkerConfig, ids: ReadonlyMap<string, string>): string {
  const { worker, databases } = readPlan(config);
  const filled: WorkerConfig = {
    ...config,
    d1_databases: (config.d1_databases ?? []).map((database, index) => ({
      ...database,
      database_name: databases[index]?.name ?? database.binding,
      database_id: ids.get(database.binding) ?? "",
    })),
    kv_namespaces: (config.kv_namespaces ?? []).map((namespace) => ({
      ...namespace,
      id: ids.get(namespace.binding) ?? "",
    })),
    r2_buckets: (config.r2_buckets ?? []).map((bucket) => ({
      ...bucket,
      bucket_name: ids.get(bucket.binding) ?? "",
    })),
    ratelimits: withOwnNamespaces(worker, config.ratelimits ?? []),
  };
  return JSON.stringify(filled, null, 2);
}
