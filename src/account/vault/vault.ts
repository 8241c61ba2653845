/**
 * The vault: one user's upstream tokens, encrypted, and renewed before they expire.
 *
 * An expiring token is renewed once for all calls that wait for it. A provider that rotates refresh tokens revokes the
 * whole authorization if one is used twice. So a renewal starts only after a check, in the same synchronous step, that
 * no other renewal of this revision is under way; and no call gets a token before the token is written. One risk is
 * accepted, because no order of steps avoids it: after a crash between the provider's response and our write, the user
 * must connect again.
 *
 * Rows are read and written synchronously; only sealing and the provider are awaited. The object serves other calls
 * meanwhile.
 */
import { accepted, refused } from "../../domain/result.ts";
import type { EncryptionKey } from "../../keys/encryption.ts";
import type { OAuthProvider } from "../../oauth/providers.ts";
import { refreshTokens } from "../../oauth/token_endpoint.ts";
import type { GrantedTokens, UpstreamTokens } from "../../oauth/upstream_tokens.ts";
import type { Answer, HandedOutUpstreamToken, VaultSettings } from "../contract.ts";
import type { AccountDatabase, Rows } from "../sql/database.ts";
import { seal, unseal } from "./sealing.ts";

/** An upstream token that would expire within this time is renewed first, so that the app has time to use it. */
const UPSTREAM_TOKEN_RENEW_BEFORE_MS = 60_000;

/** The pause after a provider refused a refresh token for good. A new sign-in ends the pause. */
const GRANT_OVER_PAUSE_MS = 60_000;

type Row = Rows["upstream_tokens"];

/** The sealed part of a row, as JSON. */
interface Secrets {
  readonly access_token: string;
  readonly refresh_token: string | null;
}

export class Vault {
  readonly #database: AccountDatabase;
  readonly #identity_id: string;
  readonly #isClosed: () => boolean;
  /** Renewals under way, by the revision that they renew. A failed renewal may be tried again. */
  readonly #renewals = new Map<string, Promise<Answer<HandedOutUpstreamToken>>>();
  /** Revisions whose refresh token the provider refused, and when, so that it is not asked again at once. */
  readonly #refused_at_ms = new Map<string, number>();

  /** `isClosed`: whether the account is deleted, so that nothing may be stored any more. */
  constructor(database: AccountDatabase, identity_id: string, isClosed: () => boolean) {
    this.#database = database;
    this.#identity_id = identity_id;
    this.#isClosed = isClosed;
  }

  /**
   * Stores the tokens that a sign-in brought in place of older ones. If it brought no refresh token for the same
   * authorization, the stored one is kept, because providers often give it only once. Tokens of an identity that was
   * unlinked meanwhile are dropped.
   */
  async keep(tokens: UpstreamTokens, keys: readonly EncryptionKey[]): Promise<void> {
    const { provider, access_token } = tokens;
    for (;;) {
      const before = this.#find(provider);
      if (this.#isUnwanted(tokens)) return;
      const carries_over =
        tokens.refresh_token === null && before !== null && isSameAuthorization(before, tokens);
      // A renewal under way uses up the refresh token that would be kept.
      if (carries_over) await this.#renewals.get(before.revision)?.catch(() => undefined);
      const held = carries_over ? await this.#open(before, keys) : null;
      const refresh_token = tokens.refresh_token ?? held?.refresh_token ?? null;
      const sealed = await this.#seal(provider, { access_token, refresh_token }, keys);
      if (carries_over && !this.#isUntouched(before)) continue;
      if (this.#isUnwanted(tokens)) return;
      const { subject, scope, expires_at_ms, issuer, client_id } = tokens;
      this.#write({ provider, subject, scope, expires_at_ms, issuer, client_id, ...sealed });
      return;
    }
  }

  /** Deletes a provider's tokens. A renewal or a sign-in under way cannot bring them back. */
  forget(provider: string, linked_at_ms: number): void {
    if (this.#isClosed()) return;
    this.#database.run(
      `insert into upstream_unlinks (provider, linked_at_ms) values (?, ?)
       on conflict (provider) do update set linked_at_ms = max(linked_at_ms, excluded.linked_at_ms)`,
      provider,
      linked_at_ms,
    );
    this.#database.run("delete from upstream_tokens where provider = ?", provider);
  }

  /**
   * The stored access token of a provider, renewed if it expires within a minute. Refused as `token_not_found`,
   * `reconnect_required` or `upstream_unavailable`.
   */
  async read(provider: string, settings: VaultSettings): Promise<Answer<HandedOutUpstreamToken>> {
    const row = this.#find(provider);
    if (row === null) return refused({ code: "token_not_found" });
    if (settings.provider !== null && !isIssuerOf(row, settings.provider)) {
      return refused({ code: "reconnect_required" });
    }
    if (!expiresSoon(row)) return this.#handOut(row, settings.encryption_keys);
    const under_way = this.#renewals.get(row.revision);
    if (under_way !== undefined) return under_way;
    const renewal = this.#renew(row, settings).finally(() => this.#renewals.delete(row.revision));
    this.#renewals.set(row.revision, renewal);
    return renewal;
  }

  async #handOut(
    row: Row,
    keys: readonly EncryptionKey[],
  ): Promise<Answer<HandedOutUpstreamToken>> {
    const secrets = await this.#open(row, keys);
    if (secrets === null) return refused({ code: "reconnect_required" });
    if (row.key_id !== keys[0]?.kid) await this.#sealAgain(row, secrets, keys);
    return accepted({ token: secrets.access_token });
  }

  async #renew(row: Row, settings: VaultSettings): Promise<Answer<HandedOutUpstreamToken>> {
    const { provider, encryption_keys: keys } = settings;
    const secrets = await this.#open(row, keys);
    if (secrets === null) return refused({ code: "reconnect_required" });
    // A refresh token is bound to its client (RFC 6749, section 6), so it is never sent for another client.
    const renewable = provider !== null && row.client_id === provider.client_id;
    if (!renewable || secrets.refresh_token === null) {
      if (!hasExpired(row)) return this.#handOut(row, keys);
      return refused({ code: provider === null ? "token_not_found" : "reconnect_required" });
    }
    const refused_at_ms = this.#refused_at_ms.get(row.revision);
    if (refused_at_ms !== undefined && Date.now() - refused_at_ms < GRANT_OVER_PAUSE_MS) {
      return refused({ code: "reconnect_required" });
    }
    const outcome = await refreshTokens(provider, secrets.refresh_token);
    if (outcome.kind === "renewed") return this.#replace(row, secrets, outcome.tokens, settings);
    // A sign-in has brought new tokens meanwhile.
    if (this.#find(row.provider)?.revision !== row.revision) {
      return this.read(row.provider, settings);
    }
    const { kind, ...detail } = outcome;
    console.warn({ event: "upstream_refresh", outcome: kind, provider: provider.id, ...detail });
    if (outcome.kind === "failed") {
      return refused({
        code: "upstream_unavailable",
        upstream_status: outcome.upstream_status,
      });
    }
    // The row stays, because a provider's refusal may be temporary.
    this.#refused_at_ms.set(row.revision, Date.now());
    return refused({ code: "reconnect_required" });
  }

  /** Writes renewed tokens, unless the row was replaced or deleted meanwhile, and returns the access token. */
  async #replace(
    row: Row,
    used: Secrets,
    renewed: GrantedTokens,
    settings: VaultSettings,
  ): Promise<Answer<HandedOutUpstreamToken>> {
    const { provider, subject, issuer, client_id } = row;
    const { access_token, expires_at_ms } = renewed;
    const refresh_token = renewed.refresh_token ?? used.refresh_token;
    const keys = settings.encryption_keys;
    const sealed = await this.#seal(provider, { access_token, refresh_token }, keys);
    if (this.#find(provider)?.revision !== row.revision) return this.read(provider, settings);
    const scope = renewed.scope ?? row.scope;
    this.#write({ provider, subject, issuer, client_id, scope, expires_at_ms, ...sealed });
    return accepted({ token: access_token });
  }

  /** Seals a row with the first key. Its revision stays, because its tokens do not change. */
  async #sealAgain(row: Row, secrets: Secrets, keys: readonly EncryptionKey[]): Promise<void> {
    const sealed = await this.#seal(row.provider, secrets, keys);
    if (this.#find(row.provider)?.revision !== row.revision) return;
    this.#database.update("upstream_tokens", sealed, { provider: row.provider });
  }

  #find(provider: string): Row | null {
    return this.#database.row("upstream_tokens", "where provider = ?", provider);
  }

