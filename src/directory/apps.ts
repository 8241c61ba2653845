/**
 * The registry of client apps: D1's `apps`, remembered in memory for a minute. It never throws. While
 * D1 is out of reach it answers from memory for a bounded time, and then says that it does not know.
 */
import { drizzle } from "drizzle-orm/d1";
import {
  APP_REGISTRY_CACHE_MS,
  APP_REGISTRY_RETRY_MS,
  APP_REGISTRY_STALE_MAX_MS,
  APP_REGISTRY_TIMEOUT_MS,
  COST_MAX_CREDITS,
} from "../domain/limits.ts";
import { parseAllowedOrigin, type AllowedOrigin } from "../domain/origins.ts";
import { APP_SLUG_PATTERN } from "../domain/slug.ts";
import { apps } from "./schema.ts";

/** A registered app. */
export interface RegisteredApp {
  readonly slug: string;
  readonly name: string;
  readonly starter_credits: number;
  readonly origins: readonly AllowedOrigin[];
}

type Apps = ReadonlyMap<string, RegisteredApp>;

export interface AppRegistry {
  /** All registered apps by slug; none while it is not known which there are. */
  all(): Promise<Apps>;
  /**
   * What the app's starter grant is worth now, in credits: as registered, or the default for a slug
   * nobody registered. Null while it is not known which it is.
   */
  starterCredits(slug: string): Promise<number | null>;
}

export interface AppRegistryOptions {
  readonly database: D1Database;
  /** For slugs nobody registered, in credits. */
  readonly default_starter_credits: number;
}

/** The registry over a D1 database. The value is remembered, never a promise: a failure is not kept. */
export function createAppRegistry(options: AppRegistryOptions): AppRegistry {
  const database = drizzle(options.database);
  let remembered: { readonly apps: Apps; readonly read_at_ms: number } | null = null;
  let failed_at_ms = Number.NEGATIVE_INFINITY;

  const refresh = async (): Promise<void> => {
    const read_at_ms = Date.now();
    try {
      const rows = await within(APP_REGISTRY_TIMEOUT_MS, database.select().from(apps));
      remembered = { apps: readApps(rows), read_at_ms };
    } catch {
      failed_at_ms = Date.now();
      console.warn({ event: "app_registry_unreadable" });
    }
  };
  const isYoungerThan = (age_ms: number): boolean =>
    remembered !== null && Date.now() - remembered.read_at_ms < age_ms;
  const recall = async (): Promise<Apps | null> => {
    const resting = Date.now() - failed_at_ms < APP_REGISTRY_RETRY_MS;
    if (!isYoungerThan(APP_REGISTRY_CACHE_MS) && !resting) await refresh();
    return isYoungerThan(APP_REGISTRY_STALE_MAX_MS) ? (remembered?.apps ?? null) : null;
  };

  return {
    async all() {
      return (await recall()) ?? new Map();
    },
    async starterCredits(slug) {
      const known = await recall();
      if (known === null) return null;
      return known.get(slug)?.starter_credits ?? options.default_starter_credits;
    },
  };
}

type AppRow = typeof apps.$inferSelect;

/** The apps of the rows that make sense. The rest are logged by slug: one of them stops no other. */
function readApps(rows: readonly AppRow[]): Apps {
  const readable = rows.filter((row) => {
    const { slug, name, starter_credits } = row;
    const sound =
      APP_SLUG_PATTERN.test(slug) &&
      typeof name === "string" &&
      Number.isSafeInteger(starter_credits) &&
      starter_credits >= 0 &&
      starter_credits <= COST_MAX_CREDITS;
    if (!sound) console.error({ event: "app_skipped", slug });
    return sound;
  });
  return new Map(readable.map((row) => [row.slug, readApp(row)]));
}

function readApp({ slug, name, starter_credits, origins_json }: AppRow): RegisteredApp {
  const entries = readEntries(origins_json);
  if (entries === null) console.error({ event: "app_origins_unreadable", slug });
  const origins = (entries ?? []).flatMap((entry, index) => {
    const origin = typeof entry === "string" ? parseAllowedOrigin(entry) : null;
    if (origin === null) console.error({ event: "app_origin_skipped", slug, index });
    return origin ?? [];
  });
  return { slug, name, starter_credits, origins };
}

/** The array that a text is in JSON, else null. */
function readEntries(text: string): readonly unknown[] | null {
  try {
    const entries: unknown = JSON.parse(text);
    return Array.isArray(entries) ? entries : null;
  } catch {
    return null;
  }
}

/** What `work` comes to. @throws Error where it takes longer than `timeout_ms`. */
async function within<Value>(timeout_ms: number, work: PromiseLike<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("took too long")), timeout_ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
