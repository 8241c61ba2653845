/** Puts the room together: the clients that request connections, and their authentication. */
import type { Lookup, RegisteredClient } from "../domain/oauth_client.ts";
import {
  createClientAuthentication,
  type CheckClientSecret,
  type ClientAuthentication,
} from "./authentication.ts";
import { createClientIcons, type ClientIcons } from "./client_icons.ts";
import { createClients, type Clients } from "./clients.ts";
import { createPublicJson } from "./public_json.ts";

interface AuthorizationOptions {
  /** The registry of apps, with their clients. */
  readonly apps: {
    findClient(client_id: string): Promise<Lookup<RegisteredClient>>;
    readonly checkClientSecret: CheckClientSecret;
  };
  /** Where documents and icons of clients are copied to. */
  readonly copies: KVNamespace;
  readonly copyIcon: Parameters<typeof createClientIcons>[0]["copy"];
  /** Only in development. */
  readonly allows_loopback: boolean;
}

export interface Authorization {
  readonly clients: Clients;
  readonly client_icons: ClientIcons;
  readonly client_authentication: ClientAuthentication;
}

export function createAuthorization(options: AuthorizationOptions): Authorization {
  const { apps, copies, copyIcon, allows_loopback } = options;
  const json = createPublicJson({ copies, keeps_copies: !allows_loopback });
  const findClient = (client_id: string) => apps.findClient(client_id);
  const clients = createClients({ findClient, json, allows_loopback });
  return {
    clients,
    client_icons: createClientIcons({ copies, copy: copyIcon }),
    client_authentication: createClientAuthentication({
      clients,
      json,
      checkClientSecret: (client_id, secret) => apps.checkClientSecret(client_id, secret),
    }),
  };
}
