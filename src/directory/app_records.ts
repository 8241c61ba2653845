/** The app registry for operators: apps, and the keys of their servers. */
import { and, asc, desc, eq, gt, isNotNull, isNull, lt, notInArray, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { v7 as uuidv7 } from "uuid";
import type { JobPolicy } from "../domain/app_policy.ts";
import { KEYS_PER_APP_MAX } from "../domain/limits.ts";
import { APP_KEY_PREFIX, CLIENT_SECRET_PREFIX } from "../domain/proof.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { SpendingCap } from "../domain/spending_cap.ts";
import { toHexadecimal } from "../domain/text.ts";
import { appIcons, appKeys, apps } from "./schema.ts";

/** Valid settings. Credits are whole numbers, origins are entries of an allowlist. */
interface Settings extends JobPolicy {
  readonly name: string;
  readonly starter_credits: number;
  readonly daily_starter_budget: number | null;
  readonly origins: readonly string[];
  readonly upstream_providers: readonly string[];
  /** `#rrggbb` in lower case; null: none. */
  readonly color: string | null;
  readonly suggested_cap: SpendingCap | null;
  /** See `domain/starter_rule`. */
  readonly starter_excluded_domains: readonly string[];
}

/** The copy of an icon to save. */
interface IconCopy {
  readonly url: string;
  readonly hash: string;
  readonly media_type: string;
  readonly bytes: Uint8Array;
}

/** Settings to save. An undefined icon does not change. */
export interface AppSettings extends Settings {
  readonly icon: IconCopy | null | undefined;
}

export interface AppRecord extends Settings {
  readonly slug: string;
  /** The address that its icon was copied from; null: no icon. */
  readonly icon: string | null;
  /** The hash of the copy; null: no icon. */
  readonly icon_hash: string | null;
  /** Increases with each save, from 1. */
  readonly version: number;
  /** The audit entry of the last save; null: it was not made by {@link AppRecords.save}. */
  readonly last_audit_id: string | null;
  readonly created_at_ms: number;
}

/** A key as shown to operators. The key itself is not stored. */
export interface AppKeyRecord {
  readonly id: string;
  readonly label: string;
  /** The last four characters of the key. */
  readonly last_four: string;
  readonly created_at_ms: number;
}

export interface ListedAppKey extends AppKeyRecord {
  /** The start of the UTC day of its last use; null: it was never used. */
  readonly last_used_at_ms: number | null;
}

/** `key`: the secret, returned only once; null: the same request created the key before. */
export interface NewAppKey extends AppKeyRecord {
  readonly key: string | null;
}

/** Each method rejects if D1 cannot be reached; the change may have happened or not. */
export interface AppRecords {
  /** Apps by slug, after this one if it is given. */
  list(page: {
    readonly after_slug?: string | undefined;
    readonly limit: number;
  }): Promise<readonly AppRecord[]>;
  /** One app; null: it is not registered. */
  find(slug: string): Promise<AppRecord | null>;
  /**
   * Registers an app if `version` is 0, else changes the app of that version. Null: the registry has another version, and
   * nothing was changed.
   */
  save(
    slug: string,
    settings: AppSettings,
    save: { readonly version: number; readonly audit_id: string },
  ): Promise<AppRecord | null>;
  /**
   * Creates a key. `request_key` is the request's `Idempotency-Key`: a retry gets the same key without its
   * secret. Refused as `app_unknown`, `too_many_app_keys`, `app_key_label_taken`, `app_key_revoked` (the request's key was revoked
   * since) or `idempotency_key_reused` (the request's key has another label).
   */
  addKey(
    slug: string,
    label: string,
    request_key: string | null,
  ): Promise<Result<NewAppKey, Refusal>>;
  /** The app's valid keys, newest first. Refused as `app_unknown`. */
  listKeys(
    slug: string,
    page: { readonly before_id?: string | undefined; readonly limit: number },
  ): Promise<Result<readonly ListedAppKey[], Refusal>>;
  /** The id of a key; null: it is unknown. */
  readKeyId(key_hash: string): Promise<string | null>;
  /**
   * Revokes a key, and returns what is known of it. One that was revoked, or belongs to another app, is refused as
   * `app_key_not_found`.
   */
  revokeKey(slug: string, id: string): Promise<Result<AppKeyRecord, Refusal>>;
}

const KEY_BYTES = 32;

/** Characters of a key that are stored and shown. The others have more than 230 random bits. */
const LAST_CHARACTERS = 4;

/** `changed`: called after each change. */
export function createAppRecords(binding: D1Database, changed: () => void): AppRecords {
  const database = drizzle(binding);
  const exists = async (slug: string): Promise<boolean> => {
    const found = await database.select({ slug: apps.slug }).from(apps).where(eq(apps.slug, slug));
    return found.length > 0;
  };
  const findRequested = async (slug: string, request_key: string) => {
    const is_made_by = and(eq(appKeys.app_slug, slug), eq(appKeys.request_key, request_key));
    const [made] = await database.select().from(appKeys).where(is_made_by);
    return made ?? null;
  };
  const isLabelTaken = async (slug: string, label: string): Promise<boolean> => {
    const { app_slug, revoked_at_ms } = appKeys;
    const has_label = and(eq(app_slug, slug), eq(appKeys.label, label), isNull(revoked_at_ms));
    return (await database.select({ id: appKeys.id }).from(appKeys).where(has_label)).length > 0;
  };
  const store = ({ hash, media_type, bytes }: IconCopy) =>
    database.insert(appIcons).values({ hash, media_type, bytes }).onConflictDoNothing();
  const used = database
    .select({ hash: apps.icon_hash })
    .from(apps)
    .where(isNotNull(apps.icon_hash));
  const deletion = database.delete(appIcons).where(notInArray(appIcons.hash, used));
  return {
    async list({ after_slug, limit }) {
      const rows = await database
        .select()
        .from(apps)
        .where(after_slug === undefined ? undefined : gt(apps.slug, after_slug))
        .orderBy(asc(apps.slug))
        .limit(limit);
      return rows.map(recordOf);
    },
    async find(slug) {
      const [row] = await database.select().from(apps).where(eq(apps.slug, slug));
      return row === undefined ? null : recordOf(row);
    },
    async save(slug, { icon, ...settings }, { version, audit_id }) {
      const row = {
        ...rowOf(settings),
        ...(icon === undefined ? {} : { icon: icon?.url ?? null, icon_hash: icon?.hash ?? null }),
        version: version + 1,
        last_audit_id: audit_id,
      };
      // One query decides, so only one of two concurrent saves succeeds.
      const save =
        version === 0
          ? database
              .insert(apps)
              .values({ slug, ...row, created_at_ms: Date.now() })
              .onConflictDoNothing()
              .returning()
          : database
              .update(apps)
              .set(row)
              .where(and(eq(apps.slug, slug), eq(apps.version, version)))
              .returning();
      // One transaction: no other save deletes the copy before the app names it, and a refused save leaves no copy.
      const [[saved]] =
        icon === undefined
          ? [await save]
          : await database.batch([save, ...(icon === null ? [] : [store(icon)]), deletion]);
      if (saved === undefined) return null;
      changed();
      return recordOf(saved);
    },
    async addKey(slug, label, request_key) {
      const id = uuidv7();
      const key = newAppKey();
      const last_four = key.slice(-LAST_CHARACTERS);
      const created_at_ms = Date.now();
      // One query decides, so two concurrent requests cannot exceed the limit.
      const made = await database.run(sql`
        insert into app_keys (id, app_slug, request_key, label, last_four, key_hash, created_at_ms)
        select ${id}, ${slug}, ${request_key}, ${label}, ${last_four}, ${await hashAppKey(key)}, ${created_at_ms}
        where exists (select 1 from apps where slug = ${slug})
          and (select count(*) from app_keys where app_slug = ${slug} and revoked_at_ms is null)
            < ${KEYS_PER_APP_MAX}
        on conflict do nothing`);
      if (made.meta.changes > 0) {
        changed();
        return accepted({ id, label, last_four, key, created_at_ms });
      }
      const known = request_key === null ? null : await findRequested(slug, request_key);
      if (known !== null) {
        if (known.label !== label) return refused({ code: "idempotency_key_reused" });
        if (known.revoked_at_ms !== null) return refused({ code: "app_key_revoked" });
        return accepted({ ...keyOf(known), key: null });
      }
      if (await isLabelTaken(slug, label)) return refused({ code: "app_key_label_taken" });
      return (await exists(slug))
        ? refused({ code: "too_many_app_keys", limit: KEYS_PER_APP_MAX })
        : refused({ code: "app_unknown" });
    },
    async listKeys(slug, { before_id, limit }) {
      if (!(await exists(slug))) return refused({ code: "app_unknown" });
      const { id, label, last_four, created_at_ms, last_used_at_ms } = appKeys;
      const rows = await database
        .select({ id, label, last_four, created_at_ms, last_used_at_ms })
        .from(appKeys)
        .where(
          and(
            eq(appKeys.app_slug, slug),
            isNull(appKeys.revoked_at_ms),
            before_id === undefined ? undefined : lt(id, before_id),
          ),
        )
        .orderBy(desc(id))
        .limit(limit);
      return accepted(rows);
    },
    async readKeyId(key_hash) {
      const is_key = eq(appKeys.key_hash, key_hash);
      const [key] = await database.select({ id: appKeys.id }).from(appKeys).where(is_key);
      return key?.id ?? null;
    },
    async revokeKey(slug, id) {
      const [revoked] = await database
        .update(appKeys)
        .set({ revoked_at_ms: Date.now() })
        .where(and(eq(appKeys.id, id), eq(appKeys.app_slug, slug), isNull(appKeys.revoked_at_ms)))
        .returning();
      changed();
      return revoked === undefined
        ? refused({ code: "app_key_not_found" })
        : accepted(keyOf(revoked));
    },
  };
}

/** The columns of settings. */
function rowOf(settings: Omit<AppSettings, "icon">) {
  const { origins, upstream_providers, suggested_cap, starter_excluded_domains, ...rest } =
    settings;
  return {
    ...rest,
    origins_json: JSON.stringify(origins),
    upstream_providers_json: JSON.stringify(upstream_providers),
    suggested_cap_json: suggested_cap && JSON.stringify(suggested_cap),
    starter_excluded_domains_json: JSON.stringify(starter_excluded_domains),
  };
}

function recordOf(row: typeof apps.$inferSelect): AppRecord {
  const { origins_json, upstream_providers_json, suggested_cap_json, ...rest } = row;
  const { starter_excluded_domains_json, ...record } = rest;
  return {
    ...record,
    origins: JSON.parse(origins_json) as string[],
    upstream_providers: JSON.parse(upstream_providers_json) as string[],
    suggested_cap: JSON.parse(suggested_cap_json ?? "null") as SpendingCap | null,
    starter_excluded_domains: JSON.parse(starter_excluded_domains_json) as string[],
  };
}

function keyOf({ id, label, last_four, created_at_ms }: typeof appKeys.$inferSelect): AppKeyRecord {
  return { id, label, last_four, created_at_ms };
}

export function newAppKey(): string {
  return APP_KEY_PREFIX + randomText(KEY_BYTES);
}

/** A secret of an OAuth client. */
export function newClientSecret(): string {
  return CLIENT_SECRET_PREFIX + randomText(KEY_BYTES);
}

/** Random bytes in base64url (RFC 4648, section 5), without padding. */
function randomText(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return btoa(String.fromCharCode(...random))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** The SHA-256 of an app key or a client's secret, in hexadecimal. The key itself is not stored. */
export async function hashAppKey(key: string): Promise<string> {
  return toHexadecimal(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key)));
}
