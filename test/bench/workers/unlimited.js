/** Wraps a built Worker with rate limiters that never refuse and cost nothing. `platform.ts` fills in the names in capitals. */
import * as built from "__BUILT__";

export * from "__BUILT__";

const unlimited = { limit: () => Promise.resolve({ success: true }) };
let environment;

/** One object per isolate: the Worker caches what it derives from it. */
function environmentOf(env) {
  environment ??= {
    ...env,
    ...Object.fromEntries("__LIMITERS__".map((name) => [name, unlimited])),
  };
  return environment;
}

export default {
  ...built.default,
  fetch: (request, env, context) => built.default.fetch(request, environmentOf(env), context),
};
