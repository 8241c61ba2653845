/** Bindings that count how often the Worker reaches through them. */
import { env } from "cloudflare:workers";

export interface Hops {
  account: number;
  d1: number;
  kv: number;
}

type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

/** `target` with some of its methods replaced. */
function withMethods<Target extends object>(target: Target, methods: Methods): Target {
  return new Proxy(target, {
    get(_, name) {
      const replaced = methods[String(name)];
      if (replaced !== undefined) return replaced;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** `target` with every call of a method counted. */
function counted<Target extends object>(target: Target, count: () => void): Target {
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        count();
        return Reflect.apply(member, target, args);
      };
    },
  });
}

function countedDatabase(database: D1Database, count: () => void): D1Database {
  const originals = new WeakMap<object, D1PreparedStatement>();
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = withMethods(counted(statement, count), {
      bind: (...values: unknown[]) => wrap(statement.bind(...values)),
    });
    originals.set(wrapped, statement);
    return wrapped;
  };
  return withMethods(counted(database, count), {
    prepare: (query: string) => wrap(database.prepare(query)),
    batch: (statements: D1PreparedStatement[]) => {
      count();
      return database.batch(statements.map((statement) => originals.get(statement) ?? statement));
    },
  });
}

/** An environment with counted stores, and its counters. One call of an object's method is one hop. */
export function countedEnvironment(): { readonly environment: Env; readonly hops: Hops } {
  const hops: Hops = { account: 0, d1: 0, kv: 0 };
  const environment = {
    ...env,
    ACCOUNT: withMethods(env.ACCOUNT, {
      getByName: (name: string) => counted(env.ACCOUNT.getByName(name), () => (hops.account += 1)),
    }),
    DB: countedDatabase(env.DB, () => (hops.d1 += 1)),
    DIRECTORY: countedDatabase(env.DIRECTORY, () => (hops.d1 += 1)),
    DEVICE_CODES: counted(env.DEVICE_CODES, () => (hops.kv += 1)),
    CLIENT_DOCUMENTS: counted(env.CLIENT_DOCUMENTS, () => (hops.kv += 1)),
  };
  return { environment, hops };
}
