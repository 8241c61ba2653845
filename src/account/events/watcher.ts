/** One open stream as its WebSocket remembers it while the object sleeps. */
import { EVENTS_QUEUE_MAX_BYTES, EVENTS_WINDOW_BYTES } from "../../domain/limits.ts";
import type { PersonalTokenRow } from "../sql/personal_token_store.ts";

/** By which proof a stream was opened, and until when that proof is good. */
export type WatcherProof =
  | { readonly kind: "session"; readonly session_id: string; readonly expires_at_ms: number }
  | {
      readonly kind: "personal_token";
      readonly personal_token_id: string;
      readonly expires_at_ms: number;
    };

/**
 * What the Worker says of a stream to open. `after`: the last line that the client has, null: none.
 * `reports_reading`: the Worker holds the stream, and sends the number of bytes that the client has read.
 */
export interface WatchRequest {
  readonly proof: WatcherProof;
  readonly after: number | null;
  readonly reports_reading: boolean;
}

/** What an open stream's socket carries. */
export interface Watcher {
  readonly proof: WatcherProof;
  readonly sent_line: number;
  /** Bytes that were sent and not reported as read. */
  readonly unread_bytes: number;
  readonly reports_reading: boolean;
}

/**
 * Whether a stream takes no more for now. Where nobody reports, it never will again: the platform does
 * not tell how much of a WebSocket's queue has left.
 */
export function isFull({ reports_reading, unread_bytes }: Watcher): boolean {
  return unread_bytes >= (reports_reading ? EVENTS_WINDOW_BYTES : EVENTS_QUEUE_MAX_BYTES);
}

/** Close codes; 4000 to 4999 are an application's own (RFC 6455, section 7.4.2). */
export const CLOSE_PROOF_ENDED = 4401;
export const CLOSE_RESUME = 4408;
export const CLOSE_NOT_LISTENING = 1008;

/** The header in which the Worker hands the object a {@link WatchRequest}, as JSON. */
export const WATCH_HEADER = "Passbook-Watch";

/** The WebSocket subprotocol of the stream, and what a token begins with beside it. */
export const WATCH_PROTOCOL = "passbook";

export function readWatcher(socket: WebSocket): Watcher {
  return socket.deserializeAttachment() as Watcher;
}

export function saveWatcher(socket: WebSocket, watcher: Watcher): void {
  socket.serializeAttachment(watcher);
}

/** Whether a watcher's proof is good now. `readToken` finds a personal token's row while it lives. */
export function isProofGood(
  proof: WatcherProof,
  now_ms: number,
  readToken: (id: string) => PersonalTokenRow | null,
): boolean {
  if (proof.expires_at_ms <= now_ms) return false;
  return proof.kind === "session" || readToken(proof.personal_token_id) !== null;
}
