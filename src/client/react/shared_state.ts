/** State outside of React that several components read, and that exists while one of them is mounted. */

export interface SharedState<State> {
  readonly get: () => State;
  readonly set: (next: State) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

/**
 * How long the state outlives its last component. In strict mode, and when a page replaces one view by another,
 * components unmount and mount again at once: they must not open the stream twice.
 */
const LINGER_MS = 1_000;

/**
 * `begin` runs when the first component subscribes. The function that it returns runs after the last one has left, and
 * the state is `initial` again.
 */
export function createSharedState<State>(
  initial: State,
  begin: () => () => void,
): SharedState<State> {
  const listeners = new Set<() => void>();
  let state = initial;
  let end: (() => void) | null = null;
  let lingering: ReturnType<typeof setTimeout> | null = null;
  const stay = (): void => {
    if (lingering !== null) clearTimeout(lingering);
    lingering = null;
  };
  return {
    get: () => state,
    set(next) {
      if (Object.is(next, state)) return;
      state = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      // A function of its own, since one listener may subscribe twice.
      const own = (): void => listener();
      listeners.add(own);
      stay();
      end ??= begin();
      return () => {
        if (!listeners.delete(own) || listeners.size > 0) return;
        stay();
        lingering = setTimeout(() => {
          end?.();
          end = null;
          state = initial;
        }, LINGER_MS);
      };
    },
  };
}
