/** Wraps a built Worker with rate limiters that count in memory, as the platform's do in each place. `platform.ts` fills in the limits. */
import * as built from "__BUILT__";

export * from "__BUILT__";

let environment;

/** The limiter of a configured limit: it counts each key from the beginning of the period. */
function limiterOf({ limit, period }) {
  let now = 0;
  let counts = new Map();
  return {
    limit({ key }) {
      const current = Math.floor(Date.now() / (period * 1000));
      if (current !== now) counts = new Map();
      now = current;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return Promise.resolve({ success: count <= limit });
    },
  };
}

/** One object per isolate: the Worker caches what it derives from it. */
function environmentOf(env) {
  environment ??= {
    ...env,
    ...Object.fromEntries("__LIMITS__".map(({ name, simple }) => [name, limiterOf(simple)])),
  };
  return environment;
}

export default {
  ...built.default,
  fetch: (request, env, context) => built.default.fetch(request, environmentOf(env), context),
};
