/** A signed-in person with a provider's tokens in the vault. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { EncryptionKey } from "../../../src/keys/encryption.ts";
import type { UpstreamTokens } from "../../../src/oauth/upstream_tokens.ts";
import { servicesFor } from "../../../src/services.ts";
import { send, signIn, type Answer, type SignedIn } from "./passbook.ts";
import { providers } from "./upstream.ts";

export type Settings = Readonly<Record<string, unknown>>;

/** Opens the vault with the same services as the end of a sign-in. */
export function vaultOf(settings: Settings = {}) {
  const services = servicesFor({ ...env, ...settings });
  if (!services.ok) throw new Error(`misconfigured: ${JSON.stringify(services.refusal)}`);
  return services.value.vault;
}

function encryptionKeys(): readonly EncryptionKey[] {
  return (JSON.parse(env.ENCRYPTION_KEYS) as { keys: readonly EncryptionKey[] }).keys;
}

export interface Connected extends SignedIn {
  /** Stores tokens as the end of a sign-in at the provider does. */
  keep(tokens: UpstreamTokens): Promise<void>;
  /** The same, but calls `meanwhile` after it began inside the account. */
  keepMeanwhile(tokens: UpstreamTokens, meanwhile: () => void): Promise<void>;
  /** `GET /api/oauthToken/{provider}`. */
  oauthToken(settings?: Settings, provider?: string): Promise<Answer>;
}

/** Signs in, and keeps `tokens` as a sign-in with the provider would. */
export async function connect(tokens: UpstreamTokens | null, email?: string): Promise<Connected> {
  const person = await signIn(email);
  const keep = (more: UpstreamTokens): Promise<void> => vaultOf().keep(person.identity_id, more);
  if (tokens !== null) await keep(tokens);
  return {
    ...person,
    keep,
    keepMeanwhile: (more, meanwhile) =>
      runInDurableObject(env.ACCOUNT.getByName(person.identity_id), async (account) => {
        const storing = account.keepUpstreamTokens(more, encryptionKeys());
        meanwhile();
        await storing;
      }),
    oauthToken: (settings = {}, provider = "acme") =>
      send(
        "GET",
        `/api/oauthToken/${provider}`,
        { headers: { Authorization: `Bearer ${person.token}` } },
        { ...providers(), ...settings },
      ),
  };
}

/** Expires a person's upstream tokens. */
export async function runOut({ identity_id }: SignedIn): Promise<void> {
  await runInDurableObject(env.ACCOUNT.getByName(identity_id), (_, { storage }) => {
    storage.sql.exec("UPDATE upstream_tokens SET expires_at_ms = ?", Date.now() - 1);
  });
}
