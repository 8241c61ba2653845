// An MCP server with a tool that costs credits. An operator registered its address as a resource that charges.
import { serve } from "@hono/node-server";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { createProtectedResource, isPassbookError } from "passbook-client/resource";

const port = Number(process.env.PORT ?? 4000);
const resource = createProtectedResource({
  baseUrl: process.env.PASSBOOK_URL ?? "http://localhost:8787",
  resource: process.env.RESOURCE ?? `http://localhost:${port}/mcp`,
  scopes: ["draw"],
  client: { id: process.env.CLIENT_ID, secret: process.env.CLIENT_SECRET },
});

const say = (text, isError = false) => ({ content: [{ type: "text", text }], isError });

const mcp = createMcpHandler(({ authInfo }) => {
  const server = new McpServer({ name: "Lighthouses", version: "1.0.0" });
  server.registerTool("draw", { description: "Draws a lighthouse for 20 credits." }, async () => {
    try {
      const job = { action: "draw", costEstimate: 20 };
      const paid = await resource.charge(authInfo, job, async () => ({
        result: "A lighthouse",
        actualCost: 20,
      }));
      return say(`${paid.result}, for ${paid.job.actual_cost} credits`);
    } catch (error) {
      if (!isPassbookError(error)) throw error;
      const { approval_url } = error.body;
      return say(approval_url ? `Allow it at ${approval_url}` : error.message, true);
    }
  });
  return server;
});

// `online`: an agent whose connection was revoked is refused at once, also where nothing is charged.
const fetch = resource.protect(
  (request, { token, client_id, scopes }) =>
    mcp.fetch(request, { authInfo: { token, clientId: client_id, scopes } }),
  { online: true },
);
serve({ fetch, port }, () => console.log(`Listening on ${resource.metadata.resource}`));
