/**
 * The account's open streams. Their sockets hibernate, so an object with a thousand idle streams can be evicted; the
 * state of each stream is stored with its socket. `sent_line` is the number of the last entry that was sent. After any
 * wake-up a stream continues with the entries after it, in order.
 */
import { limitReached } from "../../domain/limit_reached.ts";
import { reportError } from "../../domain/error_report.ts";
import type { Credential } from "../../domain/proof.ts";
import {
  consentedClient,
  idsOfPath,
  isLimited,
  rootOfPath,
  whyNotForApp,
} from "../../domain/allowance.ts";
import {
  EVENTS_REPLAY_MAX_LINES,
  EVENTS_WATCHERS_MAX,
  EVENTS_WATCHERS_SHARE,
} from "../../domain/limits.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { shownTo, visibleApps, type AdmittedCaller } from "../caller.ts";
import { findChain, limitsOfAll, type Chain } from "../allowances/credentials.ts";
import type { AllowanceRow, AllowanceStore } from "../sql/allowance_store.ts";
import type { FamilyStore } from "../sql/family_store.ts";
import type { EntryRow, JobRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";
import type { StreamsToClose } from "../transaction.ts";
import { stoppedApps } from "../stopped_apps.ts";
import { seesCredits } from "../wallet/app_access.ts";
import {
  accessMessage,
  progressMessage,
  entryMessage,
  snapshotMessage,
  type ProgressedJobEvent,
  type StreamedAccessEvent,
} from "./messages.ts";
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

/** The data that the streams read, and the platform's sockets. */
interface StreamSources {
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
    if (context.getWebSockets().length >= EVENTS_WATCHERS_MAX) return limitReached("streams");
    if (allowance === null) return null;
    // A refreshed token is of the same allowance, and an exchanged one counts for its root.
    const open = context.getWebSockets(rootOfPath(allowance.path)).length;
    return open < EVENTS_WATCHERS_SHARE ? null : limitReached("streams_of_token");
  }

  /** Opens a stream for a client. `allowance`: the one that its token stands for; null: none. */
  accept(
    watch: WatchRequest,
    allowance: Pick<AllowanceRow, "path" | "expires_at_ms"> | null,
  ): { readonly response: Response; readonly expires_at_ms: number } {
    const { proof } = watch;
    // A session token may live longer than the personal token that it was obtained with. The stream may not.
    const token_ends_ms = allowance?.expires_at_ms ?? proof.expires_at_ms;
    const expires_at_ms = Math.min(proof.expires_at_ms, token_ends_ms);
    const { 0: client, 1: server } = new WebSocketPair();
    const root_id = allowance === null ? null : rootOfPath(allowance.path);
    this.open(server, { ...watch, proof: { ...proof, expires_at_ms } }, root_id);
    const headers = { "Sec-WebSocket-Protocol": WATCH_PROTOCOL };
    const response = new Response(null, { status: 101, webSocket: client, headers });
    return { response, expires_at_ms };
  }

  /**
   * Opens a stream of an open account. `root_id`: the root allowance that it counts for; null: none. Nothing here is
   * asynchronous, so no entry can be missed.
   */
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
    // What has left for the archive is too old.
    const oldest = Math.max(newest.line - EVENTS_REPLAY_MAX_LINES, store.left.oldest_line - 1);
    if (after !== null && after <= newest.line && after >= oldest) {
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

  /**
   * Sends events about access to the streams that are open now; nobody gets them later. Never throws, as
   * {@link publish}. They are few and small, so they do not wait for a client that is behind.
   */
  tell(events: readonly StreamedAccessEvent[]): void {
    try {
      for (const watched of this.#valid()) {
        for (const event of events) {
          if (this.#mayLearn(watched[1], event)) tellOne(watched, accessMessage(event));
        }
      }
    } catch (error) {
      console.warn({
        event: "stream_publication_failed",
        ...requestFields(),
        ...reportError(error),
      });
    }
  }

  /**
   * Sends a report of progress to the streams that see the job's entries, except to a client that is behind: the next one
   * says more. Never throws, as {@link publish}.
   */
  tellProgress(event: ProgressedJobEvent): void {
    const { job } = event;
    try {
      for (const watched of this.#valid()) {
        const caller = isFull(watched[1]) ? null : this.#callerOf(watched[1]);
        if (caller === null || !this.#maySee(caller, job)) continue;
        tellOne(watched, progressMessage({ ...event, job: shownTo({ caller }, job) }));
      }
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

  close(which: StreamsToClose): void {
    for (const [socket, { proof }] of this.#all()) {
      if (which.reason === "session_ended") {
        const { session_ids } = which;
        if (proof.kind !== "session") continue;
        if (session_ids !== "all" && !session_ids.includes(proof.session_id)) continue;
      }
      close(socket, CLOSE_PROOF_ENDED, which.reason);
    }
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
      isStopped: (app_slugs) => stoppedApps(this.#sources, app_slugs).length > 0,
    };
    return this.#all().filter(([socket, { proof }]) => {
      if (isProofGood(proof, now_ms, checks)) return true;
      close(socket, CLOSE_PROOF_ENDED, "proof_ended");
      return false;
    });
  }

  #send(entry: EntryRow, watching: [WebSocket, Watcher][]): void {
    const { store } = this.#sources;
    const job = entry.job_id === null ? null : store.readJob(entry.job_id);
    // Streams differ only in the name of the token that started the job.
    const made = new Map<string | null, Message>();
    const messageFor = (shown: JobRow | null): Message => {
      const name = shown?.started_by_json ?? null;
      const message = made.get(name) ?? sized(entry, shown);
      made.set(name, message);
      return message;
    };
    for (const watched of watching) {
      const [socket, watcher] = watched;
      if (watcher.sent_line >= entry.line || isFull(watcher)) continue;
      const caller = this.#callerOf(watcher);
      const is_seen = caller !== null && this.#maySee(caller, entry);
      const message = is_seen ? messageFor(job === null ? null : shownTo({ caller }, job)) : null;
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
  #maySee(
    caller: AdmittedCaller,
    { app_slug, line }: Pick<EntryRow, "app_slug" | "line">,
  ): boolean {
    const app = caller.kind === "app" ? this.#sources.store.readApp(caller.app_slug) : null;
    if (caller.kind === "app" && !seesCredits(app, line - 1)) return false;
    const app_slugs = visibleApps({ caller });
    return app_slugs === undefined || (app_slug !== null && app_slugs.includes(app_slug));
  }

  /** The caller whose stream it is; null: its token has just ended. The streams of a stopped app are closed. */
  #callerOf({ proof }: Watcher): AdmittedCaller | null {
    switch (proof.kind) {
      case "session":
        return proof.through.kind === "page" ? { ...proof.through, stopped: [] } : proof.through;
      case "app":
        return { kind: "app", app_slug: proof.app_slug, not_writing: null, stopped: null };
      case "allowance": {
        const chain = this.#chainOf(proof.credential);
        if (chain === null) return null;
        return { kind: "allowance", allowance: chain[0], limits: limitsOfAll(chain) };
      }
    }
  }

  /**
   * An app's server, and its page, learn what concerns its clients and its access. A token learns what concerns itself and what
   * was exchanged from it, and the access of its apps. Everything else is for our own pages, and a personal token without limits.
   */
  #mayLearn({ proof }: Watcher, { app_slug, allowance_path }: StreamedAccessEvent): boolean {
    if (proof.kind === "session") {
      const { through } = proof;
      const of_apps = through.kind === "page" ? (through.app_slugs ?? []) : null;
      return of_apps === null || (app_slug !== null && of_apps.includes(app_slug));
    }
    if (proof.kind === "app") return proof.app_slug === app_slug;
    const chain = this.#chainOf(proof.credential);
    if (chain === null) return false;
    const [allowance] = chain;
    const { id } = allowance;
    const limits = limitsOfAll(chain);
    if (consentedClient(allowance) === null && !isLimited(limits)) return true;
    return allowance_path === null
      ? whyNotForApp(limits, app_slug) === null
      : idsOfPath(allowance_path).includes(id);
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

function tellOne(watched: [WebSocket, Watcher], text: string): void {
  const [socket, watcher] = watched;
  const unread_bytes = watcher.unread_bytes + new TextEncoder().encode(text).byteLength;
  watched[1] = { ...watcher, unread_bytes };
  saveWatcher(socket, watched[1]);
  try {
    socket.send(text);
  } catch {
    // The socket has just closed.
  }
}

interface Message {
  readonly text: string;
  readonly bytes: number;
}

function sized(entry: EntryRow, job: JobRow | null): Message {
  const text = entryMessage(entry, job);
  return { text, bytes: new TextEncoder().encode(text).byteLength };
}

/** Why a stream was closed: the WebSocket's close reason. */
type CloseReason = StreamsToClose["reason"] | "proof_ended" | "not_listening" | "resume";

function close(socket: WebSocket, code: number, reason: CloseReason): void {
  try {
    socket.close(code, reason);
  } catch {
    // The socket is already closed.
  }
}
