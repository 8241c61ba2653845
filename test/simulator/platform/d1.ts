/** D1: a database at the other end of a network. It may fail before or after it has changed something. */
import { PlatformError, type Kernel, type Outcome } from "./kernel.ts";
import { asObjects, type Sqlite, type SqlResult, type SqlValue } from "./sqlite.ts";

/** How often something goes wrong, and whether the database is unreachable now. */
export interface D1Faults {
  is_down: boolean;
  /** The call fails: half of the time it never arrives, half of the time only its response is lost. */
  failing: number;
  /** The call takes up to 40 seconds, which is longer than anybody waits. */
  slow: number;
}

interface Executed extends SqlResult {
  readonly changes: number;
}

export class D1 {
  readonly #kernel: Kernel;
  readonly #sqlite: Sqlite;
  readonly #faults: D1Faults;

  constructor(kernel: Kernel, sqlite: Sqlite, faults: D1Faults) {
    this.#kernel = kernel;
    this.#sqlite = sqlite;
    this.#faults = faults;
  }

  prepare(query: string): D1Statement {
    return new D1Statement(this, query, []);
  }

  async batch(statements: readonly D1Statement[]): Promise<object[]> {
    const executed = await this.execute(statements);
    return executed.map(shown);
  }

  execute(statements: readonly D1Statement[]): Promise<readonly Executed[]> {
    const { random } = this.#kernel;
    return this.#kernel.wait((respond) => {
      const { is_down, failing, slow } = this.#faults;
      const there_ms = random.between(1, 20);
      const back_ms = random.chance(slow) ? random.between(200, 40_000) : random.between(1, 20);
      const fails = is_down || random.chance(failing);
      const is_lost = fails && random.chance(0.5);
      this.#kernel.schedule(there_ms, null, () => {
        const outcome = is_lost ? UNREACHABLE : this.#execute(statements);
        respond(fails ? UNREACHABLE : outcome, back_ms);
      });
    });
  }

  #execute(statements: readonly D1Statement[]): Outcome<readonly Executed[]> {
    const sqlite = this.#sqlite;
    sqlite.begin();
    try {
      const value = statements.map(({ query, parameters }) => {
        const result = sqlite.run(query, parameters);
        const is_read = /^\s*select/i.test(query);
        return { ...result, changes: is_read ? 0 : sqlite.changes };
      });
      sqlite.commit();
      return { ok: true, value };
    } catch (error) {
      sqlite.rollBack();
      return { ok: false, error: error as Error };
    }
  }
}

const UNREACHABLE = { ok: false, error: new PlatformError("D1 cannot be reached") } as const;

export class D1Statement {
  readonly #database: D1;
  readonly query: string;
  readonly parameters: readonly SqlValue[];

  constructor(database: D1, query: string, parameters: readonly SqlValue[]) {
    this.#database = database;
    this.query = query;
    this.parameters = parameters;
  }

  bind(...parameters: readonly (SqlValue | boolean)[]): D1Statement {
    const values = parameters.map((it) => (typeof it === "boolean" ? Number(it) : it));
    return new D1Statement(this.#database, this.query, values);
  }

  async all(): Promise<object> {
    return shown(await this.#one());
  }

  async run(): Promise<object> {
    return shown(await this.#one());
  }

  async first(): Promise<object | null> {
    return asObjects(await this.#one())[0] ?? null;
  }

  async raw(): Promise<readonly (readonly SqlValue[])[]> {
    return (await this.#one()).rows;
  }

  async #one(): Promise<Executed> {
    const [result] = await this.#database.execute([this]);
    if (result === undefined) throw new Error("a statement has a result");
    return result;
  }
}

function shown(result: Executed): object {
  return { success: true, results: asObjects(result), meta: { changes: result.changes } };
}
