/** One open stream as its WebSocket remembers it while the object sleeps. */
import type { PersonalTokenRow } from "../personal_tokens/store.ts";

/** By which proof a stream was opened, and until when that proof is good. */
export type WatcherProof =
  | { readonly kind: "session"; readonly session_id: string; readonly expires_at_ms: number }
  | {
      readonly kind: "personal_token";
      readonly personal_token_id: string;
      readonly expires_at_ms: number;
    };

/** What the Worker says of whoever opens a stream; `after`: the last line they have, null: none. */
export interface WatchRequest {
  readonly proof: WatcherProof;
  readonly after: number | null;
}

/** What an open stream's socket carries: the proof it stands on, and the last line it was sent. */
export interface Watcher {
  readonly proof: WatcherProof;
  readonly sent_line: number;
}

/** Close codes; 4000 to 4999 are an application's own (RFC 6455, section 7.4.2). */
export const CLOSE_PROOF_ENDED = 4401;
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
