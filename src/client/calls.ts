/** Options, reads, writes and paged lists, which all groups of calls share. */
import type { Credentials } from "./credentials.ts";
import { READ, type Call, type Read, type Transport } from "./transport.ts";

/** Options of every call. An aborted call throws the reason of its signal. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Options of a call that changes something. */
export interface WriteOptions extends CallOptions {
  /**
   * The service carries out a request once per key, and remembers the key for 24 hours. If you omit it, each call gets
   * a new key. Give your own key if you may repeat the call yourself.
   */
  readonly idempotencyKey?: string;
}

export interface Calls {
  readonly read: <Body extends object>(call: Read<Body>) => Promise<Body>;
  readonly write: <Body extends object>(
    call: Pick<Call<Body>, "method" | "path" | "body" | "query" | "isValid">,
    options?: WriteOptions,
  ) => Promise<Body>;
}

/** Reads and writes with these credentials. */
export function createCalls(transport: Transport, credentials: Credentials): Calls {
  return {
    read: async (call) => (await transport.send({ ...READ, credentials, ...call })).body,
    async write(call, { idempotencyKey, signal } = {}) {
      const repeat = { kind: "keyed", key: idempotencyKey ?? crypto.randomUUID() } as const;
      return (await transport.send({ ...call, repeat, credentials, signal })).body;
    },
  };
}

/** The rows of all pages. Reads the next page once the rows of the last one are used up. */
export async function* rowsOfPages<Filter extends { readonly cursor?: string }, Row>(
  filter: Filter,
  readPage: (
    filter: Filter,
  ) => Promise<{ readonly rows: readonly Row[]; readonly next_cursor: string | undefined }>,
): AsyncGenerator<Row, void, undefined> {
  for (let current = filter; ;) {
    const { rows, next_cursor } = await readPage(current);
    yield* rows;
    if (next_cursor === undefined) return;
    current = { ...current, cursor: next_cursor };
  }
}
