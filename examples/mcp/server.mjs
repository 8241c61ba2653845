// An MCP server that people's agents use with their Passbook account. An operator registered its address as a resource.
import { serve } from "@hono/node-server";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { createProtectedResource } from "passbook-client/resource";

const port = Number(process.env.PORT ?? 4000);
const resource = createProtectedResource({
  baseUrl: process.env.PASSBOOK_URL ?? "http://localhost:8787",
  resource: process.env.RESOURCE ?? `http://localhost:${port}/mcp`,
  scopes: ["draw"],
});

const mcp = createMcpHandler(({ authInfo }) => {
  const server = new McpServer({ name: "Lighthouses", version: "1.0.0" });
  server.registerTool("draw", { description: "Draws a lighthouse." }, async () => ({
    content: [{ type: "text", text: `A lighthouse for ${String(authInfo.extra.identity_id)}` }],
  }));
  return server;
});

const fetch = resource.protect((request, { token, client_id, scopes, identity_id }) =>
  mcp.fetch(request, { authInfo: { token, clientId: client_id, scopes, extra: { identity_id } } }),
);
serve({ fetch, port }, () => console.log(`Listening on ${resource.metadata.resource}`));
