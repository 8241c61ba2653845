/** The vault as the rest of the service sees it: settings filled in, one hop to the account's object. */
import type { EncryptionKey } from "../../keys/encryption.ts";
import type { OAuthProvider } from "../../oauth/providers.ts";
import type { UpstreamTokens } from "../../oauth/upstream_tokens.ts";
import type { Accounts } from "./accounts.ts";
import type { Answer, Caller, HandedOutUpstreamToken } from "../contract.ts";

export interface UpstreamTokenVault {
  /**
   * Keeps what a sign-in brought, in place of what was held for the provider, unless its identity was
   * unlinked meanwhile.
   */
  keep(identity_id: string, tokens: UpstreamTokens): Promise<void>;
  /**
   * The access token held for a provider, good for another minute at least where it can be renewed.
   * A personal access token gets it only where nothing limits it.
   * Refused as `token_not_found`, `reconnect_required` or `upstream_unavailable`.
   */
  read(
    identity_id: string,
    caller: Caller,
    provider: string,
  ): Promise<Answer<HandedOutUpstreamToken>>;
  /** Forgets what is held for a provider, and drops what its identity of then still brings. */
  forget(identity_id: string, provider: string, linked_at_ms: number): Promise<void>;
}

export interface UpstreamTokenVaultOptions {
  /** The first seals, all open. */
  readonly encryption_keys: readonly EncryptionKey[];
  /** Who can be asked for fresh tokens. */
  readonly providers: readonly OAuthProvider[];
}

/** The vault over the accounts. The object learns keys and provider with each call, and logs neither. */
export function createUpstreamTokenVault(
  accounts: Accounts,
  { encryption_keys, providers }: UpstreamTokenVaultOptions,
): UpstreamTokenVault {
  return {
    async keep(identity_id, tokens) {
      await accounts(identity_id).keepUpstreamTokens(tokens, encryption_keys);
    },
    async read(identity_id, caller, provider_id) {
      const provider = providers.find(({ id }) => id === provider_id) ?? null;
      const settings = { encryption_keys, provider };
      return accounts(identity_id).readUpstreamToken(caller, provider_id, settings);
    },
    async forget(identity_id, provider, linked_at_ms) {
      await accounts(identity_id).forgetUpstreamTokens(provider, linked_at_ms);
    },
  };
}
