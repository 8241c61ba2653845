/** A resource that charges, with its app `sketch`, and people who connected a client to it, for tests in workerd. */
import { env } from "cloudflare:workers";
import { openAppServer, type AppServer } from "../http/caller/app_server.ts";
import { exchange } from "./exchanges.ts";
import { connect, oauthServices, RESOURCE, type Form, type Tokens } from "./oauth_clients.ts";
import { BASE_URL, type Answer, type SignedIn } from "./passbook.ts";
import { CLIENT_SECRET, registerClient, registerResource } from "./registrations.ts";

/** The confidential client of the app that owns the resource. */
export const AS_OWNER = { client_id: "sketch~server", client_secret: CLIENT_SECRET };

/** The app `sketch`, whose resource charges, with a confidential and a public client; and the app `other` with one. */
export async function openChargingApp(): Promise<AppServer> {
  const server = await openAppServer("sketch", { starter_credits: 100, settle: "holder" });
  await openAppServer("other", { starter_credits: 0 }, server.operator);
  await registerResource("sketch", "mcp", RESOURCE, true);
  await registerClient("sketch", "server");
  await registerClient("sketch", "page", { public: 1 });
  await registerClient("other", "server");
  oauthServices().apps.forget();
  return server;
}

/** Connects a client to the resource, as a person does on the consent page who lets it spend so much in total. */
export async function connectToResource(
  person: SignedIn,
  credits = 50,
  request: Parameters<typeof connect>[1] = {},
): Promise<Tokens> {
  await person.get("/api/wallet?app=sketch");
  return connect(person, {
    resource: RESOURCE,
    resource_app_slug: "sketch",
    scopes: ["tools", "charge"],
    limits: {
      app_slugs: ["sketch"],
      caps: [{ credits, period: "total" }],
      expires_at_ms: Date.now() + 86_400_000,
    },
    ...request,
  });
}

/** Exchanges a token for the resource for one that charges, as the app's server does. */
export const toCharge = (access_token: string, changed: Form = {}): Promise<Answer> =>
  exchange(access_token, null, { ...AS_OWNER, resource: BASE_URL, ...changed });

/** The token with which the app charges. */
export async function chargingToken(access_token: string): Promise<string> {
  const { status, text, body } = await toCharge(access_token);
  if (status !== 200) throw new Error(text);
  return body.access_token as string;
}

/** Changes whether the resource charges, as an operator does. */
export async function setCharges(charges: boolean): Promise<void> {
  await env.DIRECTORY.prepare("update resources set charges = ?").bind(Number(charges)).run();
  oauthServices().apps.forget();
}
