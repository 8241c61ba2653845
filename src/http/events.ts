/** `GET /api/events`: the account's changes as they happen, as WebSocket or `text/event-stream`. */
import * as z from "zod/mini";
import { openWatch, WATCH_PROTOCOL, type WatcherProof } from "../account/watch_client.ts";
import { EVENTS_PULSE_MS, EVENTS_SESSION_CHECK_MS } from "../domain/limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Result } from "../domain/result.ts";
import { identify, identifyByBearer } from "./authenticate.ts";
import { factory, type AppContext, type Principal } from "./context.ts";
import { isFromForeignPage } from "./origins.ts";
import { countAuthenticated } from "./rate_limits.ts";
import { refuse } from "./refusals.ts";
import { queryText, validQuery } from "./validation.ts";

const LINE = /^(0|[1-9]\d{0,14})$/;
const NOT_A_LINE = "must be the number of a line";
export const watchEventsQuery = z.object({
  after: z.optional(z.pipe(queryText.check(z.regex(LINE, NOT_A_LINE)), z.transform(Number))),
});

/** How a browser's WebSocket brings a token, since it cannot set a header of its own. */
const BEARER_PROTOCOL = "bearer.";

export const watchEvents = factory.createHandlers(validQuery(watchEventsQuery), async (context) => {
  const principal = await identifyWatcher(context);
  if (!principal.ok) return refuse(context, principal.refusal);
  const { identity_id, via, proof } = principal.value;
  if (via === "cookie" && (await isFromForeignPage(context))) {
    return refuse(context, { code: "origin_not_allowed" });
  }
  const limited = await countAuthenticated(context, principal.value);
  if (limited !== null) return refuse(context, limited);
  const { accounts } = context.get("services");
  // A browser that reconnects by itself repeats the address and says in the header where it is.
  const last_event_id = context.req.header("Last-Event-ID");
  if (last_event_id !== undefined && !LINE.test(last_event_id)) {
    return refuse(context, { code: "invalid_request", detail: `Last-Event-ID ${NOT_A_LINE}.` });
  }
  const after =
    last_event_id === undefined
      ? (context.req.valid("query").after ?? null)
      : Number(last_event_id);
  const opened = await openWatch(accounts(identity_id), { proof: proofOf(proof), after });
  if (!opened.ok) return refuse(context, opened.refusal);
  const socket = opened.value.webSocket;
  if (socket === null) throw new Error("an upgrade brings a socket");
  return wantsWebSocket(context) ? upgrade(context, socket) : stream(context, socket);
});

function wantsWebSocket(context: AppContext): boolean {
  return context.req.header("Upgrade")?.toLowerCase() === "websocket";
}

/** Who asks: a bearer in the header or among the subprotocols, otherwise a browser's cookies. */
function identifyWatcher(context: AppContext): Promise<Result<Principal, Refusal>> {
  const token = offeredProtocols(context).find((it) => it.startsWith(BEARER_PROTOCOL));
  if (token === undefined || context.req.header("Authorization") !== undefined) {
    return identify(context);
  }
  return identifyByBearer(context, `Bearer ${token.slice(BEARER_PROTOCOL.length)}`);
}

function offeredProtocols(context: AppContext): string[] {
  if (!wantsWebSocket(context)) return [];
  const offered = context.req.header("Sec-WebSocket-Protocol") ?? "";
  return offered.split(",").map((protocol) => protocol.trim());
}

/** A personal token's own end is known to the account; a session's stream proves itself anew. */
function proofOf(proof: Principal["proof"]): WatcherProof {
  return proof.kind === "personal_token"
    ? { ...proof, expires_at_ms: Number.MAX_SAFE_INTEGER }
    : { ...proof, expires_at_ms: Date.now() + EVENTS_SESSION_CHECK_MS };
}

/** Hands the account's own socket to the client; a protocol is answered only where it was offered. */
function upgrade(context: AppContext, webSocket: WebSocket): Response {
  const headers = new Headers();
  if (offeredProtocols(context).includes(WATCH_PROTOCOL)) {
    headers.set("Sec-WebSocket-Protocol", WATCH_PROTOCOL);
  }
  return new Response(null, { status: 101, webSocket, headers });
}

/** The same messages as server-sent events. The Worker holds the connection, so the object may sleep. */
function stream(context: AppContext, socket: WebSocket): Response {
  const encoder = new TextEncoder();
  let pulse: number | null = null;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string): void => controller.enqueue(encoder.encode(text));
      const end = (): void => {
        clearInterval(pulse);
        try {
          controller.close();
        } catch {
          // The client went first.
        }
      };
      send("retry: 1000\n\n");
      socket.addEventListener("message", ({ data }) => {
        const { line } = JSON.parse(String(data)) as { line: number };
        send(`id: ${line}\ndata: ${String(data)}\n\n`);
      });
      socket.addEventListener("close", end);
      socket.addEventListener("error", end);
      pulse = setInterval(() => send(": alive\n\n"), EVENTS_PULSE_MS);
      socket.accept();
    },
    cancel() {
      clearInterval(pulse);
      socket.close(1000, "The client went away.");
    },
  });
  context.header("Content-Type", "text/event-stream; charset=utf-8");
  context.header("X-Accel-Buffering", "no");
  return context.body(body);
}
