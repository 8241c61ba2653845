/** Puts the room together: the clients that request connections, and their authentication. */
import type { Lookup, RegisteredClient } from "../domain/oauth_client.ts";
import type { KnownKey } from "../domain/proof.ts";
import { createClientAuthentication, type ClientAuthentication } from "./authentication.ts";
import { createClients, type Clients } from "./clients.ts";
import { createPublicJson } from "./public_json.ts";

export interface AuthorizationOptions {
  /** The registry of apps, with their clients and keys. */
  readonly apps: {
    findClient(client_id: string): Promise<Lookup<RegisteredClient>>;
    appOfKey(key: string): Promise<KnownKey>;
    rereadForKey(key: string): Promise<KnownKey>;
  };
  /** Where documents of clients are copied to. */
  readonly copies: KVNamespace;
  readonly allows_loopback: boolean;
}

export interface Authorization {
  readonly clients: Clients;
  readonly client_authentication: ClientAuthentication;
}

export function createAuthorization(options: AuthorizationOptions): Authorization {
  const { apps, copies, allows_loopback } = options;
  const json = createPublicJson(copies);
  const findClient = (client_id: string) => apps.findClient(client_id);
  const clients = createClients({ findClient, json, allows_loopback });
  return {
    clients,
    client_authentication: createClientAuthentication({ clients, json, keys: apps }),
  };
}
