/** The OAuth clients and protected resources of apps, for operators: they save, list and delete them. */
import { and, asc, eq, isNotNull, isNull, ne, or, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import {
  CLIENTS_PER_APP_MAX,
  OLD_CLIENT_SECRET_MS,
  RESOURCES_PER_APP_MAX,
  type ProtectedResource,
  type RegisteredClient,
} from "../domain/oauth_client.ts";
import { limitReached } from "../domain/limit_reached.ts";
import type { Refusal } from "../domain/refusals.ts";
import { resourceKey } from "../domain/resource_uri.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { hashAppKey, isRegistered, newClientSecret } from "./app_records.ts";
import { oauthClients, resources } from "./oauth_schema.ts";

/** The app and the id of a client or resource. */
export interface RegistrationKey {
  readonly app_slug: string;
  readonly id: string;
}

/** Valid settings. */
type ClientSettings = Omit<RegisteredClient, "kind" | "client_id" | "app_slug">;
type ResourceSettings = Omit<ProtectedResource, "app_slug">;

export type ClientRecord = ReturnType<typeof clientOf>;
export type ResourceRecord = typeof resources.$inferSelect;

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

/** Each method rejects if D1 cannot be reached; the change may have happened or not. `changed` is called after each change. */
export class OAuthRecords {
  readonly #changed: () => void;
  readonly #database: DrizzleD1Database;

  constructor(binding: D1Database, changed: () => void) {
    this.#changed = changed;
    this.#database = drizzle(binding);
  }

  /** The app's clients by id. Refused as `app_not_found`. */
  async listClients(app_slug: string): Promise<Result<readonly ClientRecord[], Refusal>> {
    if (!(await isRegistered(this.#database, app_slug))) return refused({ code: "app_not_found" });
    const of_app = and(eq(oauthClients.app_slug, app_slug), not_deleted);
    const rows = await this.#database
      .select()
      .from(oauthClients)
      .where(of_app)
      .orderBy(asc(oauthClients.id));
    return accepted(rows.map(clientOf));
  }

  /** Null: the app has no such client. */
  async findClient(key: RegistrationKey): Promise<ClientRecord | null> {
    const row = await this.#readClient(key);
    return row === null ? null : clientOf(row);
  }

  /**
   * Registers a client if there was none before, else replaces the settings of the version that was read. Null: there is
   * another version, and nothing was changed. Refused as `app_not_found`, `client_deleted` or `limit_reached`.
   */
  async saveClient(
    key: RegistrationKey,
    settings: ClientSettings,
    { before, audit_id }: Save<ClientRecord>,
  ): Promise<Result<Saved<ClientRecord> | null, Refusal>> {
    const { app_slug, id } = key;
    // A save gives a secret to a client that has none, and takes those of one that becomes public.
    const is_new_secret = !settings.public && (before === null || before.public);
    const secret = is_new_secret ? newClientSecret() : null;
    const secret_hash = secret === null ? null : await hashAppKey(secret);
    const no_secret = { secret_hash: null, old_secrets_json: "[]" };
    // One query decides, so concurrent requests cannot exceed the limit or overwrite each other.
    const [saved] =
      before === null
        ? await this.#database
            .insert(oauthClients)
            .select(
              sql`
                select ${app_slug}, ${id}, ${settings.name}, ${JSON.stringify(settings.redirect_uris)},
                  ${JSON.stringify(settings.post_logout_redirect_uris)}, ${Number(settings.public)},
                  ${Number(settings.pkce_optional)}, ${secret_hash}, '[]', null,
                  ${Date.now()}, null, null, 1, ${audit_id}
                where exists (select 1 from apps where slug = ${app_slug})
                  and (select count(*) from oauth_clients
                    where app_slug = ${app_slug} and deleted_at_ms is null) < ${CLIENTS_PER_APP_MAX}`,
            )
            .onConflictDoNothing()
            .returning()
        : await this.#database
            .update(oauthClients)
            .set({
              ...settings,
              ...(settings.public ? no_secret : {}),
              ...(is_new_secret ? { secret_hash } : {}),
              version: before.version + 1,
              last_audit_id: audit_id,
            })
            .where(and(isClient(key), not_deleted, eq(oauthClients.version, before.version)))
            .returning();
    if (saved !== undefined) {
      this.#changed();
      return accepted({ record: clientOf(saved), secret });
    }
    const [known] = await this.#database.select().from(oauthClients).where(isClient(key));
    if (known !== undefined && known.deleted_at_ms === null) return accepted(null);
    if (before !== null) return accepted(null);
    if (known !== undefined) return refused({ code: "client_deleted" });
    const full: Refusal = limitReached("clients");
    return refused(await this.#refusalOf(app_slug, full));
  }

  /**
   * Replaces the secret of a client. Refused as `client_not_found`, and as `invalid_request` if it is public.
   * `keeps_old`: the old one works for {@link OLD_CLIENT_SECRET_MS} too. Null: the same request replaced it before,
   * because a secret is shown only once.
   */
  async replaceSecret(
    key: RegistrationKey,
    keeps_old: boolean,
    audit_id: string,
  ): Promise<Result<Saved<ClientRecord>, Refusal>> {
    const secret = newClientSecret();
    const now_ms = Date.now();
    const { old_secrets_json, secret_hash, secret_audit_id } = oauthClients;
    const old = sql`(select json_group_array(json(secret)) from (
        select json_object('hash', ${secret_hash}, 'until_ms', ${now_ms + OLD_CLIENT_SECRET_MS}) as secret
        union all select value from json_each(${old_secrets_json}) where value ->> 'until_ms' > ${now_ms}
        limit ${OLD_SECRETS_MAX}))`;
    const is_replaceable = and(isClient(key), not_deleted, isNotNull(secret_hash));
    const is_other = or(isNull(secret_audit_id), ne(secret_audit_id, audit_id));
    const { meta } = await this.#database
      .update(oauthClients)
      .set({
        secret_hash: await hashAppKey(secret),
        old_secrets_json: keeps_old ? old : "[]",
        secret_audit_id: audit_id,
      })
      .where(and(is_replaceable, is_other));
    const client = await this.#readClient(key);
    if (client === null) return refused({ code: "client_not_found" });
    if (client.public) return refused({ code: "invalid_request", detail: NO_SECRET });
    this.#changed();
    return accepted({ record: clientOf(client), secret: meta.changes > 0 ? secret : null });
  }

  /** For good: the id is not used again. Refused as `client_not_found`. */
  async removeClient(key: RegistrationKey): Promise<Result<null, Refusal>> {
    const { meta } = await this.#database
      .update(oauthClients)
      .set({ deleted_at_ms: Date.now() })
      .where(and(isClient(key), not_deleted));
    this.#changed();
    return meta.changes > 0 ? accepted(null) : refused({ code: "client_not_found" });
  }

  /** As for clients. An address that another registration has is refused as `resource_taken`. */
  async listResources(app_slug: string): Promise<Result<readonly ResourceRecord[], Refusal>> {
    if (!(await isRegistered(this.#database, app_slug))) return refused({ code: "app_not_found" });
    const of_app = eq(resources.app_slug, app_slug);
    const rows = await this.#database
      .select()
      .from(resources)
      .where(of_app)
      .orderBy(asc(resources.id));
    return accepted(rows);
  }

  async findResource(key: RegistrationKey): Promise<ResourceRecord | null> {
    const [row] = await this.#database.select().from(resources).where(isResource(key));
    return row ?? null;
  }

  async saveResource(
    key: RegistrationKey,
    settings: ResourceSettings,
    { before, audit_id }: Save<ResourceRecord>,
  ): Promise<Result<Saved<ResourceRecord> | null, Refusal>> {
    const { app_slug, id } = key;
    const uri = resourceKey(settings.uri);
    const { scopes, charges } = settings;
    const is_free = sql`not exists (select 1 from resources
        where uri = ${uri} and not (app_slug = ${app_slug} and id = ${id}))`;
    const [saved] =
      before === null
        ? await this.#database
            .insert(resources)
            .select(
              sql`
                select ${app_slug}, ${id}, ${uri}, ${JSON.stringify(scopes)}, ${Number(charges)}, ${Date.now()}, 1, ${audit_id}
                where exists (select 1 from apps where slug = ${app_slug})
                  and (select count(*) from resources
                    where app_slug = ${app_slug}) < ${RESOURCES_PER_APP_MAX}
                  and ${is_free}`,
            )
            .onConflictDoNothing()
            .returning()
        : await this.#database
            .update(resources)
            .set({ uri, scopes, charges, version: before.version + 1, last_audit_id: audit_id })
            .where(and(isResource(key), eq(resources.version, before.version), is_free))
            .returning();
    if (saved !== undefined) {
      this.#changed();
      return accepted({ record: saved, secret: null });
    }
    const known = await this.findResource(key);
    if (known?.version !== before?.version) return accepted(null);
    const taken = await this.#database.select().from(resources).where(eq(resources.uri, uri));
    const full: Refusal = taken.length > 0 ? { code: "resource_taken" } : limitReached("resources");
    return refused(await this.#refusalOf(app_slug, full));
  }

  async removeResource(key: RegistrationKey): Promise<Result<null, Refusal>> {
    const { meta } = await this.#database.delete(resources).where(isResource(key));
    this.#changed();
    return meta.changes > 0 ? accepted(null) : refused({ code: "resource_not_found" });
  }

  async #readClient(key: RegistrationKey) {
    const [row] = await this.#database
      .select()
      .from(oauthClients)
      .where(and(isClient(key), not_deleted));
    return row ?? null;
  }

  /** Why a save changed nothing. */
  async #refusalOf(app_slug: string, full: Refusal): Promise<Refusal> {
    return (await isRegistered(this.#database, app_slug)) ? full : { code: "app_not_found" };
  }
}

const not_deleted = isNull(oauthClients.deleted_at_ms);

const isClient = ({ app_slug, id }: RegistrationKey) =>
  and(eq(oauthClients.app_slug, app_slug), eq(oauthClients.id, id));

const isResource = ({ app_slug, id }: RegistrationKey) =>
  and(eq(resources.app_slug, app_slug), eq(resources.id, id));

/** Replaced secrets of one client that still work. One more ends the oldest. */
const OLD_SECRETS_MAX = 10;

const NO_SECRET =
  "The client is public, so it has no secret. Save it with public: false to give it one.";

/** Without the hashes of secrets. */
function clientOf(row: typeof oauthClients.$inferSelect) {
  const { secret_hash: _, old_secrets_json: __, secret_audit_id: ___, ...rest } = row;
  const { deleted_at_ms: ____, ...client } = rest;
  return client;
}
