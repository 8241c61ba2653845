/** The registry of apps and their keys, for operators. */
import { createAdminClients, type AdminClients } from "./admin_clients.ts";
import type { Credentials } from "./credentials.ts";
import { createCalls, type CallOptions, type WriteOptions } from "./calls.ts";
import type {
  AppKeyPage,
  AppPage,
  AppRecord,
  CapPeriod,
  NewAppKey,
  SavedApp,
} from "./responses.ts";
import { isDone, type Transport } from "./transport.ts";
import { createWebhooks, type Webhooks } from "./webhooks.ts";

export interface AppSettings {
  readonly name: string;
  readonly starterCredits: number;
  readonly origins: readonly string[];
  /** The most credits that its grants of one UTC day may add up to; null: no limit. */
  readonly dailyStarterBudget: number | null;
  /** Who completes and fails its jobs; `holder` in a new app. An omitted setting keeps its value. */
  readonly settle?: "holder" | "app";
  /** What a time-out does with the reserve; `refund` in a new app. */
  readonly onExpiry?: "refund" | "charge";
  /** How far a job's cost may exceed its estimate, in percent, at most 1,000; null, as in a new app: no limit. */
  readonly maxOveragePercent?: number | null;
  /** Sign-in providers whose upstream tokens its pages get, such as `google`; none in a new app. */
  readonly upstreamProviders?: readonly string[];
  /** An https address of a PNG, JPEG, WebP or ICO picture, which is copied once; null: no icon, as in a new app. */
  readonly icon?: string | null;
  /** Such as `#12507b`; null: none, as in a new app. */
  readonly color?: string | null;
  /** Suggested when a person approves a device for the app; null: none, as in a new app. */
  readonly suggestedCap?: { readonly credits: number; readonly period: CapPeriod } | null;
  /** E-mail domains whose people get no starter credits; none in a new app. */
  readonly starterExcludedDomains?: readonly string[];
  /** The version that you read. Omit it to register an app. */
  readonly version?: number;
  /** The reason in the audit log. */
  readonly reason?: string;
}

interface PageOptions extends CallOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

/** Each call throws `PassbookError`, with `not_operator` if the caller is not an operator. */
export interface AdminApps extends AdminClients {
  list(options?: PageOptions): Promise<AppPage>;
  /**
   * Registers an app, or changes the version that you read. Throws `app_changed` if another operator saved the app since,
   * or a new app is already registered with other settings.
   */
  save(slug: string, settings: AppSettings, options?: WriteOptions): Promise<AppRecord>;
  listKeys(slug: string, options?: PageOptions): Promise<AppKeyPage>;
  /** Creates a key. Throws `app_key_revoked` if the same `idempotencyKey` created a key that was revoked since. */
  addKey(slug: string, label: string, options?: WriteOptions): Promise<NewAppKey>;
  /** The webhooks of an app. */
  webhooks(slug: string): Webhooks;
  /** Revokes a key; it stops working everywhere within a minute. */
  revokeKey(
    slug: string,
    id: string,
    options?: WriteOptions & { readonly reason?: string },
  ): Promise<void>;
}

export function createAdminApps(transport: Transport, credentials: Credentials): AdminApps {
  const pathOf = (slug: string, rest = ""): string =>
    `/api/admin/apps/${encodeURIComponent(slug)}${rest}`;
  const calls = createCalls(transport, credentials);
  const read = <Body extends object>(
    path: string,
    { signal, ...query }: PageOptions = {},
    isValid: (body: Body) => boolean,
  ): Promise<Body> => calls.read({ path, query, isValid, signal });
  return {
    ...createAdminClients(calls),
    list: async (options) =>
      read<AppPage>("/api/admin/apps", options, ({ apps }) => Array.isArray(apps)),
    async save(slug, settings, options) {
      const { starterCredits, dailyStarterBudget, onExpiry, ...others } = settings;
      const { maxOveragePercent, upstreamProviders, ...more } = others;
      const { suggestedCap, starterExcludedDomains, ...rest } = more;
      const body = {
        ...rest,
        starter_credits: starterCredits,
        daily_starter_budget: dailyStarterBudget,
        on_expiry: onExpiry,
        max_overage_percent: maxOveragePercent,
        upstream_providers: upstreamProviders,
        suggested_cap: suggestedCap,
        starter_excluded_domains: starterExcludedDomains,
      };
      const isValid = ({ app }: SavedApp): boolean => typeof app === "object";
      const call = { method: "PUT", path: pathOf(slug), body, isValid } as const;
      return (await calls.write(call, options)).app;
    },
    listKeys: async (slug, options) =>
      read<AppKeyPage>(pathOf(slug, "/keys"), options, ({ keys }) => Array.isArray(keys)),
    async addKey(slug, label, options) {
      const path = pathOf(slug, "/keys");
      // `key` is null if an earlier request created it. Such a response must count, so that the caller can revoke the key.
      const isValid = ({ id, key }: NewAppKey): boolean =>
        typeof id === "string" && (typeof key === "string" || key === null);
      return calls.write({ method: "POST", path, body: { label }, isValid }, options);
    },
    webhooks: (slug) => createWebhooks(transport, credentials, () => slug),
    async revokeKey(slug, id, { reason, ...options } = {}) {
      const path = pathOf(slug, `/keys/${encodeURIComponent(id)}`);
      const query = { reason };
      await calls.write({ method: "DELETE", path, query, isValid: isDone }, options);
    },
  };
}
