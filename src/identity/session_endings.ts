/** Telling others that sessions ended, whichever adapter ended them. */
import type { IdentityProvider } from "./port.ts";

/**
 * A provider that calls `told` after each act that may have ended sessions of a person. What fails
 * there is logged and stands in nobody's way: the sessions have ended all the same.
 */
export function announceSessionEndings(
  provider: IdentityProvider,
  told: (identity_id: string) => Promise<void>,
): IdentityProvider {
  const announce = async (identity_id: string): Promise<void> => {
    try {
      await told(identity_id);
    } catch (error) {
      const reason = error instanceof Error ? error.name : typeof error;
      console.warn({ event: "session_ending_not_told", reason });
    }
  };
  return {
    ...provider,
    async signOut(request) {
      const resumed = await provider.resume(request);
      const signed_out = await provider.signOut(request);
      if (resumed.kind === "session") await announce(resumed.session.identity_id);
      return signed_out;
    },
    async signOutEverywhere(identity_id) {
      await provider.signOutEverywhere(identity_id);
      await announce(identity_id);
    },
    async unlink(identity_id, way) {
      const unlinked = await provider.unlink(identity_id, way);
      await announce(identity_id);
      return unlinked;
    },
    async endSession(identity_id, session_id) {
      await provider.endSession(identity_id, session_id);
      await announce(identity_id);
    },
  };
}
