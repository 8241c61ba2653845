/** The second adapter for upstream tokens: those that Clerk holds for the people of an app that signs in with Clerk. */
import type { ReadClerkToken } from "../../oauth/clerk.ts";
import type { UpstreamTokenSource } from "./vault.ts";

interface ClerkTokenParts {
  /** Checks the caller's rights, and has the tokens of people who connected a provider on our own pages. */
  readonly vault: UpstreamTokenSource;
  readonly readToken: ReadClerkToken;
  /** The person's id at Clerk; null if they have none, or unlinked it. */
  readSubject(identity_id: string): Promise<string | null>;
}

export function createClerkTokens(parts: ClerkTokenParts): UpstreamTokenSource {
  return {
    async read(identity_id, caller, provider, receiving_apps) {
      const held = await parts.vault.read(identity_id, caller, provider, receiving_apps);
      // Only a caller with the right for upstream tokens gets this refusal.
      if (held.ok || held.refusal.code !== "token_not_found") return held;
      const clerk_user_id = await parts.readSubject(identity_id);
      return clerk_user_id === null ? held : parts.readToken(clerk_user_id, provider);
    },
  };
}
