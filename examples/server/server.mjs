// A server that runs jobs for its users: POST /render with the user's session token as bearer.
import { createServer } from "node:http";
import { createClient, createTokenVerifier, PassbookError } from "passbook-client";

const baseUrl = process.env.PASSBOOK_URL ?? "http://localhost:8787";
// Tokens of this app's own page only: another app of the family must not act here.
const origins = [process.env.PAGE_ORIGIN ?? "http://localhost:5173"];
const verifyToken = createTokenVerifier({ baseUrl, origins });

// Stands for the real work.
async function render(words, signal) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  signal.throwIfAborted();
  if (words === "") throw new Error("There is nothing to render.");
  return `~ ${words} ~`;
}

async function bodyOf(request) {
  let text = "";
  for await (const chunk of request) {
    text += chunk;
    if (text.length > 10_000) throw new Error("That is too long.");
  }
  return JSON.parse(text);
}

async function answer(request, response) {
  if (request.method !== "POST" || request.url !== "/render") return [404, { error: "Not here." }];
  const [, token] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "") ?? [];
  if (token === undefined) return [401, { error: "Send your Passbook token." }];
  await verifyToken(token);
  const { words } = await bodyOf(request);
  const stopping = new AbortController();
  // Of this response: the connection may go on to other requests.
  response.once("close", () => stopping.abort(new Error("The caller went away.")));

  // The client is the user's: their wallet pays, and only theirs.
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
  const [status, body] = await answer(request, response).catch((error) =>
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
