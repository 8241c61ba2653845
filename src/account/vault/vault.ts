/**
 * The vault: what third-party providers gave for one user, sealed, handed out fresh.
 *
 * A token about to run out is renewed once for all who wait for it. Providers that rotate refresh
 * tokens revoke the whole grant when one is used twice, so two rules hold: nobody starts a renewal
 * without looking, in the same synchronous step, whether one of this revision is under way; and nobody
 * gets a token before it is written. What remains is a crash between the provider's answer and our
 * write: the user then has to connect again. That is accepted, since no order of steps on our side
 * removes it.
 *
 * Reads and writes of the rows are synchronous; only sealing and the provider are waited for. Money is
 * never touched, nor held up: the object answers other calls meanwhile.
 */
import { eq, sql } from "drizzle-orm";
import { accepted, refused } from "../../domain/result.ts";
import type { EncryptionKey } from "../../keys/encryption.ts";
import type { OAuthProvider } from "../../oauth/providers.ts";
import { refreshTokens } from "../../oauth/token_endpoint.ts";
import type { GrantedTokens, UpstreamTokens } from "../../oauth/upstream_tokens.ts";
import type { Answer, HandedOutUpstreamToken, VaultSettings } from "../contract.ts";
import * as schema from "../sql/schema.ts";
import type { AccountDatabase } from "../sql/query.ts";
import { seal, unseal } from "./sealing.ts";

/** An upstream token that would expire within this time is renewed first, so that the app has time to use it. */
const UPSTREAM_TOKEN_RENEW_BEFORE_MS = 60_000;

/** The pause after a provider refused a refresh token for good. A new sign-in ends the pause. */
const GRANT_OVER_PAUSE_MS = 60_000;

type Row = typeof schema.upstreamTokens.$inferSelect;

/** The part of a row that is sealed, as JSON. */
interface Secrets {
  readonly access_token: string;
  readonly refresh_token: string | null;
}

const { upstreamTokens, upstreamUnlinks } = schema;

export class Vault {
  readonly #database: AccountDatabase;
  readonly #identity_id: string;
  readonly #isClosed: () => boolean;
  /** Renewals under way, by the revision they renew. Gone when settled: a failure is tried again. */
  readonly #renewals = new Map<string, Promise<Answer<HandedOutUpstreamToken>>>();
  /** Revisions whose grant the provider called over, and when. A hint that spares the provider. */
  readonly #over_at_ms = new Map<string, number>();

  /** `isClosed`: whether the account is deleted, and nothing more is kept in it. */
  constructor(database: AccountDatabase, identity_id: string, isClosed: () => boolean) {
    this.#database = database;
    this.#identity_id = identity_id;
    this.#isClosed = isClosed;
  }

