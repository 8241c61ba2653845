/** Ends what depends on sessions and sign-in methods, whichever adapter ended them. */
import { RECOVERY_METHOD, type IdentityPort, type Session, type Unlinked } from "./port.ts";
import { errorName } from "../domain/result.ts";

/** The end of a person's access: some sessions, all sessions, or a sign-in method that they unlinked. */
export type Ending =
  | { readonly kind: "sessions"; readonly session_ids: readonly string[] }
  | { readonly kind: "all_sessions" }
  | { readonly kind: "signin_method"; readonly signin_method: string };

/** Ends the tokens and streams that depend on what ended. */
type OnEnding = (identity_id: string, ending: Ending) => Promise<unknown>;

/**
 * Wraps a port so that each call that ended sessions also calls `onEnding`, twice if it fails. A second failure
 * is thrown. The sessions have ended, but a token that depends on one is still valid, so the response must not
 * claim success. Signing out everywhere ends all tokens later.
 */
export function withSessionEndings(port: IdentityPort, onEnding: OnEnding): IdentityPort {
  const { passkeys } = port;
  const report: OnEnding = async (identity_id, ending) => {
    try {
      await onEnding(identity_id, ending).catch(() => onEnding(identity_id, ending));
    } catch (error) {
      const reason = errorName(error);
      console.error({ event: "session_revocation_failed", reason });
      throw error;
    }
  };
  const reportAll = async (ended: readonly Session[]): Promise<void> => {
    for (const [identity_id, sessions] of Map.groupBy(ended, (session) => session.identity_id)) {
      const session_ids = sessions.map(({ id }) => id);
      await report(identity_id, { kind: "sessions", session_ids });
    }
  };
  return {
    ...port,
    passkeys: passkeys && {
      ...passkeys,
      async replaceRecoveryCode(session) {
        const replaced = await passkeys.replaceRecoveryCode(session);
        await reportAll(replaced.ended_sessions);
        const signin_method = RECOVERY_METHOD;
        await report(session.identity_id, { kind: "signin_method", signin_method });
        return replaced;
      },
    },
    async signOut(request) {
      const signed_out = await port.signOut(request);
      await reportAll(signed_out.ended_sessions);
      return signed_out;
    },
    async signOutEverywhere(identity_id) {
      const ended = await port.signOutEverywhere(identity_id);
      await report(identity_id, { kind: "all_sessions" });
      return ended;
    },
    async unlink(session, signin_method) {
      const unlinked = await port.unlink(session, signin_method);
      if (unlinked.kind === "unlinked") await reportAll(unlinked.ended_sessions);
      // Repeated for a method that was unlinked before: the first try may have failed after the unlinking.
      if (unlinked.kind === "unlinked" || isUnlinkedAlready(unlinked)) {
        await report(session.identity_id, { kind: "signin_method", signin_method });
      }
      return unlinked;
    },
    async endSession(identity_id, session_id) {
      const ended = await port.endSession(identity_id, session_id);
      // Repeated for a session that had ended before: the first try may have failed after the ending.
      await report(identity_id, { kind: "sessions", session_ids: [session_id] });
      return ended;
    },
  };
}

function isUnlinkedAlready(unlinked: Unlinked): boolean {
  return unlinked.kind === "refused" && unlinked.reason === "not_linked";
}
