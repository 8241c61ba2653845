/** The state of one open stream, stored with its WebSocket while the object is evicted. */
import { EVENTS_QUEUE_MAX_BYTES, EVENTS_WINDOW_BYTES } from "../../domain/limits.ts";
import type { Credential } from "../../domain/proof.ts";
import type { HOLDER, PageCaller } from "../contract.ts";

/** The credential that a stream was opened with, and when it expires. */
type WatcherProof =
  /** An app's server sees only the entries of its app. */
  | {
      readonly kind: "app";
      readonly app_slug: string;
      readonly expires_at_ms: number;
    }
  | {
      readonly kind: "session";
      readonly session_id: string;
      /** Our own pages, or the page that the session acts through. */
      readonly through: typeof HOLDER | PageCaller;
      readonly expires_at_ms: number;
    }
  | {
      readonly kind: "allowance";
      readonly credential: Credential;
      readonly expires_at_ms: number;
    };

/**
 * The Worker's request for a stream. `after`: the number of the last entry that the client has; null: none.
 * `reports_reading`: the Worker forwards the stream, and reports how many bytes the client has read.
 */
export interface WatchRequest {
  readonly proof: WatcherProof;
  readonly after: number | null;
  readonly reports_reading: boolean;
}

export interface Watcher {
  readonly proof: WatcherProof;
  readonly sent_line: number;
  /** Bytes that were sent and not yet reported as read. */
  readonly unread_bytes: number;
  readonly reports_reading: boolean;
}

/**
 * Whether nothing more may be sent for now. Without reports a full stream stays full, because the platform does not
 * tell how much of a WebSocket's queue was sent.
 */
export function isFull({ reports_reading, unread_bytes }: Watcher): boolean {
  return unread_bytes >= (reports_reading ? EVENTS_WINDOW_BYTES : EVENTS_QUEUE_MAX_BYTES);
}

/** Close codes; 4000 to 4999 are an application's own (RFC 6455, section 7.4.2). */
export const CLOSE_PROOF_ENDED = 4401;
export const CLOSE_RESUME = 4408;
export const CLOSE_NOT_LISTENING = 1008;

/** The header with the Worker's {@link WatchRequest}, as JSON. */
export const WATCH_HEADER = "Passbook-Watch";

/** The WebSocket subprotocol of the stream. */
export const WATCH_PROTOCOL = "passbook";

export function readWatcher(socket: WebSocket): Watcher {
  return socket.deserializeAttachment() as Watcher;
}

export function saveWatcher(socket: WebSocket, watcher: Watcher): void {
  socket.serializeAttachment(watcher);
}

/** The account's knowledge about the proofs of streams. */
export interface ProofChecks {
  readonly isLiving: (credential: Credential) => boolean;
  /** Whether the account is open for an app's server. */
  readonly isOpenFor: (app_slug: string) => boolean;
  /** Whether the holder stopped one of these apps, or any app if it is not known which. */
  readonly isStopped: (app_slugs: readonly string[] | null) => boolean;
}

/** Whether a stream's credential is valid now. */
export function isProofGood(
  proof: WatcherProof,
  now_ms: number,
  { isLiving, isOpenFor, isStopped }: ProofChecks,
): boolean {
  if (proof.expires_at_ms <= now_ms) return false;
  switch (proof.kind) {
    case "session": {
      const { through } = proof;
      return through.kind === "holder" || !isStopped(through.app_slugs);
    }
    case "allowance":
      return isLiving(proof.credential);
    case "app":
      return isOpenFor(proof.app_slug);
  }
}
