/** An app's owner for tests of webhooks: an operator, or the app's own server with its key. */
import { openAppServer, type AppServer } from "../../../caller/app_server.ts";
import type { Operator } from "../operators.ts";
import { send, type Answer } from "../../../../support/passbook.ts";

export const HOOK = {
  url: "https://sketch.example.com/hook",
  events: ["job.completed", "credits.low"],
  thresholds: [100, 20],
};

export const WEBHOOKS = "/api/admin/apps/sketch/webhooks";

export interface Owner {
  send(
    method: string,
    path: string,
    body?: object | null,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

export interface Owners {
  readonly operator: Operator;
  readonly server: Owner;
  readonly app: AppServer;
}

/** The app's server, which sends its key and names no account. */
export function serverOf({ key, operator }: AppServer): Owner {
  return {
    send: (method, path, body = null, headers = {}) =>
      send(
        method,
        path,
        {
          headers: {
            Authorization: `Bearer ${key}`,
            "Content-Type": "application/json",
            ...headers,
          },
          ...(body === null ? {} : { body: JSON.stringify(body) }),
        },
        operator.settings,
      ),
  };
}

export async function openOwners(): Promise<Owners> {
  const app = await openAppServer("sketch");
  return { operator: app.operator, app, server: serverOf(app) };
}
