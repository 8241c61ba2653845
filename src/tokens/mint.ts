/** Makes the personal access token of an approved login. */
import { DAY_MS } from "../domain/calendar.ts";
import type { LoginGrant } from "../domain/device_login.ts";
import type { NewPersonalToken } from "../domain/personal_token.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { PersonalTokens } from "./personal_token.ts";

/** What minting asks of others: the account that holds the token's row, and whoever keeps sessions. */
export interface MintParts {
  readonly personal_tokens: PersonalTokens;
  /** How long a token lives, in days. */
  readonly ttl_days: number;
  /** Makes a token valid. Refused as `too_many_tokens`. */
  issue(identity_id: string, token: NewPersonalToken): Promise<Result<null, Refusal>>;
  /** Ends a token. */
  revoke(identity_id: string, id: string): Promise<unknown>;
  /** A living session, by its sign-in method; null where it does not live. */
  readSession(
    session_id: string,
    identity_id: string,
  ): Promise<{ readonly signin_method: string | null } | null>;
}

/** What the device said of itself, as far as the token's owner will know the token by it. */
export interface PersonalTokenOrigin {
  readonly label: string;
  readonly app_slug: string | null;
}

/**
 * Gives the token of a grant, vouched for by `issuer` (the service's base URL). Refused as
 * `expired_token` where the session that approved has ended or its sign-in method was unlinked, and as
 * `too_many_tokens`.
 */
export type MintPersonalToken = (
  issuer: string,
  grant: LoginGrant,
  origin: PersonalTokenOrigin,
) => Promise<Result<string, Refusal>>;

/** Minting with these parts. */
export function createMint(parts: MintParts): MintPersonalToken {
  return async (issuer, grant, { label, app_slug }) => {
    const { identity_id, limits, session_id, signin_method, session_ends_at_ms } = grant;
    const id = crypto.randomUUID();
    const expires_at_ms = Math.min(
      Date.now() + parts.ttl_days * DAY_MS,
      session_ends_at_ms ?? Number.POSITIVE_INFINITY,
    );
    const approval = { session_id, signin_method, ends_with_session: session_ends_at_ms !== null };
    const claims = { identity_id, personal_token_id: id };
    const token = await parts.personal_tokens.sign(issuer, claims, expires_at_ms);
    const row = { id, label, app_slug, limits, ...approval, expires_at_ms };
    const issued = await parts.issue(identity_id, row);
    // An account that was deleted since is no session's any more.
    if (!issued.ok && issued.refusal.code === "unauthorized") {
      return refused({ code: "expired_token" });
    }
    if (!issued.ok) return issued;
    // After the row, not before: a sign-out between look and row would find no token to end.
    let approver_stays = false;
    try {
      const approver = await parts.readSession(session_id, identity_id);
      // Another method than at the approval: that one was unlinked.
      approver_stays = approver !== null && approver.signin_method === signin_method;
    } finally {
      // Nobody has the token yet, and now nobody will.
      if (!approver_stays) await parts.revoke(identity_id, id);
    }
    return approver_stays ? accepted(token) : refused({ code: "expired_token" });
  };
}
