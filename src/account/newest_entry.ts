/** The newest ledger line as one transaction knows it: read once, and from then on what it posts. */
import type { EntryRow, Store } from "./store.ts";

export class NewestEntry {
  readonly #store: Pick<Store, "readNewestEntry">;
  /** Undefined: not read yet. */
  #row: EntryRow | null | undefined;

  constructor(store: Pick<Store, "readNewestEntry">) {
    this.#store = store;
  }

  /** The line that holds the balance; null before the account is opened. */
  read(): EntryRow | null {
    if (this.#row === undefined) this.#row = this.#store.readNewestEntry();
    return this.#row;
  }

  /** Says that a line was written after it. */
  posted(row: EntryRow): void {
    this.#row = row;
  }

  /** Runs `work` as part of a transaction; where it throws, what it posted is not there. */
  within<Value>(work: () => Value): Value {
    try {
      return work();
    } catch (error) {
      this.#row = undefined;
      throw error;
    }
  }
}
