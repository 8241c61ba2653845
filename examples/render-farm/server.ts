// A render farm: the page sends the person's token, the server charges the person with the app's key, reports its progress,
// and keeps the balance that the webhook tells. Register the app with `settle: app`.
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isPassbookError } from "passbook-client";
import {
  createAppClient,
  createAppServer,
  createTokenVerifier,
  verifyWebhook,
} from "passbook-client/server";

const { PASSBOOK_URL: baseUrl = "http://localhost:8787", PASSBOOK_APP: app = "render-farm" } =
  process.env;
const key = process.env.PASSBOOK_APP_KEY ?? "";
const port = Number(process.env.PORT ?? 3000);
const origin = process.env.ORIGIN ?? `http://localhost:${port}`;

const page = readFileSync(new URL("page.html", import.meta.url), "utf8")
  .replaceAll("%PASSBOOK_URL%", baseUrl)
  .replaceAll("%PASSBOOK_APP%", app);
const verifyToken = createTokenVerifier({ baseUrl, origins: [origin] });

const FRAMES = 5;
const CREDITS_PER_FRAME = 4;

interface Account {
  credits: number | null;
  held: number | null;
  /** The number of the ledger entry that the balance is of. */
  line: number;
  progress: string;
}
const accounts = new Map<string, Account>();

function accountOf(identity: string): Account {
  const account = accounts.get(identity) ?? { credits: null, held: null, line: 0, progress: "" };
  accounts.set(identity, account);
  return account;
}

async function render(identity: string): Promise<void> {
  const account = accountOf(identity);
  const passbook = createAppClient({ baseUrl, key, identity });
  const costEstimate = FRAMES * CREDITS_PER_FRAME;
  await passbook.runJob(
    { app, action: "film", costEstimate, ttlSeconds: 300 },
    async ({ progress, signal }) => {
      for (let frame = 1; frame <= FRAMES; frame += 1) {
        await new Promise((resolve) => setTimeout(resolve, 100)); // the real work
        signal.throwIfAborted();
        // If this server dies, the person pays only for the frames that are done.
        await progress({ spent: frame * CREDITS_PER_FRAME, ttlSeconds: 300 });
        account.progress = `${frame} of ${FRAMES} frames`;
      }
      return { result: "film.mp4", actualCost: FRAMES * CREDITS_PER_FRAME };
    },
    { onFailure: "charge_spent" },
  );
}

/** Creates the webhook, or replaces its secret, which a restarted server does not know. */
async function openWebhook(): Promise<string> {
  const { webhooks } = createAppServer({ baseUrl, key });
  const known = (await webhooks.list()).some(({ id }) => id === "balance");
  if (known) return (await webhooks.rotate("balance")).secret ?? "";
  const events = ["job.created", "job.completed", "job.failed", "job.expired"] as const;
  const saved = await webhooks.save("balance", { url: `${origin}/webhook`, events: [...events] });
  return saved.secret ?? "";
}

let secret = "";

async function receive(request: IncomingMessage): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const event = await verifyWebhook({
    body: Buffer.concat(chunks),
    headers: request.headers,
    secret,
  });
  if (!("line" in event.data) || !("credits" in event.data)) return;
  const { identity_id, line, credits, held } = event.data;
  const account = accountOf(identity_id);
  // A repeated delivery may be older than what is known.
  if (line >= account.line) Object.assign(account, { line, credits, held });
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const send = (status: number, body: object): void =>
    void response
      .writeHead(status, { "Content-Type": "application/json" })
      .end(JSON.stringify(body));
  const { pathname } = new URL(request.url ?? "/", origin);
  if (pathname === "/webhook") {
    await receive(request);
    return send(200, {});
  }
  if (pathname === "/") {
    return void response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(page);
  }
  const [, token = ""] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "") ?? [];
  const { identity_id } = await verifyToken(token);
  if (pathname === "/state") return send(200, accountOf(identity_id));
  if (pathname !== "/render" || request.method !== "POST")
    return send(404, { error: "Not found." });
  accountOf(identity_id).progress = "Starting …";
  render(identity_id).catch((error: Error) => (accountOf(identity_id).progress = error.message));
  send(202, {});
}

createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    const status = isPassbookError(error) ? (error.status ?? 401) : 500;
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ error: error instanceof Error ? error.message : "Failed." }));
  });
}).listen(port, () => void start());

async function start(): Promise<void> {
  try {
    secret = await openWebhook();
    console.log(`Listening on ${origin}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
