/** Lists from their first page to their last. */

/** Rows of all pages, each page asked for when the one before has been used up. */
export async function* pagesOf<Filter extends { readonly cursor?: string }, Row>(
  filter: Filter,
  read: (
    filter: Filter,
  ) => Promise<{ readonly rows: readonly Row[]; readonly next_cursor: string | undefined }>,
): AsyncGenerator<Row, void, undefined> {
  for (let at = filter; ;) {
    const { rows, next_cursor } = await read(at);
    yield* rows;
    if (next_cursor === undefined) return;
    at = { ...at, cursor: next_cursor };
  }
}
