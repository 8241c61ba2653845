/** `GET /api/events`: the account's changes, over a WebSocket or as server-sent events. */
import * as z from "zod/mini";
import {
  CLOSE_PROOF_ENDED,
  openWatch,
  WATCH_PROTOCOL,
  type WatchRequest,
} from "../../../account/clients/accounts.ts";
import { isRegisteredClientId } from "../../../domain/oauth_client.ts";
import { isOfAllowance, type AppProof, type Proof } from "../../../domain/proof.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import type { Result } from "../../../domain/result.ts";
import { appKeyOf, identifyApp } from "../../caller/app_key.ts";
import { identify, identifyByBearer, identifyBySession } from "../../caller/authenticate.ts";
import { isOfDeletedClient } from "../../caller/deleted_registrations.ts";
import type { AppCaller, AppContext, UserCaller } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { isFromForeignPage } from "../../middleware/origins.ts";
import { countApp, countAuthenticated } from "../../middleware/rate_limits.ts";
import { refuse } from "../../refusals.ts";
import { serverSentEvents } from "./server_sent_events.ts";
import { queryText } from "../../validation.ts";

const LINE = /^(0|[1-9]\d{0,14})$/;
const NOT_AN_ENTRY = "must be the number of a ledger entry";
const watchEventsQuery = z.object({
  after: z.optional(z.pipe(queryText.check(z.regex(LINE, NOT_AN_ENTRY)), z.transform(Number))),
});

/** A person, or an app's server in an account. */
type Watching = UserCaller | (Omit<AppCaller, "proof"> & { readonly proof: AppProof });

const SESSION_ENDED: Refusal = { code: "unauthorized", reason: "session_ended" };

/** The subprotocol that carries a token: the WebSocket API of browsers cannot set headers. */
const BEARER_PROTOCOL = "bearer.";

export const watchEvents = endpoint(
  {
    at: "GET /api/events",
    caller: "user_or_app",
    identifies: true,
    query: watchEventsQuery,
    refusals: ["origin_not_allowed", "limit_reached:streams"],
  },
  async (context, { query }) => {
    const caller = await identifyWatcher(context);
    if (!caller.ok) return refuse(context, caller.refusal);
    context.set("caller", caller.value);
    const { identity_id, via, proof } = caller.value;
    if (via === "cookie" && (await isFromForeignPage(context))) {
      return refuse(context, { code: "origin_not_allowed" });
    }
    const limited = await countWatch(context, caller.value);
    if (limited !== null) return refuse(context, limited);
    const expires_at_ms = await streamEnd(context, caller.value);
    if (expires_at_ms === null) return refuse(context, SESSION_ENDED);
    const { accounts } = context.get("services");
    // When an EventSource reconnects, it repeats the URL and sends its position in the header.
    const last_event_id = context.req.header("Last-Event-ID");
    if (last_event_id !== undefined && !LINE.test(last_event_id)) {
      return refuse(context, { code: "invalid_request", detail: `Last-Event-ID ${NOT_AN_ENTRY}.` });
    }
    const after = last_event_id === undefined ? (query.after ?? null) : Number(last_event_id);
    const is_socket = wantsWebSocket(context);
    const watch = {
      proof: watcherProof(caller.value, expires_at_ms),
      after,
      reports_reading: !is_socket,
    };
    const opened = await openWatch(accounts(identity_id), watch);
    if (!opened.ok) return refuse(context, opened.refusal);
    const socket = opened.value.webSocket;
    if (socket === null) throw new Error("the account returned no socket");
    // The account closes open streams when a session ends. This session may have ended before the stream was open, so it
    // is checked again.
    if ((await streamEnd(context, caller.value)) === null) {
      socket.accept();
      socket.close(CLOSE_PROOF_ENDED, "session_ended");
      return refuse(context, SESSION_ENDED);
    }
    return is_socket ? upgrade(context, socket) : stream(context, socket, proof);
  },
);

/** An app's session belongs to no session of ours, so only signing out everywhere and its expiry end its streams. */
function watcherProof(
  { account_caller: caller, proof }: Watching,
  expires_at_ms: number,
): WatchRequest["proof"] {
  switch (caller.kind) {
    case "holder":
    case "page": {
      const session_id = proof.kind === "session" ? proof.session_id : "";
      return { kind: "session", session_id, through: caller, expires_at_ms };
    }
    case "allowance":
    case "app":
      return { ...caller, expires_at_ms };
  }
}

function countWatch(context: AppContext, watching: Watching) {
  return "expires_at_ms" in watching
    ? countAuthenticated(context, watching)
    : countApp(context, watching.proof);
}

function wantsWebSocket(context: AppContext): boolean {
  return context.req.header("Upgrade")?.toLowerCase() === "websocket";
}

/** The caller: by a bearer token in the header or a subprotocol, otherwise by cookies. */
async function identifyWatcher(context: AppContext): Promise<Result<Watching, Refusal>> {
  const key = appKeyOf(context);
  if (key !== null) {
    return identifyApp(context, key);
  }
  if (context.req.header("Authorization") !== undefined) return identify(context);
  const token = offeredProtocols(context).find((protocol) => protocol.startsWith(BEARER_PROTOCOL));
  if (token === undefined) return identifyBySession(context);
  return identifyByBearer(context, `Bearer ${token.slice(BEARER_PROTOCOL.length)}`);
}

/**
 * The longest stream of an app's key after the directory had the key: a revoked key gets nothing any more after a minute.
 * Also the longest WebSocket of a registered client: the Worker cannot check an open one, and the client may be deleted.
 */
const CHECKED_STREAM_MS = 60_000;

/**
 * The time at which the stream ends: the expiry of the caller's token, or the end of the session if that is sooner. Null if
 * the session has ended. The account checks personal access tokens itself.
 */
async function streamEnd(context: AppContext, watching: Watching): Promise<number | null> {
  if (!("expires_at_ms" in watching)) return watching.proof.checked_at_ms + CHECKED_STREAM_MS;
  const { identity_id, proof, expires_at_ms } = watching;
  if (proof.kind !== "session") {
    const client_id = isOfAllowance(proof) ? (proof.client_id ?? "") : "";
    const may_be_deleted = isRegisteredClientId(client_id);
    return may_be_deleted && wantsWebSocket(context)
      ? Math.min(expires_at_ms, Date.now() + CHECKED_STREAM_MS)
      : expires_at_ms;
  }
  const { identity } = context.get("services");
  const session = await identity.readSession(proof.session_id, identity_id);
  return session === null ? null : Math.min(expires_at_ms, session.ends_at_ms);
}

function offeredProtocols(context: AppContext): string[] {
  if (!wantsWebSocket(context)) return [];
  const offered = context.req.header("Sec-WebSocket-Protocol") ?? "";
  return offered.split(",").map((protocol) => protocol.trim());
}

/** Passes the account's socket to the client. The response names a subprotocol only if the client offered it. */
function upgrade(context: AppContext, webSocket: WebSocket): Response {
  const headers = new Headers();
  if (offeredProtocols(context).includes(WATCH_PROTOCOL)) {
    headers.set("Sec-WebSocket-Protocol", WATCH_PROTOCOL);
  }
  return new Response(null, { status: 101, webSocket, headers });
}

/** The same messages as server-sent events. The Worker holds the connection, so the object can hibernate. */
function stream(context: AppContext, socket: WebSocket, proof: Proof | AppProof): Response {
  context.header("Content-Type", "text/event-stream; charset=utf-8");
  context.header("X-Accel-Buffering", "no");
  return context.body(serverSentEvents(socket, () => isOfDeletedClient(context, proof)));
}
