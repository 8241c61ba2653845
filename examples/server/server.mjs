// A server that runs jobs for its users: POST /render with the user's session token as bearer token.
import { createServer } from "node:http";
import { createClient, PassbookError } from "passbook-client";
import { createTokenVerifier } from "passbook-client/server";

const baseUrl = process.env.PASSBOOK_URL ?? "http://localhost:8787";
// Accepts tokens of this app's own page only, so that no other app can use them here.
const origins = [process.env.PAGE_ORIGIN ?? "http://localhost:5173"];
const verifyToken = createTokenVerifier({ baseUrl, origins });

// Stands for the real work.
async function render(words, signal) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  signal.throwIfAborted();
  if (words === "") throw new Error("words is empty. Send what to render.");
  return `~ ${words} ~`;
}

async function bodyOf(request) {
  let text = "";
  for await (const chunk of request) {
    text += chunk;
    if (text.length > 10_000)
      throw new Error("The body is too long. Send at most 10,000 characters.");
  }
  return JSON.parse(text);
}

async function handle(request, response) {
  if (request.method !== "POST" || request.url !== "/render")
    return [404, { error: "Not found. Use POST /render." }];
  const [, token] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "") ?? [];
  if (token === undefined)
    return [401, { error: "Send your Passbook session token as a bearer token." }];
  await verifyToken(token);
  const { words } = await bodyOf(request);
  const stopping = new AbortController();
  // Listens to the response, since the connection may serve other requests.
  response.once("close", () => stopping.abort(new Error("The caller closed the connection.")));

  // The client has the user's token, so that user's wallet pays.
  const passbook = createClient({ baseUrl, token });
  await passbook.wallet({ app: "sketch" });
  const { result, credits } = await passbook.runJob(
    { app: "sketch", action: "render", costEstimate: 20, metadata: { description: words } },
    async ({ signal }) => {
      const picture = await render(words, signal);
      return { result: picture, actualCost: picture.length };
    },
    { signal: stopping.signal },
  );
  return [200, { result, credits }];
}

async function serve(request, response) {
  const [status, body] = await handle(request, response).catch((error) =>
    error instanceof PassbookError
      ? [error.status ?? 502, { error: error.message, code: error.code }]
      : [400, { error: error.message }],
  );
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(body));
}

const server = createServer((request, response) => void serve(request, response));
server.listen(Number(process.env.PORT ?? 3000), () => {
  console.log(`Listening on http://localhost:${server.address().port}`);
});
