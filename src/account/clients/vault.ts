/** How the Worker reaches a user's upstream tokens: with its settings, in one hop to the account's object. */
import type { EncryptionKey } from "../../keys/encryption.ts";
import type { OAuthProvider } from "../../oauth/providers.ts";
import type { UpstreamTokens } from "../../oauth/upstream_tokens.ts";
import type { Accounts } from "./accounts.ts";
import type { Answer, Caller, HandedOutUpstreamToken } from "../contract.ts";

/** The port to users' upstream tokens, with two adapters: the vault, and `clerk_tokens.ts`. */
export interface UpstreamTokenSource {
  /**
   * The access token of a provider that is held for a person. If it can be renewed, it is valid for at least another
   * minute. A personal access token needs the scope for upstream tokens. `receiving_apps`: the apps whose OAuth clients may
   * have it; none if it is left out. Refused as `scope`, `token_not_found`, `reconnect_required` or `upstream_unavailable`.
   */
  read(
    identity_id: string,
    caller: Caller,
    provider: string,
    receiving_apps?: readonly string[],
  ): Promise<Answer<HandedOutUpstreamToken>>;
}

export interface UpstreamTokenVault extends UpstreamTokenSource {
  /** Stores the tokens that a sign-in brought in place of older ones, unless their identity was unlinked meanwhile. */
  keep(identity_id: string, tokens: UpstreamTokens): Promise<void>;
  /** Deletes the tokens of a provider; later ones of an identity that was linked by then are dropped. */
  forget(identity_id: string, provider: string, linked_at_ms: number): Promise<void>;
}

interface UpstreamTokenVaultOptions {
  /** The first key seals; every key opens. */
  readonly encryption_keys: readonly EncryptionKey[];
  /** The providers that can renew tokens. */
  readonly providers: readonly OAuthProvider[];
}

/** The object receives the keys and the provider with each call, and never logs them. */
export function createUpstreamTokenVault(
  accounts: Accounts,
  { encryption_keys, providers }: UpstreamTokenVaultOptions,
): UpstreamTokenVault {
  return {
    async keep(identity_id, tokens) {
      await accounts(identity_id).keepUpstreamTokens(tokens, encryption_keys);
    },
    async read(identity_id, caller, provider_id, receiving_apps = []) {
      const provider = providers.find(({ id }) => id === provider_id) ?? null;
      const settings = { encryption_keys, provider, receiving_apps };
      return accounts(identity_id).readUpstreamToken(caller, provider_id, settings);
    },
    async forget(identity_id, provider, linked_at_ms) {
      await accounts(identity_id).forgetUpstreamTokens(provider, linked_at_ms);
    },
  };
}
