/** Issues a personal access token: of an approved device login, or for its holder on our own page. */
import { DAY_MS } from "../domain/calendar.ts";
import type { LoginGrant } from "../domain/device_login.ts";
import type { NewAllowance } from "../domain/allowance.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { PersonalTokens } from "./personal_token.ts";

/** The parts that issue a token: the account that stores the token's row, and the sessions. */
interface MintParts {
  readonly personal_tokens: PersonalTokens;
  /** The lifetime of a token, in days. */
  readonly ttl_days: number;
  /** Stores the token's row, which makes it valid. Refused as `limit_reached`. */
  issue(identity_id: string, token: NewAllowance): Promise<Result<null, Refusal>>;
  /** Ends a token. */
  revoke(identity_id: string, id: string): Promise<unknown>;
  /** The sign-in method of a session that has not ended; null: it has ended. */
  readSession(
    session_id: string,
    identity_id: string,
  ): Promise<{ readonly signin_method: string | null } | null>;
}

/** The label that the device client stated or the holder typed, as the token's holder will see it. */
interface PersonalTokenOrigin {
  readonly label: string;
  readonly app_slug: string | null;
  /** The OAuth client that collects it; undefined: none. */
  readonly client_id?: string | undefined;
  /** A shorter lifetime than that of the settings, in days. */
  readonly ttl_days?: number;
}

/**
 * Issues the token of a grant for `issuer` (the service's base URL). Refused as `expired_token` if the
 * approving session has ended or its sign-in method was unlinked, and as `limit_reached`.
 */
export type MintPersonalToken = (
  issuer: string,
  grant: LoginGrant,
  origin: PersonalTokenOrigin,
) => Promise<Result<string, Refusal>>;

export function createMint(parts: MintParts): MintPersonalToken {
  return async (issuer, grant, { label, app_slug, client_id, ttl_days = parts.ttl_days }) => {
    const { identity_id, limits, session_id, signin_method, session_ends_at_ms } = grant;
    const id = crypto.randomUUID();
    const expires_at_ms = Math.min(
      Date.now() + Math.min(ttl_days, parts.ttl_days) * DAY_MS,
      session_ends_at_ms ?? Number.POSITIVE_INFINITY,
    );
    const approval = { session_id, signin_method, ends_with_session: session_ends_at_ms !== null };
    const client = client_id === undefined ? {} : { client_id };
    const claims = { identity_id, personal_token_id: id, ...client };
    const token = await parts.personal_tokens.sign(issuer, claims, expires_at_ms);
    const row = { id, label, app_slug, ...client, limits, ...approval, expires_at_ms };
    const issued = await parts.issue(identity_id, row);
    // An account that was deleted since has no sessions.
    if (!issued.ok && issued.refusal.code === "unauthorized") {
      return refused({ code: "expired_token" });
    }
    if (!issued.ok) return issued;
    // After the row and not before: otherwise a sign-out between the check and the row would find no token to
    // end.
    let approver_stays = false;
    try {
      const approver = await parts.readSession(session_id, identity_id);
      // Another method than at the approval means that the approving one was unlinked.
      approver_stays = approver !== null && approver.signin_method === signin_method;
    } finally {
      // Nobody has received the token yet.
      if (!approver_stays) await parts.revoke(identity_id, id);
    }
    return approver_stays ? accepted(token) : refused({ code: "expired_token" });
  };
}
