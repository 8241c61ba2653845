/** Tokens of an OAuth client, or for a resource, that an operator deleted. */
import { isRegisteredClientId } from "../../domain/oauth_client.ts";
import { isOfAllowance, type AppProof, type Proof } from "../../domain/proof.ts";
import type { AppContext } from "../context.ts";

/**
 * Whether one of these registered clients is gone, according to the registry's cache: then their tokens are refused. While
 * the registry cannot be read they work, as all tokens do: access tokens expire within minutes. A client with a document is
 * never deleted.
 */
export async function isDeletedClient(
  context: AppContext,
  ...client_ids: readonly string[]
): Promise<boolean> {
  const { apps } = context.get("services");
  for (const client_id of client_ids.filter(isRegisteredClientId)) {
    if ((await apps.findClient(client_id)).kind === "unknown") return true;
  }
  return false;
}

/** Whether a token was issued to a client that is gone. */
export async function isOfDeletedClient(
  context: AppContext,
  proof: Proof | AppProof,
): Promise<boolean> {
  const client_id = isOfAllowance(proof) ? proof.client_id : undefined;
  return client_id !== undefined && isDeletedClient(context, client_id);
}

/** Whether a resource is gone: then no tokens are issued for it. While the registry cannot be read they are. Null: our API. */
export async function isDeletedResource(
  context: AppContext,
  resource: string | null,
): Promise<boolean> {
  if (resource === null) return false;
  return (await context.get("services").apps.findResource(resource)).kind === "unknown";
}
