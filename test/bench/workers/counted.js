/**
 * Wraps a built Worker and counts what Cloudflare bills: requests, calls of objects, alarms, rows read and written (from
 * cursors and keys in objects, from D1's `meta` in D1), KV and R2 operations, queue messages and log lines. `GET /__counts` returns the
 * counts since its last call, `POST /__evict` with a JSON array of names evicts objects from memory, and `POST /__ring` runs
 * their alarms now. `POST /__age` moves the clock so far that their entries are due for the archive, and runs their alarms without
 * counting them. `platform.ts` fills in the names in capitals.
 */
import * as built from "__BUILT__";

export * from "__BUILT__";

const NOTHING = {
  requests: 0,
  object_calls: 0,
  alarms: 0,
  queue_batches: 0,
  object_rows_read: 0,
  object_rows_written: 0,
  alarms_set: 0,
  d1_batches: 0,
  d1_queries: 0,
  d1_rows_read: 0,
  d1_rows_written: 0,
  kv_reads: 0,
  kv_writes: 0,
  queue_messages: 0,
  queue_operations: 0,
  r2_writes: 0,
  r2_reads: 0,
  logged_lines: 0,
};
let counts = { ...NOTHING };
const cursors = [];

function settleCursors() {
  for (const cursor of cursors.splice(0)) {
    counts.object_rows_read += cursor.rowsRead;
    counts.object_rows_written += cursor.rowsWritten;
  }
}

for (const level of ["debug", "info", "log", "warn", "error"]) {
  const say = console[level].bind(console);
  console[level] = (...words) => {
    counts.logged_lines += 1;
    say(...words);
  };
}

function replaceMethod(prototype, name, replacement) {
  const original = prototype[name];
  prototype[name] = function (...args) {
    return replacement(() => Reflect.apply(original, this, args));
  };
}

let patched = false;
function patchStorage(storage) {
  if (patched) return;
  patched = true;
  replaceMethod(Object.getPrototypeOf(storage.sql), "exec", (run) => {
    const cursor = run();
    // A cursor counts rows while it is read, and it is read completely before other code runs.
    cursors.push(cursor);
    if (cursors.length === 1) queueMicrotask(settleCursors);
    return cursor;
  });
  for (const [name, kind] of [
    ["get", "object_rows_read"],
    ["put", "object_rows_written"],
  ]) {
    replaceMethod(Object.getPrototypeOf(storage.kv), name, (run) => {
      counts[kind] += 1;
      return run();
    });
  }
  replaceMethod(Object.getPrototypeOf(storage), "setAlarm", (run) => {
    counts.alarms_set += 1;
    return run();
  });
}

/** `target` with some of its methods replaced. */
function withMethods(target, methods) {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(methods, name)) return methods[name];
      const member = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

function countD1(result) {
  counts.d1_queries += 1;
  counts.d1_rows_read += result.meta.rows_read ?? 0;
  counts.d1_rows_written += result.meta.rows_written ?? 0;
  return result;
}

const originals = new WeakMap();

function countedStatement(statement) {
  const all = async () => countD1(await statement.all());
  const wrapped = withMethods(statement, {
    all,
    run: async () => countD1(await statement.run()),
    // Only `all` returns the number of rows that a query read.
    first: async (column) => {
      const row = (await all()).results[0] ?? null;
      return column === undefined || row === null ? row : (row[column] ?? null);
    },
    raw: async () => (await all()).results.map((row) => Object.values(row)),
    bind: (...values) => countedStatement(statement.bind(...values)),
  });
  originals.set(wrapped, statement);
  return wrapped;
}

function countedDatabase(database) {
  return withMethods(database, {
    prepare: (query) => countedStatement(database.prepare(query)),
    batch: async (statements) => {
      const results = await database.batch(statements.map((it) => originals.get(it) ?? it));
      counts.d1_batches += 1;
      results.forEach(countD1);
      return results;
    },
  });
}

function countedStub(stub) {
  return new Proxy(stub, {
    get(_, name) {
      const member = Reflect.get(stub, name);
      if (typeof member !== "function") return member;
      return (...args) => {
        counts.object_calls += 1;
        return Reflect.apply(member, stub, args);
      };
    },
  });
}

function countedNamespace(namespace) {
  return withMethods(namespace, {
    get: (...args) => countedStub(namespace.get(...args)),
    getByName: (...args) => countedStub(namespace.getByName(...args)),
    jurisdiction: (name) => countedNamespace(namespace.jurisdiction(name)),
  });
}

