/** The OAuth clients and protected resources of apps, for operators: they save, list and delete them. */
import { and, asc, eq, isNotNull, isNull, ne, or, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import {
  CLIENTS_PER_APP_MAX,
  OLD_CLIENT_SECRET_MS,
  RESOURCES_PER_APP_MAX,
  type ProtectedResource,
  type RegisteredClient,
} from "../domain/oauth_client.ts";
import type { Refusal } from "../domain/refusals.ts";
import { resourceKey } from "../domain/resource_uri.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { hashAppKey, newClientSecret } from "./app_records.ts";
import { oauthClients, resources } from "./oauth_schema.ts";
import { apps } from "./schema.ts";

/** The app and the id of a client or resource. */
export interface RegistrationKey {
  readonly app_slug: string;
  readonly id: string;
}

/** Valid settings. */
export type ClientSettings = Omit<RegisteredClient, "kind" | "client_id" | "app_slug">;
export type ResourceSettings = Omit<ProtectedResource, "app_slug">;

interface Versioned {
  /** Increases with each save, from 1. */
  readonly version: number;
  /** The audit entry of the last save. */
  readonly last_audit_id: string;
}

export interface ClientRecord extends ClientSettings, RegistrationKey, Versioned {
  readonly created_at_ms: number;
  /** The start of the UTC day of its last use; null: it was never used. */
  readonly last_used_at_ms: number | null;
}

export interface ResourceRecord extends ResourceSettings, RegistrationKey, Versioned {
  readonly created_at_ms: number;
}

export interface Saved<Stored> {
  readonly record: Stored;
  /** A client's new secret, if this save made it confidential; else null. */
  readonly secret: string | null;
}

/** The record that was read; null: there was none. */
interface Save<Stored> {
  readonly before: Stored | null;
  readonly audit_id: string;
}

/** Each method rejects if D1 cannot be reached; the change may have happened or not. */
export interface OAuthRecords {
  /** The app's clients by id. Refused as `app_unknown`. */
  listClients(app_slug: string): Promise<Result<readonly ClientRecord[], Refusal>>;
  /** Null: the app has no such client. */
  findClient(key: RegistrationKey): Promise<ClientRecord | null>;
  /**
   * Registers a client if there was none before, else replaces the settings of the version that was read. Null: there is
   * another version, and nothing was changed. Refused as `app_unknown`, `client_deleted` or `too_many_clients`.
   */
  saveClient(
    key: RegistrationKey,
    settings: ClientSettings,
    save: Save<ClientRecord>,
  ): Promise<Result<Saved<ClientRecord> | null, Refusal>>;
  /**
   * Replaces the secret of a client. Refused as `client_not_found`, and as `invalid_request` if it is public. `keeps_old`: the old one works for
   * {@link OLD_CLIENT_SECRET_MS} too. Null: the same request replaced it before, because a secret is shown only once.
   */
  replaceSecret(
    key: RegistrationKey,
    keeps_old: boolean,
    audit_id: string,
  ): Promise<Result<Saved<ClientRecord>, Refusal>>;
  /** For good: the id is not used again. Refused as `client_not_found`. */
  removeClient(key: RegistrationKey): Promise<Result<null, Refusal>>;
  /** As for clients. An address that another registration has is refused as `resource_taken`. */
  listResources(app_slug: string): Promise<Result<readonly ResourceRecord[], Refusal>>;
  findResource(key: RegistrationKey): Promise<ResourceRecord | null>;
  saveResource(
    key: RegistrationKey,
    settings: ResourceSettings,
    save: Save<ResourceRecord>,
  ): Promise<Result<Saved<ResourceRecord> | null, Refusal>>;
  removeResource(key: RegistrationKey): Promise<Result<null, Refusal>>;
}

/** `changed`: called after each change. */
export function createOAuthRecords(binding: D1Database, changed: () => void): OAuthRecords {
  const database = drizzle(binding);
  const isApp = async (slug: string): Promise<boolean> => {
    const found = await database.select({ slug: apps.slug }).from(apps).where(eq(apps.slug, slug));
    return found.length > 0;
  };
  const isClient = ({ app_slug, id }: RegistrationKey) =>
    and(eq(oauthClients.app_slug, app_slug), eq(oauthClients.id, id));
  const not_deleted = isNull(oauthClients.deleted_at_ms);
  const isResource = ({ app_slug, id }: RegistrationKey) =>
    and(eq(resources.app_slug, app_slug), eq(resources.id, id));
  const readClient = async (key: RegistrationKey) => {
    const [row] = await database
      .select()
      .from(oauthClients)
      .where(and(isClient(key), not_deleted));
    return row ?? null;
  };
  const readResource = async (key: RegistrationKey) => {
    const [row] = await database.select().from(resources).where(isResource(key));
    return row ?? null;
  };
  /** Why a save changed nothing. */
  const refusalOf = async (app_slug: string, full: Refusal): Promise<Refusal> =>
    (await isApp(app_slug)) ? full : { code: "app_unknown" };
  return {
    async listClients(app_slug) {
      if (!(await isApp(app_slug))) return refused({ code: "app_unknown" });
      const of_app = and(eq(oauthClients.app_slug, app_slug), not_deleted);
      const rows = await database
        .select()
        .from(oauthClients)
        .where(of_app)
        .orderBy(asc(oauthClients.id));
      return accepted(rows.map(clientOf));
    },
    async findClient(key) {
      const row = await readClient(key);
      return row === null ? null : clientOf(row);
    },
    async saveClient(key, settings, { before, audit_id }) {
      const { app_slug, id } = key;
      // A save gives a secret to a client that has none, and takes those of one that becomes public.
      const is_new_secret = !settings.public && (before === null || before.public);
      const secret = is_new_secret ? newClientSecret() : null;
      const secret_hash = secret === null ? null : await hashAppKey(secret);
      const { redirect_uris, ...rest } = settings;
      const row = { ...rest, redirect_uris_json: JSON.stringify(redirect_uris) };
      const no_secret = { secret_hash: null, old_secrets_json: "[]" };
      // One query decides, so concurrent requests cannot exceed the limit or overwrite each other.
      const [saved] =
        before === null
          ? await database
              .insert(oauthClients)
              .select(
                sql`
                select ${app_slug}, ${id}, ${row.name}, ${row.redirect_uris_json}, ${Number(row.public)},
                  ${Number(row.pkce_optional)}, ${Number(row.refresh)}, ${secret_hash}, '[]', null,
                  ${Date.now()}, null, null, 1, ${audit_id}
                where exists (select 1 from apps where slug = ${app_slug})
                  and (select count(*) from oauth_clients
                    where app_slug = ${app_slug} and deleted_at_ms is null) < ${CLIENTS_PER_APP_MAX}`,
              )
              .onConflictDoNothing()
              .returning()
          : await database
              .update(oauthClients)
              .set({
                ...row,
                ...(settings.public ? no_secret : {}),
                ...(is_new_secret ? { secret_hash } : {}),
                version: before.version + 1,
                last_audit_id: audit_id,
              })
              .where(and(isClient(key), not_deleted, eq(oauthClients.version, before.version)))
              .returning();
      if (saved !== undefined) {
        changed();
        return accepted({ record: clientOf(saved), secret });
      }
      const [known] = await database.select().from(oauthClients).where(isClient(key));
      if (known !== undefined && known.deleted_at_ms === null) return accepted(null);
      if (before !== null) return accepted(null);
      if (known !== undefined) return refused({ code: "client_deleted" });
      const full: Refusal = { code: "too_many_clients", limit: CLIENTS_PER_APP_MAX };
      return refused(await refusalOf(app_slug, full));
    },
    async replaceSecret(key, keeps_old, audit_id) {
      const secret = newClientSecret();
      const now_ms = Date.now();
      const { old_secrets_json, secret_hash, secret_audit_id } = oauthClients;
      const old = sql`(select json_group_array(json(secret)) from (
        select json_object('hash', ${secret_hash}, 'until_ms', ${now_ms + OLD_CLIENT_SECRET_MS}) as secret
        union all select value from json_each(${old_secrets_json}) where value ->> 'until_ms' > ${now_ms}
        limit ${OLD_SECRETS_MAX}))`;
      const is_replaceable = and(isClient(key), not_deleted, isNotNull(secret_hash));
      const is_other = or(isNull(secret_audit_id), ne(secret_audit_id, audit_id));
      const { meta } = await database
        .update(oauthClients)
        .set({
          secret_hash: await hashAppKey(secret),
          old_secrets_json: keeps_old ? old : "[]",
          secret_audit_id: audit_id,
        })
        .where(and(is_replaceable, is_other));
      const client = await readClient(key);
      if (client === null) return refused({ code: "client_not_found" });
      if (client.public) return refused({ code: "invalid_request", detail: NO_SECRET });
      changed();
      return accepted({ record: clientOf(client), secret: meta.changes > 0 ? secret : null });
    },
    async removeClient(key) {
      const { meta } = await database
        .update(oauthClients)
        .set({ deleted_at_ms: Date.now() })
        .where(and(isClient(key), not_deleted));
      changed();
      return meta.changes > 0 ? accepted(null) : refused({ code: "client_not_found" });
    },
    async listResources(app_slug) {
      if (!(await isApp(app_slug))) return refused({ code: "app_unknown" });
      const of_app = eq(resources.app_slug, app_slug);
      const rows = await database.select().from(resources).where(of_app).orderBy(asc(resources.id));
      return accepted(rows.map(resourceOf));
    },
    async findResource(key) {
      const row = await readResource(key);
      return row === null ? null : resourceOf(row);
    },
    async saveResource(key, settings, { before, audit_id }) {
      const { app_slug, id } = key;
      const uri = resourceKey(settings.uri);
      const scopes_json = JSON.stringify(settings.scopes);
      const is_free = sql`not exists (select 1 from resources
        where uri = ${uri} and not (app_slug = ${app_slug} and id = ${id}))`;
      const [saved] =
        before === null
          ? await database
              .insert(resources)
              .select(
                sql`
                select ${app_slug}, ${id}, ${uri}, ${scopes_json}, ${Date.now()}, 1, ${audit_id}
                where exists (select 1 from apps where slug = ${app_slug})
                  and (select count(*) from resources
                    where app_slug = ${app_slug}) < ${RESOURCES_PER_APP_MAX}
                  and ${is_free}`,
              )
              .onConflictDoNothing()
              .returning()
          : await database
              .update(resources)
              .set({ uri, scopes_json, version: before.version + 1, last_audit_id: audit_id })
              .where(and(isResource(key), eq(resources.version, before.version), is_free))
              .returning();
      if (saved !== undefined) {
        changed();
        return accepted({ record: resourceOf(saved), secret: null });
      }
      const known = await readResource(key);
      if (known?.version !== before?.version) return accepted(null);
      const taken = await database.select().from(resources).where(eq(resources.uri, uri));
      const full: Refusal =
        taken.length > 0
          ? { code: "resource_taken" }
          : { code: "too_many_resources", limit: RESOURCES_PER_APP_MAX };
      return refused(await refusalOf(app_slug, full));
    },
    async removeResource(key) {
      const { meta } = await database.delete(resources).where(isResource(key));
      changed();
      return meta.changes > 0 ? accepted(null) : refused({ code: "resource_not_found" });
    },
  };
}

/** Replaced secrets of one client that still work. One more ends the oldest. */
const OLD_SECRETS_MAX = 10;

const NO_SECRET =
  "The client is public, so it has no secret. Save it with public: false to give it one.";

function clientOf(row: typeof oauthClients.$inferSelect): ClientRecord {
  const { app_slug, id, name, redirect_uris_json, pkce_optional, refresh } = row;
  const { created_at_ms, last_used_at_ms, version, last_audit_id } = row;
  const redirect_uris = JSON.parse(redirect_uris_json) as string[];
  const settings = { name, redirect_uris, public: row.public, pkce_optional, refresh };
  // No hash of a secret.
  const saved = { version, last_audit_id };
  return { app_slug, id, ...settings, created_at_ms, last_used_at_ms, ...saved };
}

function resourceOf(row: typeof resources.$inferSelect): ResourceRecord {
  const { scopes_json, ...record } = row;
  return { ...record, scopes: JSON.parse(scopes_json) as string[] };
}
