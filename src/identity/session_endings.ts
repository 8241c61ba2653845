/** Telling others that sessions ended, whichever adapter ended them. */
import type { IdentityPort, Session } from "./port.ts";
import { errorName } from "../domain/error_name.ts";

/** Hears that these sessions of a person ended, or all they had. */
export type HearOfEndings = (
  identity_id: string,
  session_ids: readonly string[] | "all",
) => Promise<unknown>;

/**
 * A provider that calls `told` after each act that ended sessions, twice where it fails. What fails
 * again is thrown: the sessions have ended all the same, but a token that hangs on one goes on, and
 * nobody is told that all is over. Signing out everywhere, later, tells of all.
 */
export function announceSessionEndings(provider: IdentityPort, told: HearOfEndings): IdentityPort {
  const announce: HearOfEndings = async (identity_id, session_ids) => {
    try {
      await told(identity_id, session_ids).catch(() => told(identity_id, session_ids));
    } catch (error) {
      const reason = errorName(error);
      console.error({ event: "session_ending_not_told", reason });
      throw error;
    }
  };
  const announceAll = async (ended: readonly Session[]): Promise<void> => {
    for (const [identity_id, sessions] of Map.groupBy(ended, (session) => session.identity_id)) {
      const session_ids = sessions.map(({ id }) => id);
      await announce(identity_id, session_ids);
    }
  };
  return {
    ...provider,
    async signOut(request) {
      const signed_out = await provider.signOut(request);
      if (signed_out.kind === "signed_out") await announceAll(signed_out.ended_sessions);
      return signed_out;
    },
    async signOutEverywhere(identity_id) {
      const ended = await provider.signOutEverywhere(identity_id);
      await announce(identity_id, "all");
      return ended;
    },
    async unlink(session, provider_id) {
      const unlinked = await provider.unlink(session, provider_id);
      if (unlinked.kind === "unlinked") await announceAll(unlinked.ended_sessions);
      return unlinked;
    },
    async endSession(identity_id, session_id) {
      const ended = await provider.endSession(identity_id, session_id);
      // Also where it had ended already: a first try may have failed in between.
      await announce(identity_id, [session_id]);
      return ended;
    },
  };
}
