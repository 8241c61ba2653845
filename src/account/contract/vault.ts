/** Third-party tokens: settings and result. */
import type { EncryptionKey } from "../../keys/encryption.ts";
import type { OAuthProvider } from "../../oauth/providers.ts";

/** Sent with each call, so that the object's settings cannot differ from its caller's. */
export interface VaultSettings {
  readonly encryption_keys: readonly EncryptionKey[];
  /** Null: the provider is not configured any more. */
  readonly provider: OAuthProvider | null;
  /** The slugs of the apps whose OAuth clients may have this provider's tokens. */
  readonly receiving_apps: readonly string[];
}

/** A third party's access token. */
export interface HandedOutUpstreamToken {
  readonly token: string;
}
