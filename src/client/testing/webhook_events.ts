/** Receives the webhooks of a kit's apps. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { WebhookEvent } from "../responses.ts";

/** The webhook events of all apps of the kit, from its start or the last `reset`, in the order in which they arrived. */
export interface WebhookEvents extends AsyncIterable<WebhookEvent> {
  /** Those that have arrived so far. */
  readonly received: readonly WebhookEvent[];
}

export interface WebhookReceiver {
  readonly url: string;
  readonly events: WebhookEvents;
  clear(): void;
  stop(): Promise<void>;
}

/** Starts a receiver on a free port of this machine. */
export async function startReceiver(): Promise<WebhookReceiver> {
  let received: WebhookEvent[] = [];
  let stopped = false;
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const resume of woken) resume();
  };
  const receive = async (request: IncomingMessage): Promise<void> => {
    received.push(JSON.parse(await text(request)) as WebhookEvent);
    wake();
  };
  const server = createServer((request, response) => {
    void receive(request).finally(() => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  /** Begins with the events so far, waits for more, and ends when the kit stops. */
  async function* follow(): AsyncGenerator<WebhookEvent, void, undefined> {
    let at = 0;
    const isOpen = (): boolean => !stopped || at < received.length;
    while (isOpen()) {
      // A reset has emptied the list.
      if (at > received.length) at = 0;
      const event = received[at];
      if (event !== undefined) {
        at += 1;
        yield event;
      } else await new Promise<void>((resolve) => waiting.push(resolve));
    }
  }
  return {
    url: `http://localhost:${port}/`,
    events: {
      get received() {
        return received;
      },
      [Symbol.asyncIterator]: follow,
    },
    clear() {
      received = [];
      wake();
    },
    async stop() {
      stopped = true;
      wake();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
