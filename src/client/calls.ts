/** Options that calls have in common, and lists that are read page by page. */

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface WriteOptions extends CallOptions {
  /**
   * The service carries out a request once per key, and remembers the key for 24 hours. If you omit it, each call gets
   * a new key. Give your own key if you may repeat the call yourself.
   */
  readonly idempotencyKey?: string;
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
