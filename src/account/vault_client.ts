/** The vault as the rest of the service sees it: settings filled in, one hop to the account's object. */
import type { Config } from "../config.ts";
import type { Accounts } from "./client.ts";
import type { UpstreamTokens } from "../identity/upstream_tokens.ts";
import type { Answer, Caller, HandedOutToken } from "./contract.ts";

export interface TokenVault {
  /** Keeps what a sign-in brought, in place of what was held for the provider. */
  keep(identity_id: string, tokens: UpstreamTokens): Promise<void>;
  /**
   * The access token held for a provider, good for another minute at least where it can be renewed.
   * A personal access token gets it only where nothing limits it.
   * Refused as `token_not_found`, `reconnect_required` or `upstream_unavailable`.
   */
  read(identity_id: string, caller: Caller, provider: string): Promise<Answer<HandedOutToken>>;
  /** Forgets what is held for a provider. */
  forget(identity_id: string, provider: string): Promise<void>;
}

/** The vault over the accounts. The object learns keys and provider with each call, and logs neither. */
export function createTokenVault(accounts: Accounts, config: Config): TokenVault {
  const { encryption_keys, signin_providers } = config;
  return {
    async keep(identity_id, tokens) {
      await accounts(identity_id).keepUpstreamTokens(tokens, encryption_keys);
    },
    async read(identity_id, caller, provider_id) {
      const provider = signin_providers.find(({ id }) => id === provider_id) ?? null;
      const settings = { encryption_keys, provider };
      return accounts(identity_id).readUpstreamToken(caller, provider_id, settings);
    },
    async forget(identity_id, provider) {
      await accounts(identity_id).forgetUpstreamTokens(provider);
    },
  };
}
