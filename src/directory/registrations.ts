/** Reads the OAuth clients and protected resources of an app from the JSON that the registry's query returns. */
import {
  REGISTRATION_ID_PATTERN,
  registeredClientId,
  type ProtectedResource,
  type RegisteredClient,
} from "../domain/oauth_client.ts";
import { redirectProblem } from "../domain/redirect_match.ts";
import { resourceKey, resourceProblem } from "../domain/resource_uri.ts";

/** As SQLite writes it: a flag is 0 or 1. */
interface ClientJson {
  readonly id: string;
  readonly name: string;
  readonly redirect_uris: readonly unknown[];
  readonly post_logout_redirect_uris: readonly unknown[];
  readonly public: number;
  readonly pkce_optional: number;
  readonly secret_hash: string | null;
  readonly old_secrets: readonly ClientSecret[];
}

/** A valid secret of a client. */
export interface ClientSecret {
  readonly hash: string;
  readonly until_ms: number;
}

/** The secrets of clients by `client_id`. */
export function readClientSecrets(
  app_slug: string,
  json: string,
): readonly (readonly [string, readonly ClientSecret[]])[] {
  return (JSON.parse(json) as readonly ClientJson[]).map(({ id, secret_hash, old_secrets }) => {
    const present = { hash: secret_hash ?? "", until_ms: Number.POSITIVE_INFINITY };
    const secrets = secret_hash === null ? [] : [present, ...old_secrets];
    return [registeredClientId(app_slug, id), secrets] as const;
  });
}

/**
 * Clients by `client_id`. Operators may write to the table with SQL: an invalid redirect address is left out, and so is a
 * client with an invalid field. Both are logged.
 */
export function readClients(
  app_slug: string,
  json: string,
): readonly (readonly [string, RegisteredClient])[] {
  return (JSON.parse(json) as readonly ClientJson[]).flatMap((row) => {
    const { id, name } = row;
    const is_public = row.public !== 0;
    const pkce_optional = row.pkce_optional !== 0;
    const is_valid =
      REGISTRATION_ID_PATTERN.test(id) && name !== "" && !(is_public && pkce_optional);
    const redirect_uris = row.redirect_uris.filter(isValidAddress);
    const post_logout_redirect_uris = row.post_logout_redirect_uris.filter(isValidAddress);
    const ignored =
      row.redirect_uris.length -
      redirect_uris.length +
      row.post_logout_redirect_uris.length -
      post_logout_redirect_uris.length;
    if (ignored > 0) {
      console.error({ event: "oauth_client_address_ignored", slug: app_slug, id });
    }
    if (!is_valid) {
      console.error({ event: "oauth_client_ignored", slug: app_slug, id });
      return [];
    }
    const client: RegisteredClient = {
      kind: "registered",
      client_id: registeredClientId(app_slug, id),
      app_slug,
      name,
      redirect_uris,
      post_logout_redirect_uris,
      public: is_public,
      pkce_optional,
    };
    return [[client.client_id, client] as const];
  });
}

function isValidAddress(uri: unknown): uri is string {
  return typeof uri === "string" && redirectProblem(uri) === null;
}

interface ResourceJson {
  readonly uri: string;
  readonly scopes: readonly unknown[];
  readonly charges: number;
}

/** Resources by `resourceKey`. */
export function readResources(
  app_slug: string,
  json: string,
): readonly (readonly [string, ProtectedResource])[] {
  return (JSON.parse(json) as readonly ResourceJson[]).flatMap(({ uri, scopes, charges }) => {
    if (resourceProblem(uri) !== null) {
      console.error({ event: "resource_ignored", slug: app_slug });
      return [];
    }
    const words = scopes.filter((scope) => typeof scope === "string");
    return [[resourceKey(uri), { uri, app_slug, scopes: words, charges: charges !== 0 }] as const];
  });
}
