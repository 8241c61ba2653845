// A third-party app: it connects to a person's account, spends within the limits that they set, and can be cut off.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createClient, isPassbookError } from "passbook-client";
import { createOAuthClient } from "passbook-client/oauth";

const baseUrl = process.env.PASSBOOK_URL ?? "http://localhost:8787";
const port = Number(process.env.PORT ?? 3000);
const origin = process.env.ORIGIN ?? `http://localhost:${port}`;

// The document that describes this app to Passbook. Its address is the client's id, so nobody registers anything.
const metadata = {
  client_id: `${origin}/oauth-client.json`,
  client_name: "Draw",
  redirect_uris: [`${origin}/callback`],
  grant_types: ["authorization_code", "refresh_token"],
  token_endpoint_auth_method: "none",
};
const oauth = createOAuthClient({
  baseUrl,
  clientId: metadata.client_id,
  redirectUri: `${origin}/callback`,
});

const link = (path, text) => ({
  html: `<form method="post" action="${path}"><button>${text}</button></form>`,
});

const routes = {
  "GET /": async (_, { connection }) =>
    connection === undefined ? link("/connect", "Connect") : link("/draw", "Draw"),
  "POST /connect": async (_, session) => {
    const { url, pending } = await oauth.start({ scopes: ["openid", "read", "write"] });
    session.pending = pending;
    return { to: url };
  },
  "GET /callback": async (url, session) => {
    session.connection = await oauth.callback(url, session.pending);
    return { to: "/" };
  },
  "POST /draw": async (_, { connection, approval }) => {
    const passbook = createClient({ baseUrl, token: connection.token });
    const { result, credits } = await passbook.runJob(
      // Nobody registered this client, so it acts as its own host.
      { app: new URL(origin).hostname, action: "lighthouse", costEstimate: 10, approval },
      async () => ({ result: "a lighthouse", actualCost: 8 }),
    );
    const next = link("/draw", "Draw").html + link("/disconnect", "Disconnect").html;
    return { html: `Here is ${result}; you have ${credits} credits.${next}` };
  },
  "POST /disconnect": async (_, session) => {
    await session.connection.revoke();
    delete session.connection;
    return { to: "/" };
  },
};

// A 402 says where the person allows this job beyond their limit, or buys credits. Both pages lead back here.
function afterRefusal({ approval, approval_url, topup_url }, session) {
  session.approval = approval ?? undefined;
  const page = approval_url ?? topup_url;
  if (page === null) return { html: "You have too few credits." };
  const way = new URL(page);
  way.searchParams.set("return_to", `${origin}/`);
  return { html: `<a href="${way.href.replaceAll("&", "&amp;")}">Continue at Passbook</a>` };
}

const sessions = new Map(); // a real app stores sessions and tokens in its database, and encrypts the tokens
async function serve(request, response) {
  const url = new URL(request.url, origin);
  if (url.pathname === "/oauth-client.json") {
    return response.setHeader("Content-Type", "application/json").end(JSON.stringify(metadata));
  }
  const [, known] = /draw_session=([\w-]+)/.exec(request.headers.cookie ?? "") ?? [];
  const id = sessions.has(known) ? known : randomUUID();
  const session = sessions.get(id) ?? {};
  sessions.set(id, session);
  response.setHeader("Set-Cookie", `draw_session=${id}; HttpOnly; SameSite=Lax; Path=/`);
  const handler = routes[`${request.method} ${url.pathname}`] ?? routes["GET /"];
  const { to, html } = await handler(url, session).catch((error) => {
    if (isPassbookError(error) && error.status === 402) return afterRefusal(error.body, session);
    if (isPassbookError(error, "invalid_grant")) delete session.connection;
    return { html: `It failed: ${isPassbookError(error) ? error.code : "try again"}` };
  });
  if (to !== undefined) return response.writeHead(303, { Location: to }).end();
  return response.setHeader("Content-Type", "text/html").end(html);
}

const server = createServer((request, response) => void serve(request, response));
server.listen(port, () => console.log(`Listening on ${origin}`));
