/** Converts the messages of an account's socket to server-sent events, no faster than the client reads them. */
import { EVENTS_QUEUE_MAX_BYTES, EVENTS_REPORT_BYTES } from "../../../domain/limits.ts";

/** Interval of the keep-alive comment. Proxies close a connection that is silent for a minute. */
export const EVENTS_PULSE_MS = 25_000;

/**
 * The account sends a window of bytes, then waits until this stream reports them as read. A client that reads nothing
 * between two pulses is disconnected, and so is one with too many queued bytes. It can resume after the last entry that it
 * received. `hasEnded`: whether the caller may read no longer; checked with each pulse.
 */
// oxlint-disable-next-line max-lines-per-function -- the state of one stream
export function serverSentEvents(
  socket: WebSocket,
  hasEnded: () => Promise<boolean>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  /** Bytes of messages received since the last report. */
  let unreported_bytes = 0;
  let [enqueued, read_at_last_pulse] = [0, 0];
  let stopPulse = (): void => undefined;
  let is_over = false;
  // The queue counts chunks. `pull` runs when the client has read all of them.
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string): number => {
        const chunk = encoder.encode(text);
        controller.enqueue(chunk);
        enqueued += 1;
        return chunk.byteLength;
      };
      const queued = (): number => 1 - (controller.desiredSize ?? 1);
      const end = (finish: () => void): void => {
        if (is_over) return;
        is_over = true;
        stopPulse();
        finish();
      };
      const close = (): void => end(() => controller.close());
      const leave = (): void =>
        end(() => {
          socket.close(1000, "The token has ended.");
          controller.close();
        });
      /** Aborts the stream, which frees the queue. */
      const drop = (): void =>
        end(() => {
          socket.close(1000, "The client does not read.");
          controller.error(new Error("the client does not read its events"));
        });
      send("retry: 1000\n\n");
      socket.addEventListener("message", ({ data }) => {
        if (is_over) return;
        const text = String(data);
        const { line } = JSON.parse(text) as { line?: number };
        // An event without an entry leaves the client's position as it is.
        const head = line === undefined ? "data: " : `id: ${line}\ndata: `;
        const tail = "\n\n";
        unreported_bytes += send(head + text + tail) - head.length - tail.length;
        if (unreported_bytes > EVENTS_QUEUE_MAX_BYTES) drop();
      });
      socket.addEventListener("close", close);
      socket.addEventListener("error", close);
      const pulse = setInterval(() => {
        const read = enqueued - queued();
        if (queued() === 0) send(": alive\n\n");
        else if (read === read_at_last_pulse) drop();
        read_at_last_pulse = read;
        void hasEnded().then((has_ended) => (has_ended ? leave() : null));
      }, EVENTS_PULSE_MS);
      stopPulse = () => clearInterval(pulse);
      socket.accept();
    },
    pull() {
      if (is_over || unreported_bytes < EVENTS_REPORT_BYTES) return;
      socket.send(String(unreported_bytes));
      unreported_bytes = 0;
    },
    cancel() {
      is_over = true;
      stopPulse();
      socket.close(1000, "The client closed the stream.");
    },
  });
}
