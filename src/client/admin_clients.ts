/** OAuth clients and protected resources of apps, for operators. */
import type { Calls, CallOptions, WriteOptions } from "./calls.ts";
import type {
  OAuthClient,
  OneResource,
  Resource,
  ResourceList,
  OAuthClientList,
  OneOAuthClient,
  ReplacedClientSecret,
  SavedOAuthClient,
} from "./responses.ts";
import { isDone } from "./transport.ts";

export interface OAuthClientSettings {
  /** The name that people see on the consent page. */
  readonly name: string;
  /** Compared exactly; only the port of a loopback address may differ. */
  readonly redirectUris: readonly string[];
  /** Without a secret. */
  readonly public: boolean;
  /** Only for a confidential client; by default false. */
  readonly pkceOptional?: boolean;
  /** Whether its tokens outlive the browser session without `offline_access`; by default false. */
  readonly refresh?: boolean;
  /** The version that you read. Omit it to register a client. */
  readonly version?: number;
  /** The reason in the audit log. */
  readonly reason?: string;
}

export interface ResourceSettings {
  readonly uri: string;
  readonly scopes: readonly string[];
  /** The version that you read. Omit it to register a resource. */
  readonly version?: number;
  readonly reason?: string;
}

export type ReplaceSecretOptions = WriteOptions & {
  /** Whether the old secret stops working at once; by default false. */
  readonly now?: boolean;
  readonly reason?: string;
};

type RemoveOptions = WriteOptions & { readonly reason?: string };

export interface AdminClients {
  listClients(slug: string, options?: CallOptions): Promise<readonly OAuthClient[]>;
  readClient(slug: string, id: string, options?: CallOptions): Promise<OAuthClient>;
  /**
   * Registers a client, or replaces all its settings. Only the response that makes it confidential has `client_secret`.
   * Throws `client_changed` if another operator saved the client since, or a new client's id is registered with other
   * settings, and `client_deleted` if a client with this id was deleted.
   */
  saveClient(
    slug: string,
    id: string,
    settings: OAuthClientSettings,
    options?: WriteOptions,
  ): Promise<SavedOAuthClient>;
  /**
   * Replaces the secret of a confidential client. The old one works for 24 hours too, or stops at once with `now`. The
   * secret is null if the same request replaced it before.
   */
  replaceClientSecret(
    slug: string,
    id: string,
    options?: ReplaceSecretOptions,
  ): Promise<ReplacedClientSecret>;
  /** Within a minute the client gets no tokens anywhere. Its id is not used again. */
  deleteClient(slug: string, id: string, options?: RemoveOptions): Promise<void>;
  listResources(slug: string, options?: CallOptions): Promise<readonly Resource[]>;
  readResource(slug: string, id: string, options?: CallOptions): Promise<Resource>;
  /**
   * Registers a resource, or replaces its settings. Throws `resource_changed` if another operator saved it since, or a new
   * resource's id is registered with other settings, and `resource_taken` if another one has its address.
   */
  saveResource(
    slug: string,
    id: string,
    settings: ResourceSettings,
    options?: WriteOptions,
  ): Promise<Resource>;
  deleteResource(slug: string, id: string, options?: RemoveOptions): Promise<void>;
}

export function createAdminClients(calls: Calls): AdminClients {
  const pathOf = (slug: string, kind: "clients" | "resources", id?: string): string =>
    `/api/admin/apps/${encodeURIComponent(slug)}/${kind}${id === undefined ? "" : `/${encodeURIComponent(id)}`}`;
  const remove = async (path: string, { reason, ...options }: RemoveOptions = {}) => {
    await calls.write({ method: "DELETE", path, query: { reason }, isValid: isDone }, options);
  };
  return {
    async listClients(slug, { signal } = {}) {
      const path = pathOf(slug, "clients");
      const isValid = ({ clients }: OAuthClientList): boolean => Array.isArray(clients);
      return (await calls.read({ path, isValid, signal })).clients;
    },
    async readClient(slug, id, { signal } = {}) {
      const path = pathOf(slug, "clients", id);
      const isValid = ({ client }: OneOAuthClient): boolean => typeof client === "object";
      return (await calls.read({ path, isValid, signal })).client;
    },
    async saveClient(slug, id, settings, options) {
      const { redirectUris, pkceOptional, ...rest } = settings;
      const body = {
        ...rest,
        redirect_uris: redirectUris,
        pkce_optional: pkceOptional,
      };
      const path = pathOf(slug, "clients", id);
      const isValid = ({ client_id }: SavedOAuthClient): boolean => typeof client_id === "string";
      return calls.write({ method: "PUT", path, body, isValid }, options);
    },
    async replaceClientSecret(slug, id, { now = false, reason, ...options } = {}) {
      const path = `${pathOf(slug, "clients", id)}/secret`;
      const query = now ? { now: "true" } : {};
      const isValid = ({ client }: ReplacedClientSecret): boolean => typeof client === "object";
      return calls.write({ method: "POST", path, query, body: { reason }, isValid }, options);
    },
    deleteClient: async (slug, id, options) => remove(pathOf(slug, "clients", id), options),
    async listResources(slug, { signal } = {}) {
      const path = pathOf(slug, "resources");
      const isValid = ({ resources }: ResourceList): boolean => Array.isArray(resources);
      return (await calls.read({ path, isValid, signal })).resources;
    },
    async readResource(slug, id, { signal } = {}) {
      const path = pathOf(slug, "resources", id);
      const isValid = ({ resource }: OneResource): boolean => typeof resource === "object";
      return (await calls.read({ path, isValid, signal })).resource;
    },
    async saveResource(slug, id, settings, options) {
      const path = pathOf(slug, "resources", id);
      const isValid = ({ resource }: OneResource): boolean => typeof resource === "object";
      const call = { method: "PUT", path, body: settings, isValid } as const;
      return (await calls.write(call, options)).resource;
    },
    deleteResource: async (slug, id, options) => remove(pathOf(slug, "resources", id), options),
  };
}
