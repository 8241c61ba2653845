/**
 * Makes a value when it is first asked for. An object wakes for a few of its statements, and building all
 * of them took two fifths of a waking's time.
 */
export function onFirstUse<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}
