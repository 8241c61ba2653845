/**
 * The registry of client apps and their keys: D1's `apps` and `app_keys`, cached in memory for a minute. It
 * never throws. While D1 is slow or unavailable the cache is used for a limited time; after that the registry is
 * unknown. A key is accepted within the cache's minute, because it may have been revoked. Only while reads fail is an
 * older copy used for it.
 */
import { getTableColumns, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import {
  APP_SLUG_PATTERN,
  EXPIRY_OUTCOMES,
  DEFAULT_POLICY,
  type AppPause,
  type JobPolicy,
  OVERAGE_MAX_PERCENT,
  pauseOf,
  SETTLERS,
} from "../domain/app_policy.ts";
import { reportError } from "../domain/error_report.ts";
import { APP_REGISTRY_STALE_MAX_MS, COST_MAX_CREDITS } from "../domain/limits.ts";
import {
  parseAllowedOrigin,
  precisionOf,
  reachesCookieDomain,
  type AllowedOrigin,
} from "../domain/origins.ts";
import {
  isRegisteredClientId,
  type Lookup,
  type ProtectedResource,
  type RegisteredClient,
} from "../domain/oauth_client.ts";
import type { KnownKey } from "../domain/proof.ts";
import { resourceKey } from "../domain/resource_uri.ts";
import type { StarterTerms } from "../domain/starter_rule.ts";
import { CAP_PERIODS, type SpendingCap } from "../domain/spending_cap.ts";
import { hashAppKey, type AppRecord } from "./app_records.ts";
import {
  readClients,
  readClientSecrets,
  readResources,
  type ClientSecret,
} from "./registrations.ts";
import { COPY_FRESH_MS, SharedCopy } from "./shared_copy.ts";
import { oauthClients, resources } from "./oauth_schema.ts";
import { appKeys, apps } from "./schema.ts";

/** The shortest time between reads of the registry because of an unknown key, client or resource, which may be new. */
const UNKNOWN_REREAD_MS = 5_000;

/** A registered app, with its origins parsed. */
export interface RegisteredApp extends Omit<AppRecord, "origins"> {
  readonly origins: readonly AllowedOrigin[];
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
interface StarterGrant {
  /** Whether the app is registered. One whose row is unreadable is. */
  readonly is_registered: boolean;
  readonly credits: number;
  /** Null: no limit. */
  readonly daily_budget: number | null;
  /** The e-mail domains of people who do not get it. */
  readonly excluded_domains: readonly string[];
  /** Whether the app is paused: then nobody gets it now. */
  readonly is_paused: boolean;
  readonly terms: StarterTerms;
}

interface AppRegistryOptions {
  readonly database: D1Database;
  /** Returns those of an app's origins that are allowed: see `operations/wildcards.ts`. It never throws. */
  readonly keepOwned: (origins: readonly AllowedOrigin[]) => Promise<readonly AllowedOrigin[]>;
  /** The starter credits of unregistered apps. */
  readonly default_starter_credits: number;
}

export class AppRegistry {
  readonly #options: AppRegistryOptions;
  readonly #database: DrizzleD1Database;
  readonly #copy;
  #reread_at_ms = Number.NEGATIVE_INFINITY;

  constructor(options: AppRegistryOptions) {
    this.#options = options;
    this.#database = drizzle(options.database);
    this.#copy = new SharedCopy<Registry>({
      read: async () => readRegistry(await readRows(this.#database), this.#options.keepOwned),
      stale_max_ms: APP_REGISTRY_STALE_MAX_MS,
      logFailure: (error) =>
        console.warn({ event: "app_registry_read_failed", ...reportError(error) }),
    });
  }

  /** The registered apps that this isolate knows, however old its copy is. Reads nothing. */
  known(): Apps {
    return this.#copy.known()?.value.apps ?? new Map();
  }

  /** All registered apps by slug; none while the registry is unknown. */
  async all(): Promise<Apps> {
    return (await this.#recall())?.apps ?? new Map();
  }

  /** The apps that an origin belongs to: those that name it most precisely. Null while the registry is unknown. */
  async slugsOfOrigin(origin: string): Promise<readonly string[] | null> {
    const known = await this.#recall();
    if (known === null) return null;
    const found = [...known.apps.values()].map(({ slug, origins }) => ({
      slug,
      precision: precisionOf(origin, origins),
    }));
    const highest = Math.max(Number.MIN_VALUE, ...found.map(({ precision }) => precision));
    return found.filter(({ precision }) => precision === highest).map(({ slug }) => slug);
  }

  /** The apps with a host that receives cookies of a domain. Null while the registry is unknown. */
  async slugsUnder(cookie_domain: string): Promise<readonly string[] | null> {
    const known = await this.#recall();
    if (known === null) return null;
    return [...known.apps.values()]
      .filter(({ origins }) => reachesCookieDomain(cookie_domain, origins))
      .map(({ slug }) => slug);
  }

  /**
   * The app's present starter grant, with the limit of its grants of a day. An unregistered app has the default amount.
   * Null while the registry is unknown.
   */
  async starterGrant(slug: string): Promise<StarterGrant | null> {
    const known = await this.#recall();
    if (known === null) return null;
    const app = known.apps.get(slug);
    return {
      is_registered: app !== undefined || known.unreadable.has(slug),
      credits: app?.starter_credits ?? this.#options.default_starter_credits,
      daily_budget: app?.daily_starter_budget ?? null,
      excluded_domains: app?.starter_excluded_domains ?? [],
      is_paused: app !== undefined && pauseOf(app) !== null,
      terms: {
        expires_after_days: app?.starter_expires_after_days ?? null,
        only_here: app?.starter_only_here ?? false,
      },
    };
  }

  /** The app's pause; null: it is not paused, or the registry is unknown. */
  async pauseOf(slug: string): Promise<AppPause | null> {
    const app = (await this.#recall())?.apps.get(slug);
    return app === undefined ? null : pauseOf(app);
  }

  /** The credits of a starter grant of the app now; null while the registry is unknown. */
  async starterCredits(slug: string): Promise<number | null> {
    const starter = await this.starterGrant(slug);
    return starter?.is_paused === true ? 0 : (starter?.credits ?? null);
  }

  /** The policy of the app's new jobs; null while it is unknown. */
  async policy(slug: string): Promise<JobPolicy | null> {
    const known = await this.#recall();
    if (known === null || known.unreadable.has(slug)) return null;
    const { settle, on_expiry, max_overage_percent } = known.apps.get(slug) ?? DEFAULT_POLICY;
    return { settle, on_expiry, max_overage_percent };
  }

  /** The app of a key, according to the cache of at most a minute, or of 15 minutes while the directory cannot be read. */
  async appOfKey(key: string): Promise<KnownKey> {
    await this.#copy.recallFresh();
    return this.#findKey(await hashAppKey(key));
  }

  /**
   * The same for a key that the cache does not have and that may be new: reads D1 first, but at most once in
   * {@link UNKNOWN_REREAD_MS}.
   */
  async rereadForKey(key: string): Promise<KnownKey> {
    await this.#reread();
    return this.#findKey(await hashAppKey(key));
  }

  /**
   * A registered OAuth client, according to the cache. An unknown one may be new, so it causes a read of D1, but at most one
   * in {@link UNKNOWN_REREAD_MS}. A text that cannot be a registered `client_id` causes none.
   */
  async findClient(client_id: string): Promise<Lookup<RegisteredClient>> {
    if (!isRegisteredClientId(client_id)) return { kind: "unknown" };
    return this.#lookUp(({ clients }) => clients.get(client_id));
  }

  /**
   * Whether a secret is one of a client's. As a key, it is accepted only within the cache's minute. A wrong one may be new,
   * so it causes a read of D1 as an unknown client does.
   */
  async checkClientSecret(
    client_id: string,
    secret: string,
  ): Promise<"valid" | "wrong" | "unreadable"> {
    const given = await hashAppKey(secret);
    const check = async () => {
      const known = await this.#copy.recallFresh();
      if (known === null) return "unreadable";
      const secrets = known.value.client_secrets.get(client_id) ?? [];
      const isGiven = ({ hash, until_ms }: ClientSecret) => hash === given && Date.now() < until_ms;
      return secrets.some(isGiven) ? "valid" : "wrong";
    };
    const verdict = await check();
    if (verdict !== "wrong") return verdict;
    await this.#reread();
    return check();
  }

  /** As `findClient`, for a protected resource by its address. */
  async findResource(uri: string): Promise<Lookup<ProtectedResource>> {
    const key = resourceKey(uri);
    return this.#lookUp((known) => known.resources.get(key));
  }

  /** The addresses of an app's protected resources, according to the cache; none while the registry is unknown. */
  async resourcesOf(slug: string): Promise<readonly string[]> {
    const known = [...((await this.#recall())?.resources.values() ?? [])];
    return known.filter(({ app_slug }) => app_slug === slug).map(({ uri }) => uri);
  }

  /** Clears the cache after a change in this isolate. */
  forget(): void {
    return this.#copy.forget();
  }

  async #recall(): Promise<Registry | null> {
    return (await this.#copy.recall())?.value ?? null;
  }

  #findKey(key_hash: string): KnownKey {
    const known = this.#copy.known();
    const app_slug = known?.value.apps_of_keys.get(key_hash);
    const age_ms = known === null ? Number.POSITIVE_INFINITY : Date.now() - known.read_at_ms;
    if (known !== null && age_ms < COPY_FRESH_MS) {
      if (app_slug === undefined) return { kind: "unknown" };
      return { kind: "app", app_slug, key_hash, checked_at_ms: known.read_at_ms };
    }
    // Accepted trade-off: a key that was revoked since the copy was read works until the directory can be read again.
    const is_usable = this.#copy.isFailing() && age_ms < APP_REGISTRY_STALE_MAX_MS;
    return is_usable && app_slug !== undefined
      ? { kind: "app", app_slug, key_hash, checked_at_ms: Date.now() }
      : { kind: "unreadable" };
  }

  /** Reads D1 because something is not in the cache, unless that was done or failed just now. */
  async #reread(): Promise<void> {
    const now_ms = Date.now();
    if (now_ms - this.#reread_at_ms < UNKNOWN_REREAD_MS) return;
    this.#reread_at_ms = now_ms;
    await this.#copy.reread();
  }

  async #lookUp<Found>(find: (known: Registry) => Found | undefined): Promise<Lookup<Found>> {
    let known = await this.#recall();
    let value = known === null ? undefined : find(known);
    if (value === undefined) {
      await this.#reread();
      known = await this.#recall();
      value = known === null ? undefined : find(known);
    }
    if (value !== undefined) return { kind: "found", value };
    return { kind: known === null ? "unreadable" : "unknown" };
  }
}

/** The apps with the hashes of their valid keys, their clients and resources, in one query. */
function readRows(database: DrizzleD1Database) {
  const key_hashes_json = sql<string>`(
    select json_group_array(${appKeys.key_hash}) from ${appKeys}
    where ${appKeys.app_slug} = ${apps.slug} and ${appKeys.revoked_at_ms} is null)`;
  const clients_json = sql<string>`(
    select json_group_array(json_object('id', ${oauthClients.id}, 'name', ${oauthClients.name},
      'redirect_uris', json(${oauthClients.redirect_uris}),
      'post_logout_redirect_uris', json(${oauthClients.post_logout_redirect_uris}), 'public', ${oauthClients.public},
      'pkce_optional', ${oauthClients.pkce_optional}, 'secret_hash', ${oauthClients.secret_hash},
      'old_secrets', json(${oauthClients.old_secrets_json})))
    from ${oauthClients}
    where ${oauthClients.app_slug} = ${apps.slug} and ${oauthClients.deleted_at_ms} is null)`;
  const resources_json = sql<string>`(
    select json_group_array(json_object('uri', ${resources.uri}, 'scopes', json(${resources.scopes}),
      'charges', ${resources.charges}))
    from ${resources} where ${resources.app_slug} = ${apps.slug})`;
  return database
    .select({
      ...getTableColumns(apps),
      ...JSON_TEXTS,
      key_hashes_json,
      clients_json,
      resources_json,
    })
    .from(apps);
}

/** Not parsed by Drizzle: a text that is not JSON would make the other apps unreadable. */
const JSON_TEXTS = {
  origins: sql<string>`${apps.origins}`,
  upstream_providers: sql<string>`${apps.upstream_providers}`,
  suggested_cap: sql<string | null>`${apps.suggested_cap}`,
  starter_excluded_domains: sql<string>`${apps.starter_excluded_domains}`,
};

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
  const { key_hashes_json: _, clients_json: __, resources_json: ___, ...app } = row;
  const { slug } = app;
  const entries = readEntries(app.origins);
  if (entries === null) console.error({ event: "app_origins_read_failed", slug });
  const parsed = (entries ?? []).map((entry) =>
    typeof entry === "string" ? parseAllowedOrigin(entry) : null,
  );
  const origins = await keepOwned(parsed.filter((origin) => origin !== null));
  for (const [index, origin] of parsed.entries()) {
    if (origin !== null && origins.includes(origin)) continue;
    console.error({ event: "app_origin_ignored", slug, index });
  }
  return {
    ...app,
    origins,
    upstream_providers: readWords(app.upstream_providers),
    suggested_cap: readCap(app.suggested_cap),
    starter_excluded_domains: readWords(app.starter_excluded_domains),
  };
}

/** A suggestion only, so one that is not valid is left out. The table has checked that the text is JSON. */
function readCap(text: string | null): SpendingCap | null {
  const cap = JSON.parse(text ?? "null") as SpendingCap | null;
  return cap !== null && isCredits(cap.credits) && CAP_PERIODS.includes(cap.period) ? cap : null;
}

/** The texts in a JSON array. */
function readWords(text: string): readonly string[] {
  return (readEntries(text) ?? []).filter((word) => typeof word === "string");
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
