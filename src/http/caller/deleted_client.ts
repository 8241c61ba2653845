/** Tokens of an OAuth client that an operator deleted. */
import { isRegisteredClientId } from "../../domain/oauth_client.ts";
import type { AppContext } from "../context.ts";

/**
 * Whether a registered client is gone, according to the registry's cache: then its tokens are refused. While the registry
 * cannot be read they work, as all tokens do: access tokens expire within minutes. A client with a document is never deleted.
 */
export async function isDeletedClient(
  context: AppContext,
  client_id: string | null,
): Promise<boolean> {
  if (client_id === null || !isRegisteredClientId(client_id)) return false;
  return (await context.get("services").apps.findClient(client_id)).kind === "unknown";
}
