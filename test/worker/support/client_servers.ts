/** Servers of OAuth clients, as the Worker's fetches see them. */
import { vi } from "vitest";

type Serve = (request: Request) => Response | Promise<Response>;

/** Serves these addresses; every other address cannot be reached. Returns the addresses that were fetched. */
export function serveDocuments(servers: Readonly<Record<string, Serve>>): string[] {
  const fetched: string[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    fetched.push(request.url);
    const serve = servers[request.url];
    if (serve === undefined) throw new TypeError("cannot be reached");
    return serve(request);
  });
  return fetched;
}

export function json(value: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(typeof value === "string" ? value : JSON.stringify(value), {
    headers: { "Content-Type": "application/json", ...headers },
  });
}

/** A namespace of copies in memory. A late write of an earlier test cannot reach it. */
export class MemoryCopies {
  readonly copies = new Map<string, string>();
  readonly ttls: (number | undefined)[] = [];

  async get(key: string): Promise<unknown> {
    return JSON.parse(this.copies.get(key) ?? "null");
  }

  async put(
    key: string,
    text: string,
    { expirationTtl }: { readonly expirationTtl?: number },
  ): Promise<void> {
    this.copies.set(key, text);
    this.ttls.push(expirationTtl);
  }

  get namespace(): KVNamespace {
    return this as unknown as KVNamespace;
  }
}
