/** The storage of one Durable Object: what one turn writes is stored together at its end, or not at all. */
import { PlatformError } from "./kernel.ts";
import { Sqlite, asObjects, type SqlResult, type SqlValue } from "./sqlite.ts";

/** A stored object: it outlives the instances that run on it. */
export class Stored {
  readonly kind: string;
  readonly name: string;
  readonly sqlite = new Sqlite();
  values = new Map<string, unknown>();
  /** When its alarm fires; null: none is set. It stays until its handler has succeeded. */
  alarm_ms: number | null = null;
  /** Whether the handler runs for this alarm. */
  is_handled = false;

  constructor(kind: string, name: string) {
    this.kind = kind;
    this.name = name;
  }
}

/** `undefined`: the turn did not change the alarm. */
type StagedAlarm = number | null | undefined;

/** `DurableObjectStorage`, as far as the simulated code uses it. */
export class Storage {
  readonly #stored: Stored;
  readonly #onSync: () => Promise<void>;
  readonly #fails: () => boolean;
  readonly sql: ReturnType<typeof sqlOf>;
  readonly kv: ReturnType<Storage["openValues"]>;
  #values_before: Map<string, unknown> | null = null;
  #alarm: StagedAlarm = undefined;
  #depth = 0;

  /** `onSync`: resolves when everything written is stored. `fails`: whether a transaction fails at its end. */
  constructor(stored: Stored, onSync: () => Promise<void>, fails: () => boolean) {
    this.#stored = stored;
    this.#onSync = onSync;
    this.#fails = fails;
    this.sql = sqlOf(stored.sqlite);
    this.kv = this.openValues();
  }

  transactionSync<Value>(work: () => Value): Value {
    const { sqlite } = this.#stored;
    sqlite.begin();
    const name = `part_${this.#depth}`;
    const [alarm, values] = [this.#alarm, new Map(this.#stored.values)];
    sqlite.run(`savepoint ${name}`, []);
    this.#depth += 1;
    try {
      const value = work();
      if (this.#depth === 1 && this.#fails()) throw new PlatformError("storage does not respond");
      sqlite.run(`release ${name}`, []);
      return value;
    } catch (error) {
      sqlite.run(`rollback to ${name}`, []);
      sqlite.run(`release ${name}`, []);
      this.#alarm = alarm;
      this.#stored.values = values;
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  getAlarm(): Promise<number | null> {
    const { alarm_ms, is_handled } = this.#stored;
    if (this.#alarm !== undefined) return Promise.resolve(this.#alarm);
    // The handler sees no alarm. A constructor that runs before it does.
    return Promise.resolve(is_handled ? null : alarm_ms);
  }

  setAlarm(at_ms: number): Promise<void> {
    this.#alarm = at_ms;
    return Promise.resolve();
  }

  sync(): Promise<void> {
    return this.#onSync();
  }

  deleteAll(): Promise<void> {
    this.#stage();
    this.#stored.values.clear();
    this.#alarm = null;
    return Promise.resolve();
  }

  openValues() {
    return {
      // A copy, as the platform gives one: nobody can change what is stored without storing it.
      get: (key: string): unknown => structuredClone(this.#stored.values.get(key)),
      put: (key: string, value: unknown): void => {
        this.#stage();
        this.#stored.values.set(key, structuredClone(value));
      },
      delete: (key: string): void => {
        this.#stage();
        this.#stored.values.delete(key);
      },
    };
  }

  /** Stores what the turn wrote. @returns whether it set an alarm. */
  commit(): boolean {
    this.#stored.sqlite.commit();
    this.#values_before = null;
    if (this.#alarm === undefined) return false;
    this.#stored.alarm_ms = this.#alarm;
    this.#stored.is_handled = false;
    this.#alarm = undefined;
    return true;
  }

  rollBack(): void {
    this.#stored.sqlite.rollBack();
    if (this.#values_before !== null) this.#stored.values = this.#values_before;
    this.#values_before = null;
    this.#alarm = undefined;
  }

  #stage(): void {
    this.#values_before ??= new Map(this.#stored.values);
  }
}

/** `SqlStorage`. */
function sqlOf(sqlite: Sqlite) {
  return {
    exec: (query: string, ...parameters: SqlValue[]) => {
      sqlite.begin();
      return new Cursor(sqlite.run(query, parameters));
    },
    get databaseSize(): number {
      return sqlite.size_bytes;
    },
  };
}

class Cursor {
  readonly #result: SqlResult;

  constructor(result: SqlResult) {
    this.#result = result;
  }

  get columnNames(): readonly string[] {
    return this.#result.columns;
  }

  raw(): readonly (readonly SqlValue[])[] {
    return this.#result.rows;
  }

  toArray(): object[] {
    return asObjects(this.#result);
  }

  one(): object {
    const [row] = this.toArray();
    if (row === undefined || this.#result.rows.length !== 1) throw new Error("one row is expected");
    return row;
  }
}
