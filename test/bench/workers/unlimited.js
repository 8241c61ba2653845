/**
 * Stands around a built Worker: the same handlers and classes, with rate limiters that never refuse
 * and cost nothing. The names in capitals are filled in by `platform.ts`.
 */
import * as built from "__BUILT__";

export * from "__BUILT__";

const unlimited = { limit: () => Promise.resolve({ success: true }) };
let environment;

/** One object for the isolate's life: the Worker keeps what it made of it. */
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
