/** Telling others that sessions and sign-in methods ended, whichever adapter ended them. */
import type { IdentityPort, Session, Unlinked } from "./port.ts";
import { errorName } from "../domain/result.ts";

/** What ended for a person: some sessions, all sessions, or a sign-in method that they unlinked. */
export type Ending =
  | { readonly kind: "sessions"; readonly session_ids: readonly string[] }
  | { readonly kind: "all_sessions" }
  | { readonly kind: "signin_method"; readonly signin_method: string };

/** Hears of an ending. */
export type HearOfEndings = (identity_id: string, ending: Ending) => Promise<unknown>;

/**
 * A provider that calls `told` after each act that ended sessions, twice where it fails. What fails
 * again is thrown: the sessions have ended all the same, but a token that hangs on one goes on, and
 * nobody is told that all is over. Signing out everywhere, later, tells of all.
 */
export function announceSessionEndings(provider: IdentityPort, told: HearOfEndings): IdentityPort {
  const announce: HearOfEndings = async (identity_id, ending) => {
    try {
      await told(identity_id, ending).catch(() => told(identity_id, ending));
    } catch (error) {
      const reason = errorName(error);
      console.error({ event: "session_ending_not_told", reason });
      throw error;
    }
  };
  const announceAll = async (ended: readonly Session[]): Promise<void> => {
    for (const [identity_id, sessions] of Map.groupBy(ended, (session) => session.identity_id)) {
      const session_ids = sessions.map(({ id }) => id);
      await announce(identity_id, { kind: "sessions", session_ids });
    }
  };
  return {
    ...provider,
    async signOut(request) {
      const signed_out = await provider.signOut(request);
      await announceAll(signed_out.ended_sessions);
      return signed_out;
    },
    async signOutEverywhere(identity_id) {
      const ended = await provider.signOutEverywhere(identity_id);
      await announce(identity_id, { kind: "all_sessions" });
      return ended;
    },
    async unlink(session, signin_method) {
      const unlinked = await provider.unlink(session, signin_method);
      if (unlinked.kind === "unlinked") await announceAll(unlinked.ended_sessions);
      // Also where it was unlinked already: a first try may have failed in between.
      if (unlinked.kind === "unlinked" || isUnlinkedAlready(unlinked)) {
        await announce(session.identity_id, { kind: "signin_method", signin_method });
      }
      return unlinked;
    },
    async endSession(identity_id, session_id) {
      const ended = await provider.endSession(identity_id, session_id);
      // Also where it had ended already: a first try may have failed in between.
      await announce(identity_id, { kind: "sessions", session_ids: [session_id] });
      return ended;
    },
  };
}

function isUnlinkedAlready(unlinked: Unlinked): boolean {
  return unlinked.kind === "refused" && unlinked.reason === "not_linked";
}
