/** Session tokens of the accounts of a run, signed with the run's own keys, because 100,000 sign-ins take too long. */
import { createKeyRing, type SigningKey } from "../../src/keys/signing.ts";
import { createSessionTokens, type SessionTokens } from "../../src/tokens/session_token.ts";
import { uuidText } from "../simulator/platform/random.ts";

/** A session token lives 15 minutes. */
const RENEW_AFTER_MS = 6 * 60_000;

export class Callers {
  readonly #tokens: SessionTokens;
  readonly #issuer: string;
  readonly #signed = new Map<number, { readonly token: string; readonly at_ms: number }>();

  constructor(signing_keys: string, issuer: string) {
    const { keys } = JSON.parse(signing_keys) as { keys: SigningKey[] };
    this.#tokens = createSessionTokens(createKeyRing(keys));
    this.#issuer = issuer;
  }

  /** The tokens of these accounts, which do not expire soon. */
  async tokensOf(accounts: Iterable<number>): Promise<ReadonlyMap<number, string>> {
    const tokens = new Map<number, string>();
    for (const account of new Set(accounts)) tokens.set(account, await this.#tokenOf(account));
    return tokens;
  }

  async #tokenOf(account: number): Promise<string> {
    const known = this.#signed.get(account);
    if (known !== undefined && performance.now() - known.at_ms < RENEW_AFTER_MS) return known.token;
    const id = uuidText(Buffer.from(account.toString(16).padStart(32, "0"), "hex"));
    const proof = { kind: "session", session_id: id, azp: this.#issuer } as const;
    const claims = { identity_id: `user_${id}`, proof, binding: null };
    const token = await this.#tokens.sign(this.#issuer, claims);
    this.#signed.set(account, { token, at_ms: performance.now() });
    return token;
  }
}
