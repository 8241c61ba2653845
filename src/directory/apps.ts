/**
 * The registry of client apps and their keys: D1's `apps` and `app_keys`, cached in memory for a minute. It
 * never throws. While D1 is slow or unavailable the cache is used for a limited time; after that the registry is
 * unknown. A key is accepted only within the cache's minute, because it may have been revoked. After that minute, only
 * accounts that know the key let it end jobs: see `account/allowances/app_keys.ts`.
 */
import { getTableColumns, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import {
  APP_SLUG_PATTERN,
  EXPIRY_OUTCOMES,
  DEFAULT_POLICY,
  type JobPolicy,
  OVERAGE_MAX_PERCENT,
  SETTLERS,
} from "../domain/app_policy.ts";
import { reportError } from "../domain/error_report.ts";
import { APP_REGISTRY_STALE_MAX_MS, COST_MAX_CREDITS } from "../domain/limits.ts";
import { parseAllowedOrigin, type AllowedOrigin } from "../domain/origins.ts";
import {
  isRegisteredClientId,
  type Lookup,
  type ProtectedResource,
  type RegisteredClient,
} from "../domain/oauth_client.ts";
import type { KnownKey } from "../domain/proof.ts";
import { resourceKey } from "../domain/resource_uri.ts";
import { CAP_PERIODS, type SpendingCap } from "../domain/spending_cap.ts";
import { hashAppKey } from "./app_records.ts";
import {
  readClients,
  readClientSecrets,
  readResources,
  type ClientSecret,
} from "./registrations.ts";
import { COPY_FRESH_MS, createSharedCopy } from "./shared_copy.ts";
import { oauthClients, resources } from "./oauth_schema.ts";
import { appKeys, apps } from "./schema.ts";

/** The shortest time between reads of the registry because of an unknown key, client or resource, which may be new. */
const UNKNOWN_REREAD_MS = 5_000;

/** A registered app. */
export interface RegisteredApp extends JobPolicy {
  readonly slug: string;
  readonly name: string;
  readonly starter_credits: number;
  /** The most credits that its grants of one UTC day add up to; null: no limit. */
  readonly daily_starter_budget: number | null;
  readonly origins: readonly AllowedOrigin[];
  /** The ids of the sign-in providers whose upstream tokens its pages may get. */
  readonly upstream_providers: readonly string[];
  /** The hash of its icon's copy; null: no icon. */
  readonly icon_hash: string | null;
  /** `#rrggbb`; null: none. */
  readonly color: string | null;
  /** Suggested when a person approves a device for the app; null: none. */
  readonly suggested_cap: SpendingCap | null;
  /** See `domain/starter_rule`. */
  readonly starter_excluded_domains: readonly string[];
}

type Apps = ReadonlyMap<string, RegisteredApp>;

/** The result of one read of the registry. */
interface Registry {
  readonly apps: Apps;
  /** Apps with an invalid row, whose policy is unknown. */
  readonly unreadable: ReadonlySet<string>;
  /** The app of each valid key, by the key's hash. */
  readonly apps_of_keys: ReadonlyMap<string, string>;
  /** OAuth clients by `client_id`, and protected resources by `resourceKey`. */
  readonly clients: ReadonlyMap<string, RegisteredClient>;
  readonly resources: ReadonlyMap<string, ProtectedResource>;
  readonly client_secrets: ReadonlyMap<string, readonly ClientSecret[]>;
}

/** The amount and limit of a starter grant, in credits. */
export interface StarterGrant {
  /** Whether the app is registered. One whose row is unreadable is. */
  readonly is_registered: boolean;
  readonly credits: number;
  /** Null: no limit. */
  readonly daily_budget: number | null;
  /** The e-mail domains of people who do not get it. */
  readonly excluded_domains: readonly string[];
}

export interface AppRegistry {
  /** The registered apps that this isolate knows, however old its copy is. Reads nothing. */
  known(): Apps;
  /** All registered apps by slug; none while the registry is unknown. */
  all(): Promise<Apps>;
  /**
   * The app's present starter grant, in credits: the registered amount, or the default of unregistered apps;
   * null while the registry is unknown.
   */
  starterCredits(slug: string): Promise<number | null>;
  /** The same with the limit of the app's grants of a day; null while the registry is unknown. */
  starterGrant(slug: string): Promise<StarterGrant | null>;
  /** The policy of the app's new jobs; null while it is unknown. */
  policy(slug: string): Promise<JobPolicy | null>;
  /** The app of a key, according to the cache of at most a minute. */
  appOfKey(key: string): Promise<KnownKey>;
  /**
   * The same for a key that the cache does not have and that may be new: reads D1 first, but at most once in
   * {@link UNKNOWN_REREAD_MS}.
   */
  rereadForKey(key: string): Promise<KnownKey>;
  /**
   * A registered OAuth client, according to the cache. An unknown one may be new, so it causes a read of D1, but at most one
   * in {@link UNKNOWN_REREAD_MS}. A text that cannot be a registered `client_id` causes none.
   */
  findClient(client_id: string): Promise<Lookup<RegisteredClient>>;
  /**
   * Whether a secret is one of a client's. As a key, it is accepted only within the cache's minute. A wrong one may be new,
   * so it causes a read of D1 as an unknown client does.
   */
  checkClientSecret(client_id: string, secret: string): Promise<"valid" | "wrong" | "unreadable">;
  /** As `findClient`, for a protected resource by its address. */
  findResource(uri: string): Promise<Lookup<ProtectedResource>>;
  /** Clears the cache after a change in this isolate. */
  forget(): void;
}

export interface AppRegistryOptions {
  readonly database: D1Database;
  /** Returns those of an app's origins that are allowed: see `operations/wildcards.ts`. It never throws. */
  readonly keepOwned: (origins: readonly AllowedOrigin[]) => Promise<readonly AllowedOrigin[]>;
  /** The starter credits of unregistered apps. */
  readonly default_starter_credits: number;
}

export function createAppRegistry(options: AppRegistryOptions): AppRegistry {
  const database = drizzle(options.database);
  const copy = createSharedCopy<Registry>({
    read: async () => readRegistry(await readRows(database), options.keepOwned),
    stale_max_ms: APP_REGISTRY_STALE_MAX_MS,
    logFailure: (error) =>
      console.warn({ event: "app_registry_read_failed", ...reportError(error) }),
  });
  let reread_at_ms = Number.NEGATIVE_INFINITY;

  const recall = async (): Promise<Registry | null> => (await copy.recall())?.value ?? null;
  const findKey = (key_hash: string): KnownKey => {
    const known = copy.known();
    const app_slug = known?.value.apps_of_keys.get(key_hash);
    const age_ms = known === null ? Number.POSITIVE_INFINITY : Date.now() - known.read_at_ms;
    if (known !== null && age_ms < COPY_FRESH_MS) {
      if (app_slug === undefined) return { kind: "unknown" };
      return { kind: "app", app_slug, key_hash, checked_at_ms: known.read_at_ms };
    }
    const was_missing = age_ms < APP_REGISTRY_STALE_MAX_MS && app_slug === undefined;
    return copy.isFailing() && !was_missing
      ? { kind: "unverified_app", key_hash, was_valid: app_slug !== undefined }
      : { kind: "unreadable" };
  };
  const starterGrant = async (slug: string): Promise<StarterGrant | null> => {
    const known = await recall();
    if (known === null) return null;
    const app = known.apps.get(slug);
    return {
      is_registered: app !== undefined || known.unreadable.has(slug),
      credits: app?.starter_credits ?? options.default_starter_credits,
      daily_budget: app?.daily_starter_budget ?? null,
      excluded_domains: app?.starter_excluded_domains ?? [],
    };
  };

  /** Reads D1 because something is not in the cache, unless that was done or failed just now. */
  const reread = async (): Promise<void> => {
    const now_ms = Date.now();
    if (now_ms - reread_at_ms < UNKNOWN_REREAD_MS) return;
    reread_at_ms = now_ms;
    await copy.reread();
  };
  const lookUp = async <Found>(
    find: (known: Registry) => Found | undefined,
  ): Promise<Lookup<Found>> => {
    let known = await recall();
    let value = known === null ? undefined : find(known);
    if (value === undefined) {
      await reread();
      known = await recall();
      value = known === null ? undefined : find(known);
    }
    if (value !== undefined) return { kind: "found", value };
    return { kind: known === null ? "unreadable" : "unknown" };
  };

  return {
    known: () => copy.known()?.value.apps ?? new Map(),
    async all() {
      return (await recall())?.apps ?? new Map();
    },
    starterGrant,
    async starterCredits(slug) {
      return (await starterGrant(slug))?.credits ?? null;
    },
    async policy(slug) {
      const known = await recall();
      if (known === null || known.unreadable.has(slug)) return null;
      const { settle, on_expiry, max_overage_percent } = known.apps.get(slug) ?? DEFAULT_POLICY;
      return { settle, on_expiry, max_overage_percent };
    },
    async appOfKey(key) {
      await copy.recallFresh();
      return findKey(await hashAppKey(key));
    },
    async rereadForKey(key) {
      await reread();
      return findKey(await hashAppKey(key));
    },
    async findClient(client_id) {
      if (!isRegisteredClientId(client_id)) return { kind: "unknown" };
      return lookUp(({ clients }) => clients.get(client_id));
    },
    async checkClientSecret(client_id, secret) {
      const given = await hashAppKey(secret);
      const check = async () => {
        const known = await copy.recallFresh();
        if (known === null) return "unreadable";
        const secrets = known.value.client_secrets.get(client_id) ?? [];
        const isGiven = ({ hash, until_ms }: ClientSecret) =>
          hash === given && Date.now() < until_ms;
        return secrets.some(isGiven) ? "valid" : "wrong";
      };
      const verdict = await check();
      if (verdict !== "wrong") return verdict;
      await reread();
      return check();
    },
    async findResource(uri) {
      const key = resourceKey(uri);
      return lookUp((known) => known.resources.get(key));
    },
    forget: () => copy.forget(),
  };
}

/** The apps with the hashes of their valid keys, their clients and resources, in one query. */
function readRows(database: DrizzleD1Database) {
  const key_hashes_json = sql<string>`(
    select json_group_array(${appKeys.key_hash}) from ${appKeys}
    where ${appKeys.app_slug} = ${apps.slug} and ${appKeys.revoked_at_ms} is null)`;
  const clients_json = sql<string>`(
    select json_group_array(json_object('id', ${oauthClients.id}, 'name', ${oauthClients.name},
      'redirect_uris', json(${oauthClients.redirect_uris_json}), 'public', ${oauthClients.public},
      'pkce_optional', ${oauthClients.pkce_optional},
      'refresh', ${oauthClients.refresh}, 'secret_hash', ${oauthClients.secret_hash},
      'old_secrets', json(${oauthClients.old_secrets_json})))
    from ${oauthClients}
    where ${oauthClients.app_slug} = ${apps.slug} and ${oauthClients.deleted_at_ms} is null)`;
  const resources_json = sql<string>`(
    select json_group_array(json_object('uri', ${resources.uri}, 'scopes', json(${resources.scopes_json})))
    from ${resources} where ${resources.app_slug} = ${apps.slug})`;
  const columns = getTableColumns(apps);
  return database.select({ ...columns, key_hashes_json, clients_json, resources_json }).from(apps);
}

type AppRow = Awaited<ReturnType<typeof readRows>>[number];

/** Parses the valid rows. An invalid row is logged by slug and does not affect other apps. */
async function readRegistry(
  rows: readonly AppRow[],
  keepOwned: AppRegistryOptions["keepOwned"],
): Promise<Registry> {
  const readable = rows.filter((row) => {
    const is_valid = isValidRow(row);
    if (!is_valid) console.error({ event: "app_ignored", slug: row.slug });
    return is_valid;
  });
  const known = new Map<string, RegisteredApp>();
  // One after another, so that the list of hosting suffixes is read only once.
  for (const row of readable) known.set(row.slug, await readApp(row, keepOwned));
  return {
    apps: known,
    unreadable: new Set(rows.map(({ slug }) => slug).filter((slug) => !known.has(slug))),
    apps_of_keys: new Map(
      readable.flatMap(({ slug, key_hashes_json }) =>
        (JSON.parse(key_hashes_json) as string[]).map((hash) => [hash, slug] as const),
      ),
    ),
    clients: new Map(readable.flatMap(({ slug, clients_json }) => readClients(slug, clients_json))),
    client_secrets: new Map(
      readable.flatMap(({ slug, clients_json }) => readClientSecrets(slug, clients_json)),
    ),
    resources: new Map(
      readable.flatMap(({ slug, resources_json }) => readResources(slug, resources_json)),
    ),
  };
}

function isValidRow(row: AppRow): boolean {
  const { slug, name, starter_credits, daily_starter_budget } = row;
  const { settle, on_expiry, max_overage_percent } = row;
  return (
    APP_SLUG_PATTERN.test(slug) &&
    typeof name === "string" &&
    isCredits(starter_credits) &&
    (daily_starter_budget === null || isCredits(daily_starter_budget)) &&
    SETTLERS.includes(settle) &&
    EXPIRY_OUTCOMES.includes(on_expiry) &&
    (max_overage_percent === null || isOverage(max_overage_percent))
  );
}

function isCredits(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= COST_MAX_CREDITS;
}

function isOverage(percent: number): boolean {
  return Number.isSafeInteger(percent) && percent >= 0 && percent <= OVERAGE_MAX_PERCENT;
}

async function readApp(
  row: AppRow,
  keepOwned: AppRegistryOptions["keepOwned"],
): Promise<RegisteredApp> {
  const { slug, name, starter_credits, daily_starter_budget, settle, on_expiry } = row;
  const entries = readEntries(row.origins_json);
  if (entries === null) console.error({ event: "app_origins_read_failed", slug });
  const parsed = (entries ?? []).map((entry) =>
    typeof entry === "string" ? parseAllowedOrigin(entry) : null,
  );
  const origins = await keepOwned(parsed.filter((origin) => origin !== null));
  const providers = readEntries(row.upstream_providers_json) ?? [];
  const upstream_providers = providers.filter((id) => typeof id === "string");
  for (const [index, origin] of parsed.entries()) {
    if (origin !== null && origins.includes(origin)) continue;
    console.error({ event: "app_origin_ignored", slug, index });
  }
  return {
    slug,
    name,
    starter_credits,
    daily_starter_budget,
    settle,
    on_expiry,
    max_overage_percent: row.max_overage_percent,
    origins,
    upstream_providers,
    icon_hash: row.icon_hash,
    color: row.color,
    suggested_cap: readCap(row.suggested_cap_json),
    starter_excluded_domains: (readEntries(row.starter_excluded_domains_json) ?? []).filter(
      (domain) => typeof domain === "string",
    ),
  };
}

/** A suggestion only, so one that is not valid is left out. The table has checked that the text is JSON. */
function readCap(text: string | null): SpendingCap | null {
  const cap = JSON.parse(text ?? "null") as SpendingCap | null;
  return cap !== null && isCredits(cap.credits) && CAP_PERIODS.includes(cap.period) ? cap : null;
}

/** The array in a JSON text; null if the text is not an array. */
function readEntries(text: string): readonly unknown[] | null {
  try {
    const entries: unknown = JSON.parse(text);
    return Array.isArray(entries) ? entries : null;
  } catch {
    return null;
  }
}
