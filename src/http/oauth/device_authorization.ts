/** `POST /oauth/device_authorization`: begins a device login for an OAuth client (RFC 8628, section 3.1). */
import type { AuthenticatedClient } from "../../authorization/authentication.ts";
import type { DeviceClient } from "../../device/device_contract.ts";
import { ownAppOf } from "../../domain/consent.ts";
import { locationOf, programOf } from "../../domain/client_description.ts";
import type { OAuthError } from "../../domain/oauth_errors.ts";
import { nameScopes, readScope } from "../../domain/oauth_scopes.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { startLogin } from "../allowances/start_login.ts";
import { factory, type AppContext } from "../context.ts";
import { countNetworkRequest } from "../middleware/rate_limits.ts";
import { authenticateClient } from "./clients.ts";
import { COMMAND_LINE_CLIENT_PATH } from "./command_line_client.ts";
import { errorFrom, refuseOAuth } from "./errors.ts";
import { NO_SCOPE } from "./exchange_form.ts";
import { credentialsOf, readForm } from "./form.ts";

export const DEVICE_AUTHORIZATION_PATH = "/oauth/device_authorization";

/** Libraries request `offline_access` for every device. The token lasts without it. */
const DEVICE_SCOPES: readonly string[] = ["read", "write", "offline_access"];

function refuseScopes(refused: readonly string[]): OAuthError {
  const error_description = `A device cannot request these scopes: ${nameScopes(refused)}. It can request ${DEVICE_SCOPES.join(", ")}. The person may give it more.`;
  return { error: "invalid_scope", error_description };
}

const UNUSABLE_HOST: OAuthError = {
  error: "unauthorized_client",
  error_description:
    "The host of this client's address is too long, or is the name of an app that is registered here.",
};

export const authorizeDevice = factory.createHandlers(async (context) => {
  const limited = await countNetworkRequest(context, "device_start");
  if (limited !== null) return refuseOAuth(context, errorFrom(limited));
  const form = await readForm(context);
  if (!form.ok) return refuseOAuth(context, form.refusal);
  const client = await authenticateClient(context, credentialsOf(context, form.value), null);
  if (!client.ok) return refuseOAuth(context, client.refusal);
  const scopes = readScope(form.value.get("scope") ?? "read write");
  if (scopes.length === 0) return refuseOAuth(context, NO_SCOPE);
  const unavailable = scopes.filter((scope) => !DEVICE_SCOPES.includes(scope));
  if (unavailable.length > 0) return refuseOAuth(context, refuseScopes(unavailable));
  const named = await nameOf(context, client.value);
  if (!named.ok) return refuseOAuth(context, named.refusal);
  const device_client = {
    ...named.value,
    program: programOf(context.req.header("User-Agent") ?? ""),
    ...locationOf(context.req.raw),
    reads_only: !scopes.includes("write"),
  };
  return context.json(await startLogin(context, device_client, client.value.client_id));
});

type Named = Pick<DeviceClient, "app_slug" | "client_id"> & { readonly client_name: string };

/**
 * The name that the person sees, and the app that the token is for. A document is fetched only for a signed-in person, so its
 * client has the name of its host.
 */
async function nameOf(
  context: AppContext,
  authenticated: AuthenticatedClient,
): Promise<Result<Named, OAuthError>> {
  if (authenticated.kind === "registered") {
    const { name: client_name, app_slug, client_id } = authenticated.client;
    return accepted({ client_name, app_slug, client_id });
  }
  const { client_id } = authenticated;
  if (client_id === `${context.get("base_url")}${COMMAND_LINE_CLIENT_PATH}`) {
    return accepted({ client_name: "Passbook command line", app_slug: null });
  }
  const registered = await context.get("services").apps.all();
  const app_slug = ownAppOf(client_id, (slug) => registered.has(slug));
  if (app_slug === null) return refused(UNUSABLE_HOST);
  return accepted({ client_name: new URL(client_id).host, app_slug, client_id });
}