const PART_BYTES = 64_000;

function countMessages(messages) {
  for (const message of messages) {
    counts.queue_messages += 1;
    // Each message is written, read and deleted, once for every 64 KB.
    counts.queue_operations += 3 * Math.ceil(JSON.stringify(message).length / PART_BYTES);
  }
}

function countedQueue(queue) {
  return withMethods(queue, {
    send: (message, options) => {
      countMessages([message]);
      return queue.send(message, options);
    },
    sendBatch: (messages, options) => {
      const sent = [...messages];
      countMessages(sent.map(({ body }) => body));
      return queue.sendBatch(sent, options);
    },
  });
}

function countedKv(kv) {
  const counting =
    (name, kind) =>
    (...args) => {
      counts[kind] += 1;
      return kv[name](...args);
    };
  return withMethods(kv, {
    get: counting("get", "kv_reads"),
    getWithMetadata: counting("getWithMetadata", "kv_reads"),
    put: counting("put", "kv_writes"),
    delete: counting("delete", "kv_writes"),
    list: counting("list", "kv_writes"),
  });
}

function countedBucket(bucket) {
  const counting =
    (name, kind) =>
    (...args) => {
      counts[kind] += 1;
      return bucket[name](...args);
    };
  // Deleting is free.
  return withMethods(bucket, {
    get: counting("get", "r2_reads"),
    head: counting("head", "r2_reads"),
    put: counting("put", "r2_writes"),
    list: counting("list", "r2_writes"),
  });
}

const unlimited = { limit: () => Promise.resolve({ success: true }) };

/** The kind of a binding, recognised by its methods. */
function counted(binding) {
  if (binding === null || typeof binding !== "object") return binding;
  if (typeof binding.prepare === "function") return countedDatabase(binding);
  if (typeof binding.getByName === "function") return countedNamespace(binding);
  if (typeof binding.sendBatch === "function") return countedQueue(binding);
  if (typeof binding.getWithMetadata === "function") return countedKv(binding);
  if (typeof binding.createMultipartUpload === "function") return countedBucket(binding);
  return binding;
}

let environment;

function environmentOf(env) {
  environment ??= Object.fromEntries([
    ...Object.entries(env).map(([name, binding]) => [name, counted(binding)]),
    ..."__LIMITERS__".map((name) => [name, unlimited]),
  ]);
  return environment;
}

// oxlint-disable-next-line eslint/no-unused-vars -- used by the exports that are filled in below
function countedClass(Built) {
  return class extends Built {
    #ctx;

    constructor(ctx, env) {
      patchStorage(ctx.storage);
      super(ctx, environmentOf(env));
      this.#ctx = ctx;
    }

    async alarm(info) {
      counts.alarms += 1;
      return super.alarm(info);
    }

    async __ring() {
      if ((await this.ctx.storage.getAlarm()) === null) return;
      await this.ctx.storage.deleteAlarm();
      await this.alarm();
    }

    async __age() {
      return super.alarm();
    }

    async __evict() {
      this.#ctx.abort("evicted");
    }
  };
}

async function ring(request, env) {
  for (const name of await request.json()) {
    for (const binding of Object.values(env)) {
      if (typeof binding?.getByName === "function") await binding.getByName(name).__ring?.();
    }
  }
  return new Response();
}

const AGE_MS = 8 * 24 * 60 * 60_000;
const now = Date.now.bind(Date);

async function age(request, env) {
  Date.now = () => now() + AGE_MS;
  for (const name of await request.json()) await env.ACCOUNT.getByName(name).__age();
  return new Response();
}

async function evict(request, env) {
  for (const name of await request.json()) {
    for (const binding of Object.values(env)) {
      if (typeof binding?.getByName !== "function") continue;
      // The evicted object has no response.
      await binding
        .getByName(name)
        .__evict()
        .catch(() => null);
    }
  }
  return new Response();
}

export default {
  ...built.default,
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname === "/__counts") {
      settleCursors();
      const answer = Response.json(counts);
      counts = { ...NOTHING };
      return answer;
    }
    if (pathname === "/__evict") return evict(request, env);
    if (pathname === "/__ring") return ring(request, env);
    if (pathname === "/__age") return age(request, env);
    counts.requests += 1;
    return built.default.fetch(request, environmentOf(env), context);
  },
  async queue(batch, env, context) {
    counts.queue_batches += 1;
    return built.default.queue(batch, environmentOf(env), context);
  },
};

/* __CLASS_EXPORTS__ */
