/** The registry of apps and their keys, for operators. */
import type { Credentials } from "./credentials.ts";
import { checked, type CallOptions, type WriteOptions } from "./jobs.ts";
import type { Call, Transport } from "./transport.ts";

export interface AppSettings {
  readonly name: string;
  readonly starterCredits: number;
  readonly origins: readonly string[];
  /** What all its grants of a UTC day may add up to, in credits; null: no bound. */
  readonly dailyStarterBudget: number | null;
  /** Who completes and fails its jobs; `holder` where nothing is said. */
  readonly settle?: "holder" | "app";
  /** What a time-out does with the reserve; `refund` where nothing is said. */
  readonly onExpiry?: "refund" | "charge";
  /** For the audit log. */
  readonly reason?: string;
}

export interface RegisteredApp {
  readonly slug: string;
  readonly name: string;
  readonly starter_credits: number;
  readonly origins: readonly string[];
  readonly daily_starter_budget: number | null;
  readonly settle: "holder" | "app";
  readonly on_expiry: "refund" | "charge";
  readonly created_at: string;
}

export interface AppKey {
  readonly id: string;
  readonly label: string;
  readonly created_at: string;
}

/** `key`: the secret, this once; null where the same request made it before and its answer was lost. */
export interface NewAppKey extends AppKey {
  readonly key: string | null;
}

interface PageOptions extends CallOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

/** Each throws `PassbookError`: `not_operator` where the caller is none. */
export interface AdminApps {
  list(
    options?: PageOptions,
  ): Promise<{ readonly apps: readonly RegisteredApp[]; readonly next_cursor?: string }>;
  /** Registers an app, or sets it anew as a whole. */
  save(slug: string, settings: AppSettings, options?: WriteOptions): Promise<void>;
  listKeys(
    slug: string,
    options?: PageOptions,
  ): Promise<{ readonly keys: readonly AppKey[]; readonly next_cursor?: string }>;
  addKey(slug: string, label: string, options?: WriteOptions): Promise<NewAppKey>;
  /** Ends a key, everywhere within a minute. */
  revokeKey(slug: string, id: string, options?: WriteOptions): Promise<void>;
}

export function createAdminApps(transport: Transport, credentials: Credentials): AdminApps {
  const pathOf = (slug: string, rest = ""): string =>
    `/api/admin/apps/${encodeURIComponent(slug)}${rest}`;
  const read = async (path: string, { signal, ...query }: PageOptions = {}) => {
    const repeat = { kind: "read" } as const;
    return (await transport.send({ method: "GET", path, query, repeat, credentials, signal })).body;
  };
  const write = async (
    call: Pick<Call, "method" | "path" | "body">,
    { idempotencyKey, signal }: WriteOptions = {},
  ) => {
    const repeat = { kind: "keyed", key: idempotencyKey ?? crypto.randomUUID() } as const;
    return (await transport.send({ ...call, repeat, credentials, signal })).body;
  };
  return {
    async list(options) {
      const page = (await read("/api/admin/apps", options)) as unknown as {
        readonly apps: readonly RegisteredApp[];
      };
      return checked(page, Array.isArray(page.apps));
    },
    async save(slug, { starterCredits, dailyStarterBudget, onExpiry, ...rest }, options) {
      const body = {
        ...rest,
        starter_credits: starterCredits,
        daily_starter_budget: dailyStarterBudget,
        on_expiry: onExpiry,
      };
      await write({ method: "PUT", path: pathOf(slug), body }, options);
    },
    async listKeys(slug, options) {
      const page = (await read(pathOf(slug, "/keys"), options)) as unknown as {
        readonly keys: readonly AppKey[];
      };
      return checked(page, Array.isArray(page.keys));
    },
    async addKey(slug, label, options) {
      const path = pathOf(slug, "/keys");
      const body = await write({ method: "POST", path, body: { label } }, options);
      const key = body as unknown as NewAppKey;
      return checked(key, typeof key.id === "string");
    },
    async revokeKey(slug, id, options) {
      const path = pathOf(slug, `/keys/${encodeURIComponent(id)}`);
      await write({ method: "DELETE", path }, options);
    },
  };
}