  /** Whether the identity that brought the tokens was unlinked meanwhile, or the account deleted. */
  #isUnwanted({ provider, linked_at_ms }: UpstreamTokens): boolean {
    if (this.#isClosed()) return true;
    const unlinked = this.#database.row("upstream_unlinks", "where provider = ?", provider);
    return unlinked !== null && linked_at_ms <= unlinked.linked_at_ms;
  }

  #isUntouched(row: Row): boolean {
    const revision = this.#find(row.provider)?.revision;
    return revision === row.revision && !this.#renewals.has(row.revision);
  }

  #write(row: Omit<Row, "revision" | "updated_at_ms">): void {
    this.#refused_at_ms.clear();
    const whole = { ...row, revision: crypto.randomUUID(), updated_at_ms: Date.now() };
    this.#database.save("upstream_tokens", ["provider"], whole);
  }

  #seal(provider: string, secrets: Secrets, keys: readonly EncryptionKey[]) {
    return seal(keys, { identity_id: this.#identity_id, provider }, JSON.stringify(secrets));
  }

  async #open(row: Row, keys: readonly EncryptionKey[]): Promise<Secrets | null> {
    const { provider, key_id } = row;
    const json = await unseal(keys, { identity_id: this.#identity_id, provider }, row);
    if (json !== null) return JSON.parse(json) as Secrets;
    // Nothing is deleted, because the operator may have removed a key too early and can put it back.
    console.error({ event: "upstream_tokens_unreadable", provider, key_id });
    return null;
  }
}

/** Whether tokens belong to the same authorization: the same person, issuer and client. */
function isSameAuthorization(row: Row, { subject, issuer, client_id }: UpstreamTokens): boolean {
  return row.subject === subject && row.issuer === issuer && row.client_id === client_id;
}

/**
 * Whether the provider that is configured under this id issued the tokens. If not, they may not be sent to it, and an
 * app may not receive them as its tokens.
 */
function isIssuerOf({ provider, issuer: known_issuer }: Row, { issuer }: OAuthProvider): boolean {
  if (known_issuer === issuer) return true;
  console.error({
    event: "upstream_tokens_of_another_issuer",
    provider,
    known_issuer,
    configured_issuer: issuer,
    remedy: "Give configured_issuer a provider id of its own in SIGNIN_PROVIDERS.",
  });
  return false;
}

/** Whether a token must be renewed first. A token without an expiry never must. */
function expiresSoon({ expires_at_ms }: Row): boolean {
  return expires_at_ms !== null && expires_at_ms - Date.now() <= UPSTREAM_TOKEN_RENEW_BEFORE_MS;
}

function hasExpired({ expires_at_ms }: Row): boolean {
  return expires_at_ms !== null && expires_at_ms <= Date.now();
}
