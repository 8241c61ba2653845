/** A database with a hook around each call: to count, to fail, or to interrupt. */

const CALLS = ["run", "first", "all", "raw"];

export function watched(
  database: D1Database,
  around: (call: () => Promise<unknown>) => Promise<unknown>,
): D1Database {
  const statements = new WeakMap<object, D1PreparedStatement>();
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = new Proxy(statement, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return (...values: unknown[]) => {
          const call = () => Reflect.apply(method, target, values);
          if (name === "bind") return wrap(call() as D1PreparedStatement);
          return CALLS.includes(String(name)) ? around(call as () => Promise<unknown>) : call();
        };
      },
    });
    statements.set(wrapped, statement);
    return wrapped;
  };
  return new Proxy(database, {
    get(target, name) {
      if (name === "prepare") return (query: string) => wrap(target.prepare(query));
      if (name === "batch") {
        return (batch: D1PreparedStatement[]) =>
          around(() => target.batch(batch.map((one) => statements.get(one) ?? one)));
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/**
 * Counts the rows that a database reads and writes, except for queries of a single value, which do not report
 * it.
 */
export function countingRows(database: D1Database) {
  let [read, written] = [0, 0];
  const counted = watched(database, async (call) => {
    const answer = await call();
    for (const one of Array.isArray(answer) ? answer : [answer]) {
      const { rows_read = 0, rows_written = 0 } = (one as Partial<D1Result> | null)?.meta ?? {};
      read += rows_read;
      written += rows_written;
    }
    return answer;
  });
  return { database: counted, read: () => read, written: () => written };
}
