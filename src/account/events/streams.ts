/**
 * The account's open streams. Their sockets hibernate: an object with a thousand idle watchers sleeps,
 * and what it must know of each of them is kept with its socket. Each socket's `sent_line` is all the
 * order there is: whatever wakes the object, a stream gets the lines after it, one after another.
 */
import { errorName } from "../../domain/result.ts";
import { EVENTS_REPLAY_MAX_LINES, EVENTS_WATCHERS_MAX } from "../../domain/limits.ts";
import { limitsOf, type PersonalTokenStore } from "../sql/personal_token_store.ts";
import type { EntryRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";
import { lineMessage, snapshotMessage } from "./messages.ts";
import {
  CLOSE_NOT_LISTENING,
  CLOSE_PROOF_ENDED,
  CLOSE_RESUME,
  isFull,
  isProofGood,
  readWatcher,
  saveWatcher,
  type Watcher,
  type WatchRequest,
} from "./watcher.ts";

/** Entries sent to streams in one turn. The account serves other requests between two turns. */
const EVENTS_BATCH_LINES = 200;

/** What the streams read, and the sockets the platform keeps for them. */
export interface StreamSources {
  readonly context: DurableObjectState;
  readonly store: Store;
  readonly personal_tokens: PersonalTokenStore;
}

export class Streams {
  readonly #sources: StreamSources;
  #continuing = false;

  constructor(sources: StreamSources) {
    this.#sources = sources;
  }

  /** Whether one more stream may be opened. */
  hasRoom(): boolean {
    return this.#sources.context.getWebSockets().length < EVENTS_WATCHERS_MAX;
  }

  /** Opens a stream on an open account; everything here is one turn, so no line is between. */
  open(socket: WebSocket, { proof, after, reports_reading }: WatchRequest): void {
    const { context, store } = this.#sources;
    // Answered by the platform itself, so that a client's pulse does not wake the object.
    context.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    context.acceptWebSocket(socket);
    const newest = store.readNewestEntry();
    if (newest === null) return;
    const watcher = { proof, reports_reading, unread_bytes: 0 };
    if (after !== null && after <= newest.line && newest.line - after <= EVENTS_REPLAY_MAX_LINES) {
      saveWatcher(socket, { ...watcher, sent_line: after });
      this.publish();
      return;
    }
    saveWatcher(socket, { ...watcher, sent_line: newest.line });
    socket.send(snapshotMessage(newest));
  }

  /**
   * Sends every stream the lines it has not had, and closes those whose proof has ended. Never throws:
   * what is committed stands, whatever becomes of those who watch.
   */
  publish(): void {
    try {
      this.#tellAll();
    } catch (error) {
      const reason = errorName(error);
      console.warn({ event: "streams_not_told", reason });
    }
  }

  #tellAll(): void {
    const watching = this.#living().filter(([, watcher]) => !isFull(watcher));
    const newest = watching.length === 0 ? null : this.#sources.store.readNewestEntry();
    if (newest === null) return;
    const after_line = Math.min(...watching.map(([, { sent_line }]) => sent_line));
    if (after_line >= newest.line) return;
    const to_line = Math.min(newest.line, after_line + EVENTS_BATCH_LINES);
    const lines = this.#sources.store.readEntriesBetween(after_line, to_line);
    for (const entry of lines) this.#send(entry, watching);
    if ((lines.at(-1)?.line ?? newest.line) < newest.line) this.#continue();
  }

  /** Closes the streams that these sessions opened. */
  closeSessions(session_ids: readonly string[] | "all"): void {
    for (const [socket, { proof }] of this.#all()) {
      if (proof.kind !== "session") continue;
      if (session_ids === "all" || session_ids.includes(proof.session_id))
        close(socket, CLOSE_PROOF_ENDED, "session_ended");
    }
  }

  /** Closes every stream, and says why: the account's holder is let in no more. */
  closeAll(reason: CloseReason): void {
    for (const [socket] of this.#all()) close(socket, CLOSE_PROOF_ENDED, reason);
  }

  /**
   * Takes the Worker's report of what a client has read, and sends what waited for it. A client itself
   * only listens: one that talks would keep the object awake.
   */
  hear(socket: WebSocket, message: string | ArrayBuffer): void {
    const watcher = readWatcher(socket);
    const read_bytes = watcher.reports_reading ? Number(message) : Number.NaN;
    if (!Number.isSafeInteger(read_bytes)) {
      close(socket, CLOSE_NOT_LISTENING, "not_listening");
      return;
    }
    const unread_bytes = Math.max(0, watcher.unread_bytes - read_bytes);
    saveWatcher(socket, { ...watcher, unread_bytes });
    this.publish();
  }

  /**
   * Closes the streams whose proof has expired.
   * @returns when the next proof expires, in milliseconds since the epoch; null if no stream is open.
   */
  endExpired(): number | null {
    this.publish();
    const ends = this.#all().map(([, { proof }]) => proof.expires_at_ms);
    return ends.length === 0 ? null : Math.min(...ends);
  }

  #all(): [WebSocket, Watcher][] {
    return this.#sources.context
      .getWebSockets()
      .filter((socket) => socket.readyState === WebSocket.OPEN)
      .map((socket) => [socket, readWatcher(socket)]);
  }

  #living(): [WebSocket, Watcher][] {
    const now_ms = Date.now();
    const { personal_tokens } = this.#sources;
    return this.#all().filter(([socket, { proof }]) => {
      if (isProofGood(proof, now_ms, (id) => personal_tokens.read(id))) return true;
      close(socket, CLOSE_PROOF_ENDED, "proof_ended");
      return false;
    });
  }

  #send(entry: EntryRow, watching: [WebSocket, Watcher][]): void {
    const { store } = this.#sources;
    let made: { readonly text: string; readonly bytes: number } | null = null;
    for (const watched of watching) {
      const [socket, watcher] = watched;
      if (watcher.sent_line >= entry.line || isFull(watcher)) continue;
      const message = this.#maySee(watcher, entry) ? (made ??= sized(store, entry)) : null;
      const unread_bytes = watcher.unread_bytes + (message?.bytes ?? 0);
      watched[1] = { ...watcher, sent_line: entry.line, unread_bytes };
      saveWatcher(socket, watched[1]);
      if (message === null) continue;
      try {
        socket.send(message.text);
      } catch {
        // It closed under our hands; its client resumes after the last line it has.
      }
      if (isFull(watched[1]) && !watcher.reports_reading) close(socket, CLOSE_RESUME, "resume");
    }
  }

  /** A token limited to some apps sees their lines alone, as in the ledger's list. */
  #maySee({ proof }: Watcher, { app_slug }: EntryRow): boolean {
    const personal_token =
      proof.kind === "personal_token"
        ? this.#sources.personal_tokens.read(proof.personal_token_id)
        : null;
    const app_slugs = personal_token === null ? null : limitsOf(personal_token).app_slugs;
    return app_slugs === null || (app_slug !== null && app_slugs.includes(app_slug));
  }

  /** The rest in a later turn, so that a long replay does not make the account's money wait. */
  #continue(): void {
    if (this.#continuing) return;
    this.#continuing = true;
    setTimeout(() => {
      this.#continuing = false;
      this.publish();
    }, 0);
  }
}

function sized(store: Store, entry: EntryRow): { readonly text: string; readonly bytes: number } {
  const text = lineMessage(store, entry);
  return { text, bytes: new TextEncoder().encode(text).byteLength };
}

/** Why a stream was closed, for programs: the second word that a WebSocket's end carries. */
export type CloseReason =
  | "session_ended"
  | "suspended"
  | "account_deleted"
  | "proof_ended"
  | "not_listening"
  | "resume";

function close(socket: WebSocket, code: number, reason: CloseReason): void {
  try {
    socket.close(code, reason);
  } catch {
    // Closed already.
  }
}
