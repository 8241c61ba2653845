/** The registry of client apps: D1's `apps`, remembered in memory for a minute. */
import { drizzle } from "drizzle-orm/d1";
import { APP_REGISTRY_CACHE_MS } from "../domain/limits.ts";
import { parseAllowedOrigin, type AllowedOrigin } from "../domain/origins.ts";
import { apps } from "./schema.ts";

/** A registered app. */
export interface RegisteredApp {
  readonly slug: string;
  readonly name: string;
  readonly starter_credits: number;
  readonly origins: readonly AllowedOrigin[];
}

export interface AppRegistry {
  /** All registered apps by slug. @throws where D1 cannot be read and nothing is remembered. */
  all(): Promise<ReadonlyMap<string, RegisteredApp>>;
}

/** The registry over a D1 database. The value is remembered, never a promise: a failure is not kept. */
export function createAppRegistry(binding: D1Database): AppRegistry {
  const database = drizzle(binding);
  let remembered: ReadonlyMap<string, RegisteredApp> | null = null;
  let remembered_at_ms = 0;
  return {
    async all() {
      if (remembered !== null && Date.now() - remembered_at_ms < APP_REGISTRY_CACHE_MS) {
        return remembered;
      }
      try {
        const rows = await database.select().from(apps);
        remembered = new Map(rows.map((row) => [row.slug, readApp(row)]));
        remembered_at_ms = Date.now();
      } catch (error) {
        // While D1 is down, what was known a minute ago serves better than refusing everyone.
        if (remembered === null) throw error;
      }
      return remembered;
    },
  };
}

function readApp(row: typeof apps.$inferSelect): RegisteredApp {
  const { slug, name, starter_credits } = row;
  const entries: unknown = JSON.parse(row.origins_json);
  const origins = (Array.isArray(entries) ? entries : []).flatMap((entry) =>
    typeof entry === "string" ? (parseAllowedOrigin(entry) ?? []) : [],
  );
  return { slug, name, starter_credits, origins };
}
