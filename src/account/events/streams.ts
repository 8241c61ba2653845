/**
 * The account's open streams. Their sockets hibernate, so an object with a thousand idle streams can be evicted; the
 * state of each stream is stored with its socket. `sent_line` is the number of the last entry that was sent. After any
 * wake-up a stream continues with the entries after it, in order.
 */
import { reportError } from "../../domain/error_report.ts";
import type { Credential } from "../../domain/proof.ts";
import { rootOfPath } from "../../domain/allowance.ts";
import {
  EVENTS_REPLAY_MAX_LINES,
  EVENTS_WATCHERS_MAX,
  EVENTS_WATCHERS_SHARE,
} from "../../domain/limits.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { findChain, limitsOfAll, type Chain } from "../allowances/credentials.ts";
import type { AllowanceRow, AllowanceStore } from "../sql/allowance_store.ts";
import type { FamilyStore } from "../sql/family_store.ts";
import type { EntryRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";
import { seesCredits } from "../wallet/app_access.ts";
import { entryMessage, snapshotMessage } from "./messages.ts";
import {
  CLOSE_NOT_LISTENING,
  CLOSE_PROOF_ENDED,
  CLOSE_RESUME,
  isFull,
  isProofGood,
  type ProofChecks,
  readWatcher,
  saveWatcher,
  WATCH_PROTOCOL,
  type Watcher,
  type WatchRequest,
} from "./watcher.ts";
import { requestFields } from "../../domain/request_origin.ts";

/** Entries sent to streams in one turn. The account serves other requests between two turns. */
const EVENTS_BATCH_LINES = 200;

/** What the streams read, and the platform's sockets. */
export interface StreamSources {
  readonly context: DurableObjectState;
  readonly store: Store;
  readonly allowances: AllowanceStore;
  readonly families: FamilyStore;
}

export class Streams {
  readonly #sources: StreamSources;
  #continuing = false;

  constructor(sources: StreamSources) {
    this.#sources = sources;
  }

  /** Why one more stream may not be opened; null if it may. `allowance`: the one that opens it; null: none. */
  whyNoRoom(allowance: Pick<AllowanceRow, "path"> | null): Refusal | null {
    const { context } = this.#sources;
    const refusal = { code: "too_many_watchers" } as const;
    if (context.getWebSockets().length >= EVENTS_WATCHERS_MAX) {
      return { ...refusal, of: "account", limit: EVENTS_WATCHERS_MAX };
    }
    if (allowance === null) return null;
    // A refreshed token is of the same allowance, and an exchanged one counts for its root.
    const open = context.getWebSockets(rootOfPath(allowance.path)).length;
    return open < EVENTS_WATCHERS_SHARE
      ? null
      : { ...refusal, of: "token", limit: EVENTS_WATCHERS_SHARE };
  }

  /** Opens a stream for a client. `personal_token`: the allowance that its token stands for; null: none. */
  accept(
    watch: WatchRequest,
    personal_token: Pick<AllowanceRow, "path" | "expires_at_ms"> | null,
  ): { readonly response: Response; readonly expires_at_ms: number } {
    const { proof } = watch;
    // A session token may live longer than the personal token that it was obtained with. The stream may not.
    const token_ends_ms = personal_token?.expires_at_ms ?? proof.expires_at_ms;
    const expires_at_ms = Math.min(proof.expires_at_ms, token_ends_ms);
    const { 0: client, 1: server } = new WebSocketPair();
    const root_id = personal_token === null ? null : rootOfPath(personal_token.path);
    this.open(server, { ...watch, proof: { ...proof, expires_at_ms } }, root_id);
    const headers = { "Sec-WebSocket-Protocol": WATCH_PROTOCOL };
    const response = new Response(null, { status: 101, webSocket: client, headers });
    return { response, expires_at_ms };
  }

  /** Opens a stream of an open account. `root_id`: the root allowance that it counts for; null: none. Nothing here is asynchronous, so no entry can be missed. */
  open(
    socket: WebSocket,
    { proof, after, reports_reading }: WatchRequest,
    root_id: string | null,
  ): void {
    const { context, store } = this.#sources;
    // The platform itself responds, so that a client's heartbeat does not wake the object.
    context.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    context.acceptWebSocket(socket, root_id === null ? [] : [root_id]);
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
   * Sends every stream the entries that it lacks, and closes streams whose proof has ended. Never throws, because the
   * operation that called it is committed.
   */
  publish(): void {
    try {
      this.#sendToAll();
    } catch (error) {
      console.warn({
        event: "stream_publication_failed",
        ...requestFields(),
        ...reportError(error),
      });
    }
  }

  #sendToAll(): void {
    const watching = this.#valid().filter(([, watcher]) => !isFull(watcher));
    const newest = watching.length === 0 ? null : this.#sources.store.readNewestEntry();
    if (newest === null) return;
    const after_line = Math.min(...watching.map(([, { sent_line }]) => sent_line));
    if (after_line >= newest.line) return;
    const to_line = Math.min(newest.line, after_line + EVENTS_BATCH_LINES);
    const entries = this.#sources.store.readEntriesBetween(after_line, to_line);
    for (const entry of entries) this.#send(entry, watching);
    if ((entries.at(-1)?.line ?? newest.line) < newest.line) this.#continue();
  }

  /** Closes the streams that these sessions opened. */
  closeSessions(session_ids: readonly string[] | "all"): void {
    for (const [socket, { proof }] of this.#all()) {
      if (proof.kind !== "session") continue;
      if (session_ids === "all" || session_ids.includes(proof.session_id))
        close(socket, CLOSE_PROOF_ENDED, "session_ended");
    }
  }

  /** Closes every stream, because the holder may not use the account any more. */
  closeAll(reason: CloseReason): void {
    for (const [socket] of this.#all()) close(socket, CLOSE_PROOF_ENDED, reason);
  }

  /**
   * Receives the Worker's report of how much a client has read, and sends what waited for it. Clients themselves may
   * not send messages, because these would keep the object awake.
   */
  receive(socket: WebSocket, message: string | ArrayBuffer): void {
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

  #valid(): [WebSocket, Watcher][] {
    const now_ms = Date.now();
    const checks: ProofChecks = {
      isLiving: (credential) => this.#chainOf(credential) !== null,
      isOpenFor: (app_slug) => this.#sources.store.readApp(app_slug)?.access === "open",
    };
    return this.#all().filter(([socket, { proof }]) => {
      if (isProofGood(proof, now_ms, checks)) return true;
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
        // The socket has just closed. Its client resumes after the last entry that it has.
      }
      if (isFull(watched[1]) && !watcher.reports_reading) close(socket, CLOSE_RESUME, "resume");
    }
  }

  /** An app's server, and a token limited to some apps, see only their entries, as in the list of entries. */
  #maySee({ proof }: Watcher, { app_slug, line }: EntryRow): boolean {
    if (proof.kind === "app") {
      const app = this.#sources.store.readApp(proof.app_slug);
      return proof.app_slug === app_slug && seesCredits(app, line - 1);
    }
    const chain = proof.kind === "personal_token" ? this.#chainOf(proof.credential) : null;
    const app_slugs = chain === null ? null : limitsOfAll(chain).app_slugs;
    return app_slugs === null || (app_slug !== null && app_slugs.includes(app_slug));
  }

  #chainOf(credential: Credential): Chain | null {
    return findChain(this.#sources, credential, Date.now());
  }

  /** Sends the rest later, so that a long replay does not delay other calls. */
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
  const text = entryMessage(store, entry);
  return { text, bytes: new TextEncoder().encode(text).byteLength };
}

/** Why a stream was closed: the WebSocket's close reason. */
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
    // The socket is already closed.
  }
}
