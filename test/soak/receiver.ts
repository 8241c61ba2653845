/** A receiver of webhooks that checks signatures and notes each account's events in the order of their first arrival. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { Webhook } from "standardwebhooks";

interface Delivered {
  readonly type: string;
  readonly data: { readonly identity_id: string; readonly line: number };
}

export class Receiver {
  readonly url: string;
  secret = "";
  /** What was wrong with a delivery. */
  readonly faults: string[] = [];
  deliveries = 0;
  /** The lines of each account's events, in the order of their first arrival. */
  readonly #lines = new Map<string, Set<number>>();
  readonly #server: Server;

  private constructor(port: number, server: Server) {
    this.url = `http://localhost:${port}/hook`;
    this.#server = server;
  }

  static async open(port: number): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(port, server);
    server.on("request", (request, response) => {
      void receiver.#take(request).then((status) => response.writeHead(status).end());
    });
    await new Promise<void>((resolve) => server.listen(port, resolve));
    return receiver;
  }

  linesOf(identity_id: string): ReadonlySet<number> {
    return this.#lines.get(identity_id) ?? new Set();
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #take(request: IncomingMessage): Promise<number> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The sender was killed.
      return 400;
    }
    const text = Buffer.concat(chunks).toString();
    try {
      new Webhook(this.secret).verify(text, request.headers as Record<string, string>);
    } catch (error) {
      this.faults.push(`a delivery without a valid signature: ${String(error)}`);
      return 400;
    }
    this.deliveries += 1;
    const { type, data } = JSON.parse(text) as Delivered;
    const lines = this.#lines.get(data.identity_id) ?? new Set();
    this.#lines.set(data.identity_id, lines);
    const newest = [...lines].at(-1) ?? 0;
    if (!lines.has(data.line) && data.line < newest) {
      this.faults.push(`${type} of line ${data.line} of ${data.identity_id} after line ${newest}`);
    }
    lines.add(data.line);
    return 200;
  }
}
