/** The app registry for operators: apps, and the keys of their servers. */
import { and, asc, desc, eq, gt, isNotNull, isNull, lt, notInArray, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { v7 as uuidv7 } from "uuid";
import { KEYS_PER_APP_MAX } from "../domain/limits.ts";
import { APP_KEY_PREFIX, CLIENT_SECRET_PREFIX, TEST_KEY_PREFIX } from "../domain/proof.ts";
import { limitReached } from "../domain/limit_reached.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { toHexadecimal } from "../domain/text.ts";
import { appIcons, appKeys, apps } from "./schema.ts";

/** The copy of an icon to save. */
interface IconCopy {
  readonly url: string;
  readonly hash: string;
  readonly media_type: string;
  readonly bytes: Uint8Array;
}

export type AppRecord = typeof apps.$inferSelect;

/** Valid settings to save: credits are whole numbers, origins are entries of an allowlist. */
interface AppSettings extends Omit<
  AppRecord,
  | "slug"
  | "icon"
  | "icon_hash"
  | "paused_at_ms"
  | "pause_message"
  | "version"
  | "last_audit_id"
  | "created_at_ms"
> {
  /** Undefined: the icon does not change. */
  readonly icon: IconCopy | null | undefined;
}

/** A key as shown to operators. The key itself is not stored. */
interface AppKeyRecord {
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

const KEY_BYTES = 32;

/** Characters of a key that are stored and shown. The others have more than 230 random bits. */
const LAST_CHARACTERS = 4;

/** Each method rejects if D1 cannot be reached; the change may have happened or not. `changed` is called after each change. */
export class AppRecords {
  readonly #changed: () => void;
  readonly #database: DrizzleD1Database;
  readonly #key_prefix: string;

  constructor(
    binding: D1Database,
    { changed, is_development }: { readonly changed: () => void; readonly is_development: boolean },
  ) {
    this.#changed = changed;
    this.#database = drizzle(binding);
    this.#key_prefix = is_development ? TEST_KEY_PREFIX : APP_KEY_PREFIX;
  }

  /** Apps by slug, after this one if it is given. */
  async list({
    after_slug,
    limit,
  }: {
    readonly after_slug?: string | undefined;
    readonly limit: number;
  }): Promise<readonly AppRecord[]> {
    const rows = await this.#database
      .select()
      .from(apps)
      .where(after_slug === undefined ? undefined : gt(apps.slug, after_slug))
      .orderBy(asc(apps.slug))
      .limit(limit);
    return rows;
  }

  /** One app; null: it is not registered. */
  async find(slug: string): Promise<AppRecord | null> {
    const [row] = await this.#database.select().from(apps).where(eq(apps.slug, slug));
    return row ?? null;
  }

  /**
   * Registers an app if `version` is 0, else changes the app of that version. Null: the registry has another version, and
   * nothing was changed.
   */
  async save(
    slug: string,
    { icon, ...settings }: AppSettings,
    { version, audit_id }: { readonly version: number; readonly audit_id: string },
  ): Promise<AppRecord | null> {
    const row = {
      ...settings,
      ...(icon === undefined ? {} : { icon: icon?.url ?? null, icon_hash: icon?.hash ?? null }),
      version: version + 1,
      last_audit_id: audit_id,
    };
    // One query decides, so only one of two concurrent saves succeeds.
    const save =
      version === 0
        ? this.#database
            .insert(apps)
            .values({ slug, ...row, created_at_ms: Date.now() })
            .onConflictDoNothing()
            .returning()
        : this.#database
            .update(apps)
            .set(row)
            .where(and(eq(apps.slug, slug), eq(apps.version, version)))
            .returning();
    const used = this.#database
      .select({ hash: apps.icon_hash })
      .from(apps)
      .where(isNotNull(apps.icon_hash));
    const deletion = this.#database.delete(appIcons).where(notInArray(appIcons.hash, used));
    // One transaction: no other save deletes the copy before the app names it, and a refused save leaves no copy.
    const [[saved]] =
      icon === undefined
        ? [await save]
        : await this.#database.batch([
            save,
            ...(icon === null
              ? []
              : [this.#database.insert(appIcons).values(copyOf(icon)).onConflictDoNothing()]),
            deletion,
          ]);
    if (saved === undefined) return null;
    this.#changed();
    return saved;
  }

  /**
   * Creates a key. `request_key` is the request's `Idempotency-Key`: a retry gets the same key without its
   * secret. Refused as `app_not_found`, `limit_reached`, `app_key_label_taken`, `app_key_revoked` (the request's key was revoked
   * since) or `idempotency_key_reused` (the request's key has another label).
   */
  async addKey(
    slug: string,
    label: string,
    request_key: string | null,
  ): Promise<Result<NewAppKey, Refusal>> {
    const id = uuidv7();
    const key = this.#key_prefix + randomText(KEY_BYTES);
    const last_four = key.slice(-LAST_CHARACTERS);
    const created_at_ms = Date.now();
    // One query decides, so two concurrent requests cannot exceed the limit.
    const made = await this.#database.run(sql`
        insert into app_keys (id, app_slug, request_key, label, last_four, key_hash, created_at_ms)
        select ${id}, ${slug}, ${request_key}, ${label}, ${last_four}, ${await hashAppKey(key)}, ${created_at_ms}
        where exists (select 1 from apps where slug = ${slug})
          and (select count(*) from app_keys where app_slug = ${slug} and revoked_at_ms is null)
            < ${KEYS_PER_APP_MAX}
        on conflict do nothing`);
    if (made.meta.changes > 0) {
      this.#changed();
      return accepted({ id, label, last_four, key, created_at_ms });
    }
    const known = request_key === null ? null : await this.#findRequested(slug, request_key);
    if (known !== null) {
      if (known.label !== label) return refused({ code: "idempotency_key_reused" });
      if (known.revoked_at_ms !== null) return refused({ code: "app_key_revoked" });
      return accepted({ ...keyOf(known), key: null });
    }
    if (await this.#isLabelTaken(slug, label)) return refused({ code: "app_key_label_taken" });
    return (await isRegistered(this.#database, slug))
      ? refused(limitReached("app_keys"))
      : refused({ code: "app_not_found" });
  }

  /** The app's valid keys, newest first. Refused as `app_not_found`. */
  async listKeys(
    slug: string,
    { before_id, limit }: { readonly before_id?: string | undefined; readonly limit: number },
  ): Promise<Result<readonly ListedAppKey[], Refusal>> {
    if (!(await isRegistered(this.#database, slug))) return refused({ code: "app_not_found" });
    const { id, label, last_four, created_at_ms, last_used_at_ms } = appKeys;
    const rows = await this.#database
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
  }

  /** The id of a key; null: it is unknown. */
  async readKeyId(key_hash: string): Promise<string | null> {
    const is_key = eq(appKeys.key_hash, key_hash);
    const [key] = await this.#database.select({ id: appKeys.id }).from(appKeys).where(is_key);
    return key?.id ?? null;
  }

  /**
   * Revokes a key, and returns what is known of it. One that was revoked, or belongs to another app, is refused as
   * `app_key_not_found`.
   */
  async revokeKey(slug: string, id: string): Promise<Result<AppKeyRecord, Refusal>> {
    const [revoked] = await this.#database
      .update(appKeys)
      .set({ revoked_at_ms: Date.now() })
      .where(and(eq(appKeys.id, id), eq(appKeys.app_slug, slug), isNull(appKeys.revoked_at_ms)))
      .returning();
    this.#changed();
    return revoked === undefined
      ? refused({ code: "app_key_not_found" })
      : accepted(keyOf(revoked));
  }

  async #findRequested(slug: string, request_key: string) {
    const is_made_by = and(eq(appKeys.app_slug, slug), eq(appKeys.request_key, request_key));
    const [made] = await this.#database.select().from(appKeys).where(is_made_by);
    return made ?? null;
  }

  async #isLabelTaken(slug: string, label: string): Promise<boolean> {
    const { app_slug, revoked_at_ms } = appKeys;
    const has_label = and(eq(app_slug, slug), eq(appKeys.label, label), isNull(revoked_at_ms));
    return (
      (await this.#database.select({ id: appKeys.id }).from(appKeys).where(has_label)).length > 0
    );
  }
}

const copyOf = ({ hash, media_type, bytes }: IconCopy) => ({ hash, media_type, bytes });

export async function isRegistered(database: DrizzleD1Database, slug: string): Promise<boolean> {
  return (await database.$count(apps, eq(apps.slug, slug))) > 0;
}

function keyOf({ id, label, last_four, created_at_ms }: typeof appKeys.$inferSelect): AppKeyRecord {
  return { id, label, last_four, created_at_ms };
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
