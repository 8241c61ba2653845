/**
 * Sealing secrets at rest, with keys of each account's own. What is sealed can be opened only for the
 * same account and provider.
 */
import { VAULT_PURPOSE, vaultKeys, type EncryptionKey } from "../../keys/encryption.ts";
import { sealFor, unsealFor, type SealingContext, type Sealed } from "../../keys/sealing.ts";

/** Where a secret belongs. Moved to another place, it does not open. */
export interface SealedFor {
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

/** Opens what {@link seal} made; null where its key is gone, or it was altered or moved. */
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
