/** A receiver of webhooks that checks signatures and notes each account's events in the order of their first arrival. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { Webhook } from "standardwebhooks";

/** Events without an entry of their own, which say the newest line. */
const WITHOUT_ENTRY = ["topup.failed", "topup.disabled", "account.deleted"];

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
  /** The ids of events without an entry, by account and type. */
  readonly #told = new Map<string, Set<string>>();
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

  /** How many events of a type without an entry an account had. */
  told(identity_id: string, type: string): number {
    return this.#told.get(`${identity_id} ${type}`)?.size ?? 0;
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
    if (WITHOUT_ENTRY.includes(type)) {
      const of = `${data.identity_id} ${type}`;
      const id = String(request.headers["webhook-id"]);
      this.#told.set(of, (this.#told.get(of) ?? new Set()).add(id));
      return 200;
    }
    const lines = this.#lines.get(data.identity_id) ?? new Set();
    this.#lines.set(data.identity_id, lines);
    const newest = [...lines].at(-1) ?? 0;
    if (!lines.has(data.line) && data.line < newest) {
      this.faults.push(`${type} of line ${data.line} of ${data.identity_id} after line ${newest}`);
    }
    if (!lines.has(data.line) && this.told(data.identity_id, "account.deleted") > 0) {
      this.faults.push(`${type} of line ${data.line} of ${data.identity_id} after its deletion`);
    }
    lines.add(data.line);
    return 200;
  }
}