  /**
   * Keeps what a sign-in brought, in place of what was held for the provider. Where it brought no
   * refresh token for the same grant, the one held goes on: providers often give it only once. What
   * comes through an identity unlinked meanwhile is dropped.
   */
  async keep(tokens: UpstreamTokens, keys: readonly EncryptionKey[]): Promise<void> {
    const { provider, access_token } = tokens;
    for (;;) {
      const before = this.#find(provider);
      if (this.#isUnwanted(tokens)) return;
      const carries_over =
        tokens.refresh_token === null && before !== null && isSameGrant(before, tokens);
      // A renewal under way is using up the very token that would go on.
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

  /** Forgets a provider's tokens; neither a renewal nor a sign-in under way brings anything back. */
  forget(provider: string, linked_at_ms: number): void {
    if (this.#isClosed()) return;
    const latest = sql`max(${upstreamUnlinks.linked_at_ms}, ${linked_at_ms})`;
    this.#database
      .insert(upstreamUnlinks)
      .values({ provider, linked_at_ms })
      .onConflictDoUpdate({
        target: upstreamUnlinks.provider,
        set: { linked_at_ms: latest },
      })
      .run();
    this.#database.delete(upstreamTokens).where(eq(upstreamTokens.provider, provider)).run();
  }

  /** Forgets everything. A renewal under way finds no row to write to. */
  forgetAll(): void {
    this.#database.delete(upstreamTokens).run();
  }

  /**
   * The access token held for a provider, renewed where it runs out within a minute. Refused as
   * `token_not_found`, `reconnect_required` or `upstream_unavailable`.
   */
  async read(provider: string, settings: VaultSettings): Promise<Answer<HandedOutUpstreamToken>> {
    const row = this.#find(provider);
    if (row === null) return refused({ code: "token_not_found" });
    if (settings.provider !== null && !isIssuerOf(row, settings.provider)) {
      return refused({ code: "reconnect_required" });
    }
    if (!runsOutSoon(row)) return this.#handOut(row, settings.encryption_keys);
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
    if (row.key_id !== keys[0]?.kid) await this.#sealAnew(row, secrets, keys);
    return accepted({ token: secrets.access_token });
  }

  async #renew(row: Row, settings: VaultSettings): Promise<Answer<HandedOutUpstreamToken>> {
    const { provider, encryption_keys: keys } = settings;
    const secrets = await this.#open(row, keys);
    if (secrets === null) return refused({ code: "reconnect_required" });
    // A refresh token is its client's alone (RFC 6749, section 6): another one's is not even shown it.
    const renewable = provider !== null && row.client_id === provider.client_id;
    if (!renewable || secrets.refresh_token === null) {
      if (!hasRunOut(row)) return this.#handOut(row, keys);
      return refused({ code: provider === null ? "token_not_found" : "reconnect_required" });
    }
    const over_at_ms = this.#over_at_ms.get(row.revision);
    if (over_at_ms !== undefined && Date.now() - over_at_ms < GRANT_OVER_PAUSE_MS) {
      return refused({ code: "reconnect_required" });
    }
    const outcome = await refreshTokens(provider, secrets.refresh_token);
    if (outcome.kind === "renewed") return this.#replace(row, secrets, outcome.tokens, settings);
    // A sign-in that came meanwhile has brought something better than this failure.
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
    // The row stays: what "over" means to a provider may pass, and only a sign-in brings more.
    this.#over_at_ms.set(row.revision, Date.now());
    return refused({ code: "reconnect_required" });
  }

  /** Writes renewed tokens unless the row was replaced or forgotten meanwhile, then hands out. */
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

  /** Moves a row to the first key. Its revision stays, since its tokens do. */
  async #sealAnew(row: Row, secrets: Secrets, keys: readonly EncryptionKey[]): Promise<void> {
    const sealed = await this.#seal(row.provider, secrets, keys);
    if (this.#find(row.provider)?.revision !== row.revision) return;
    this.#database
      .update(upstreamTokens)
      .set(sealed)
      .where(eq(upstreamTokens.provider, row.provider))
      .run();
  }

  #find(provider: string): Row | null {
    const held = eq(upstreamTokens.provider, provider);
    return this.#database.select().from(upstreamTokens).where(held).get() ?? null;
  }

  /** Whether the identity that brought tokens was unlinked meanwhile, or the whole account deleted. */
  #isUnwanted({ provider, linked_at_ms }: UpstreamTokens): boolean {
    if (this.#isClosed()) return true;
    const unlinked = eq(upstreamUnlinks.provider, provider);
    const row = this.#database.select().from(upstreamUnlinks).where(unlinked).get();
    return row !== undefined && linked_at_ms <= row.linked_at_ms;
  }

  #isUntouched(row: Row): boolean {
    const revision = this.#find(row.provider)?.revision;
    return revision === row.revision && !this.#renewals.has(row.revision);
  }

  #write(row: Omit<Row, "revision" | "updated_at_ms">): void {
    this.#over_at_ms.clear();
    const whole = { ...row, revision: crypto.randomUUID(), updated_at_ms: Date.now() };
    this.#database
      .insert(upstreamTokens)
      .values(whole)
      .onConflictDoUpdate({ target: upstreamTokens.provider, set: whole })
      .run();
  }

  #seal(provider: string, secrets: Secrets, keys: readonly EncryptionKey[]) {
    return seal(keys, { identity_id: this.#identity_id, provider }, JSON.stringify(secrets));
  }

  async #open(row: Row, keys: readonly EncryptionKey[]): Promise<Secrets | null> {
    const { provider, key_id } = row;
    const json = await unseal(keys, { identity_id: this.#identity_id, provider }, row);
    if (json !== null) return JSON.parse(json) as Secrets;
    // Nothing is deleted: the operator may have retired a key too early and can put it back.
    console.error({ event: "upstream_tokens_unreadable", provider, key_id });
    return null;
  }
}

/** Whether two rows are of one grant: of one person, by the same issuer, to the same client. */
function isSameGrant(row: Row, { subject, issuer, client_id }: UpstreamTokens): boolean {
  return row.subject === subject && row.issuer === issuer && row.client_id === client_id;
}

/**
 * Whether a row's tokens are of the provider that its id names now. If not, neither may they go to that
 * server, nor may an app take them for tokens of it.
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

/** Whether a token is too short-lived to hand out as it is. One without an end never is. */
function runsOutSoon({ expires_at_ms }: Row): boolean {
  return expires_at_ms !== null && expires_at_ms - Date.now() <= UPSTREAM_TOKEN_RENEW_BEFORE_MS;
}

function hasRunOut({ expires_at_ms }: Row): boolean {
  return expires_at_ms !== null && expires_at_ms <= Date.now();
}
