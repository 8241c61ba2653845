/** A program that uses an MCP server through an official SDK, with the OAuth client of that SDK. */
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from "@modelcontextprotocol/client";

/** The versions of package.json. */
export const SDKS = {
  "SDK 1.32.2": {
    Client: ClientV1,
    Transport: TransportV1,
    paramsOf: (url) => url.searchParams.get("code"),
  },
  "SDK 2.4.0": { Client: ClientV2, Transport: TransportV2, paramsOf: (url) => url.searchParams },
};

/** Stores what the SDK obtains, in memory. `visit` is the person's browser: it returns the address of the redirect. */
export function providerOf({ client_id, redirect_uri, scope, visit }) {
  const stored = {
    client: undefined,
    tokens: undefined,
    verifier: "",
    discovery: undefined,
    returned: undefined,
  };
  return {
    stored,
    authorizations: [],
    clientMetadataUrl: client_id,
    redirectUrl: redirect_uri,
    clientMetadata: {
      client_name: "An agent",
      redirect_uris: [redirect_uri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      ...(scope === undefined ? {} : { scope }),
    },
    state: () => "the-state",
    clientInformation: () => stored.client,
    saveClientInformation: (client) => void (stored.client = client),
    tokens: () => stored.tokens,
    saveTokens: (tokens) => void (stored.tokens = tokens),
    saveCodeVerifier: (verifier) => void (stored.verifier = verifier),
    codeVerifier: () => stored.verifier,
    saveDiscoveryState: (state) => void (stored.discovery = state),
    discoveryState: () => stored.discovery,
    async redirectToAuthorization(url) {
      this.authorizations.push(url);
      stored.returned = await visit(url);
    },
  };
}

/**
 * Connects, is sent to the person, redeems the code, calls a tool, and calls it again with an access token that the server
 * refuses, so that the SDK refreshes.
 * @returns {Promise<any>}
 */
export async function useMcpServer({ Client, Transport, paramsOf }, server_url, options) {
  const provider = providerOf(options);
  const open = async () => {
    const transport = new Transport(new URL(server_url), { authProvider: provider });
    const client = new Client({ name: "agent", version: "1.0.0" });
    try {
      await client.connect(transport);
      return { client, transport };
    } catch (error) {
      if (provider.stored.returned === undefined) throw error;
      return { client: null, transport };
    }
  };
  const first = await open();
  if (first.client !== null) throw new Error("the server asked for no token");
  await first.transport.finishAuth(paramsOf(provider.stored.returned));
  const { client } = await open();
  const call = async () => (await client.callTool({ name: "draw", arguments: {} })).content[0].text;
  const before = await call();
  const granted = provider.stored.tokens;
  provider.stored.tokens = { ...granted, access_token: `${granted.access_token}x` };
  const after = await call();
  await client.close();
  const refreshed = provider.stored.tokens;
  return { before, after, granted, refreshed, authorizations: provider.authorizations };
}
