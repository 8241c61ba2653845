/** A database that reports how many rows each of its queries read. */

type Report = (query: string, rows_read: number) => void;

const READS = /^\s*(select|with\b(?![^]*\b(insert|update|delete)\b))/i;

/** Queries of one value, and of raw rows, do not report it, so they are sent a second time. */
export function reportingReads(database: D1Database, report: Report): D1Database {
  const statements = new WeakMap<
    object,
    { readonly query: string; readonly it: D1PreparedStatement }
  >();
  const note = (query: string, { meta }: Pick<D1Result, "meta">): void =>
    report(query, meta.rows_read);
  const wrap = (query: string, it: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = new Proxy(it, {
      get(target, name) {
        if (name === "bind") return (...values: unknown[]) => wrap(query, target.bind(...values));
        if (name === "all" || name === "run") {
          return async () => {
            const answer = await target.all();
            note(query, answer);
            return answer;
          };
        }
        return async (...values: unknown[]) => {
          if (READS.test(query)) note(query, await target.all());
          return (Reflect.get(target, name) as (...all: unknown[]) => unknown).apply(
            target,
            values,
          );
        };
      },
    });
    statements.set(wrapped, { query, it });
    return wrapped;
  };
  return new Proxy(database, {
    get(target, name) {
      if (name === "prepare") return (query: string) => wrap(query, target.prepare(query));
      if (name === "batch") {
        return async (batch: D1PreparedStatement[]) => {
          const sent = batch.map((one) => statements.get(one));
          const answers = await target.batch(
            sent.map((one, at) => one?.it ?? (batch[at] as D1PreparedStatement)),
          );
          for (const [at, answer] of answers.entries()) note(sent[at]?.query ?? "", answer);
          return answers;
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
