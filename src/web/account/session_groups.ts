/** Groups of signed-in browsers. Pure. */
import type { ListedBrowser } from "../../http/allowances/access_list.ts";

/** The sessions of one browser and place. Each sign-in starts a session, so a browser may have several. */
export interface SessionGroup {
  readonly browser: string | null;
  readonly place: string | null;
  /** Whether the session of this request is one of them. */
  readonly current: boolean;
  readonly last_used_at_ms: number;
  readonly signed_in_at_ms: number;
  readonly sessions: readonly ListedBrowser[];
}

/** This browser's group first, then the others, last used first. */
export function groupSessions(sessions: readonly ListedBrowser[]): readonly SessionGroup[] {
  const groups = Map.groupBy(sessions, ({ browser, place }) => JSON.stringify([browser, place]));
  return [...groups.values()]
    .map(groupOf)
    .toSorted(
      (one, other) =>
        Number(other.current) - Number(one.current) || other.last_used_at_ms - one.last_used_at_ms,
    );
}

function groupOf(sessions: readonly ListedBrowser[]): SessionGroup {
  const signed_in_at_ms = Math.max(...sessions.map((it) => it.created_at_ms));
  return {
    browser: sessions[0]?.browser ?? null,
    place: sessions[0]?.place ?? null,
    current: sessions.some(({ current }) => current),
    last_used_at_ms: Math.max(
      signed_in_at_ms,
      ...sessions.map((it) => it.last_used_at_ms ?? it.created_at_ms),
    ),
    signed_in_at_ms,
    sessions,
  };
}
