/** How this service authenticates at a provider's token endpoint (RFC 6749, section 2.3.1). */
import { ClientSecretPost, type ClientAuth } from "oauth4webapi";
import type { OAuthProvider } from "./providers.ts";

/** The client authentication that a provider is configured for. */
export function clientAuthentication(provider: OAuthProvider): ClientAuth {
  const { client_id, client_secret, client_authentication } = provider;
  if (client_authentication === "client_secret_post") return ClientSecretPost(client_secret);
  const credentials = btoa(`${formEncode(client_id)}:${formEncode(client_secret)}`);
  return (_server, _client, _body, headers) => {
    headers.set("Authorization", `Basic ${credentials}`);
  };
}

/**
 * Form-encoded as in the WHATWG URL standard, which does not escape `-`, `_` and `.`. `oauth4webapi` escapes
 * them, and providers that do not decode would refuse many secrets.
 */
function formEncode(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}
