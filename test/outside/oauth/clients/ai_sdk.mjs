/** The same program with the AI SDK, whose OAuth client is its own. It gets a document's address as the id of its client. */
import { auth, createMCPClient } from "@ai-sdk/mcp";
import { providerOf } from "./mcp.mjs";

/**
 * Is sent to the person, redeems the code, calls a tool, and calls it again with an access token that the server refuses.
 * @returns {Promise<any>}
 */
export async function useMcpServer(server_url, options) {
  const { client_id } = options;
  const provider = providerOf(options);
  const { stored } = provider;
  provider.clientInformation = () =>
    stored.client ?? (client_id === undefined ? undefined : { client_id });
  provider.storedState = provider.state;
  provider.saveAuthorizationServerInformation = (server) => void (stored.server = server);
  provider.authorizationServerInformation = () => stored.server;
  await auth(provider, { serverUrl: server_url });
  const { searchParams } = stored.returned;
  await auth(provider, {
    serverUrl: server_url,
    authorizationCode: searchParams.get("code"),
    callbackState: searchParams.get("state"),
    iss: searchParams.get("iss"),
  });
  const transport = { type: "http", url: server_url, authProvider: provider };
  const client = await createMCPClient({ transport });
  const { draw } = await client.tools();
  const call = async () =>
    (await draw.execute({}, { toolCallId: "1", messages: [] })).content[0].text;
  const before = await call();
  const granted = stored.tokens;
  stored.tokens = { ...granted, access_token: `${granted.access_token}x` };
  const after = await call();
  await client.close();
  return { before, after, granted, refreshed: stored.tokens };
}
