/** The OAuth clients and protected resources of apps, for operators: they save, list and delete them. */
import { and, asc, eq, isNull, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { v7 as uuidv7 } from "uuid";
import { KEYS_PER_APP_MAX } from "../domain/limits.ts";
import {
  CLIENTS_PER_APP_MAX,
  RESOURCES_PER_APP_MAX,
  type ProtectedResource,
  type RegisteredClient,
} from "../domain/oauth_client.ts";
import type { Refusal } from "../domain/refusals.ts";
import { resourceKey } from "../domain/resource_uri.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { hashAppKey, newAppKey } from "./app_records.ts";
import { oauthClients, resources } from "./oauth_schema.ts";
import { appKeys, apps } from "./schema.ts";

/** The app and the id of a client or resource. */
export interface RegistrationKey {
  readonly app_slug: string;
  readonly id: string;
}

/** Valid settings. */
export type ClientSettings = Omit<RegisteredClient, "kind" | "client_id" | "app_slug">;
export type ResourceSettings = Omit<ProtectedResource, "app_slug">;

export interface ClientRecord extends ClientSettings, RegistrationKey {
  readonly created_at_ms: number;
  /** The start of the UTC day of its last use; null: it was never used. */
  readonly last_used_at_ms: number | null;
}

export interface ResourceRecord extends ResourceSettings, RegistrationKey {
  readonly created_at_ms: number;
}

/** `before` is null if the save registered it. */
export interface SavedClient {
  readonly client: ClientRecord;
  readonly before: ClientRecord | null;
  /** A new key of the app, if this save made the client confidential; else null. */
  readonly secret: string | null;
}

export interface SavedResource {
  readonly resource: ResourceRecord;
  readonly before: ResourceRecord | null;
}

/** Each method rejects if D1 cannot be reached; the change may have happened or not. */
export interface OAuthRecords {
  /** The app's clients by id. Refused as `app_unknown`. */
  listClients(app_slug: string): Promise<Result<readonly ClientRecord[], Refusal>>;
  /** Null: the app has no such client. */
  findClient(key: RegistrationKey): Promise<ClientRecord | null>;
  /**
   * Registers a client, or replaces its settings. Refused as `app_unknown`, `client_deleted`, `too_many_clients` or
   * `too_many_app_keys`. A save that is repeated with its audit record changes nothing and returns no secret.
   */
  saveClient(
    key: RegistrationKey,
    settings: ClientSettings,
    audit_id: string,
  ): Promise<Result<SavedClient, Refusal>>;
  /** For good: the id is not used again. Refused as `client_not_found`. The keys of the app stay valid. */
  removeClient(key: RegistrationKey): Promise<Result<null, Refusal>>;
  /** As for clients. An address that another registration has is refused as `resource_taken`. */
  listResources(app_slug: string): Promise<Result<readonly ResourceRecord[], Refusal>>;
  findResource(key: RegistrationKey): Promise<ResourceRecord | null>;
  saveResource(
    key: RegistrationKey,
    settings: ResourceSettings,
    audit_id: string,
  ): Promise<Result<SavedResource, Refusal>>;
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
    async saveClient(key, settings, audit_id) {
      const { app_slug, id } = key;
      const known = await readClient(key);
      const before = known === null ? null : clientOf(known);
      if (known?.last_audit_id === audit_id) {
        return accepted({ client: clientOf(known), before: null, secret: null });
      }
      const is_new_secret = !settings.public && (before === null || before.public);
      const secret = is_new_secret ? newAppKey() : null;
      const now_ms = Date.now();
      const { name, redirect_uris, pkce_optional, refresh } = settings;
      // One query decides, so concurrent requests cannot exceed the limits.
      const save = database
        .insert(oauthClients)
        .select(
          sql`
          select ${app_slug}, ${id}, ${name}, ${JSON.stringify(redirect_uris)}, ${Number(settings.public)},
            ${Number(pkce_optional)}, ${Number(refresh)}, ${now_ms}, null, null, ${audit_id}
          where exists (select 1 from apps where slug = ${app_slug})
            and (exists (select 1 from oauth_clients where app_slug = ${app_slug} and id = ${id})
              or (select count(*) from oauth_clients
                where app_slug = ${app_slug} and deleted_at_ms is null) < ${CLIENTS_PER_APP_MAX})
            and (${Number(is_new_secret)} = 0 or (select count(*) from app_keys
              where app_slug = ${app_slug} and revoked_at_ms is null) < ${KEYS_PER_APP_MAX})`,
        )
        .onConflictDoUpdate({
          target: [oauthClients.app_slug, oauthClients.id],
          set: excluded(REPLACED_COLUMNS),
          setWhere: not_deleted,
        });
      // In the same transaction, so no client is registered without its secret.
      const key_hash = secret === null ? null : await hashAppKey(secret);
      const add_key = database.insert(appKeys).select(
        sql`
        select ${uuidv7()}, ${app_slug}, null, ${`OAuth client ${id}`}, ${key_hash}, ${now_ms}, null, null
        where exists (select 1 from oauth_clients
          where app_slug = ${app_slug} and id = ${id} and last_audit_id = ${audit_id}
            and deleted_at_ms is null)`,
      );
      const [saved] = await database.batch([save, ...(key_hash === null ? [] : [add_key])]);
      const client = saved.meta.changes > 0 ? await readClient(key) : null;
      if (client === null) {
        const rows = await database
          .select({ id: oauthClients.id, deleted_at_ms: oauthClients.deleted_at_ms })
          .from(oauthClients)
          .where(eq(oauthClients.app_slug, app_slug));
        const deleted = rows.filter(({ deleted_at_ms }) => deleted_at_ms !== null);
        if (deleted.some((row) => row.id === id)) return refused({ code: "client_deleted" });
        const is_full = before === null && rows.length - deleted.length >= CLIENTS_PER_APP_MAX;
        const full: Refusal = is_full
          ? { code: "too_many_clients", limit: CLIENTS_PER_APP_MAX }
          : { code: "too_many_app_keys", limit: KEYS_PER_APP_MAX };
        return refused(await refusalOf(app_slug, full));
      }
      changed();
      return accepted({ client: clientOf(client), before, secret });
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
    async saveResource(key, settings, audit_id) {
      const { app_slug, id } = key;
      const uri = resourceKey(settings.uri);
      const known = await readResource(key);
      if (known?.last_audit_id === audit_id) {
        return accepted({ resource: resourceOf(known), before: null });
      }
      const { meta } = await database.run(sql`
        insert into resources (app_slug, id, uri, scopes_json, created_at_ms, last_audit_id)
        select ${app_slug}, ${id}, ${uri}, ${JSON.stringify(settings.scopes)}, ${Date.now()}, ${audit_id}
        where exists (select 1 from apps where slug = ${app_slug})
          and (exists (select 1 from resources where app_slug = ${app_slug} and id = ${id})
            or (select count(*) from resources where app_slug = ${app_slug}) < ${RESOURCES_PER_APP_MAX})
          and not exists (select 1 from resources
            where uri = ${uri} and not (app_slug = ${app_slug} and id = ${id}))
        on conflict (app_slug, id) do update set uri = excluded.uri,
          scopes_json = excluded.scopes_json, last_audit_id = excluded.last_audit_id`);
      const resource = meta.changes > 0 ? await readResource(key) : null;
      if (resource === null) {
        const taken = await database.select().from(resources).where(eq(resources.uri, uri));
        const full: Refusal =
          taken.length > 0
            ? { code: "resource_taken" }
            : { code: "too_many_resources", limit: RESOURCES_PER_APP_MAX };
        return refused(await refusalOf(app_slug, full));
      }
      changed();
      const before = known === null ? null : resourceOf(known);
      return accepted({ resource: resourceOf(resource), before });
    },
    async removeResource(key) {
      const { meta } = await database.delete(resources).where(isResource(key));
      changed();
      return meta.changes > 0 ? accepted(null) : refused({ code: "resource_not_found" });
    },
  };
}

/** The columns that a save replaces. */
const REPLACED_COLUMNS = [
  "name",
  "redirect_uris_json",
  "public",
  "pkce_optional",
  "refresh",
  "last_audit_id",
] as const;

/** Sets columns to the values of the row that was not inserted. */
const excluded = (columns: readonly string[]) =>
  Object.fromEntries(columns.map((column) => [column, sql.raw(`excluded.${column}`)]));

function clientOf(row: typeof oauthClients.$inferSelect): ClientRecord {
  const { redirect_uris_json, deleted_at_ms: _, last_audit_id: __, ...record } = row;
  return { ...record, redirect_uris: JSON.parse(redirect_uris_json) as string[] };
}

function resourceOf(row: typeof resources.$inferSelect): ResourceRecord {
  const { scopes_json, last_audit_id: _, ...record } = row;
  return { ...record, scopes: JSON.parse(scopes_json) as string[] };
}
