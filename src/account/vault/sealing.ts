/** Seals a user's upstream tokens with keys of the account's own. They open only for the same account and provider. */
import { VAULT_PURPOSE, vaultKeys, type EncryptionKey } from "../../keys/encryption.ts";
import { sealFor, unsealFor, type SealingContext, type Sealed } from "../../keys/sealing.ts";

/** The owner of a sealed secret, which opens for nothing else. */
interface SealedFor {
  readonly identity_id: string;
  readonly provider: string;
}

/** Seals `secret` with the first key. */
export function seal(
  keys: readonly EncryptionKey[],
  owner: SealedFor,
  secret: string,
): Promise<Sealed> {
  return sealFor(vaultKeys(keys, owner.identity_id), contextOf(owner), secret);
}

/** Opens a sealed secret; null if its key is gone, or if it was altered or moved. */
export function unseal(
  keys: readonly EncryptionKey[],
  owner: SealedFor,
  sealed: Sealed,
): Promise<string | null> {
  return unsealFor(vaultKeys(keys, owner.identity_id), contextOf(owner), sealed);
}

function contextOf({ identity_id, provider }: SealedFor): SealingContext {
  return [VAULT_PURPOSE, identity_id, provider];
}
