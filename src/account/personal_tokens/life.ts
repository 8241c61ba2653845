/** The life of an account's personal access tokens: issued, listed, revoked, ended with their session. */
import * as rules from "../../domain/personal_token.ts";
import { TOKENS_PER_ACCOUNT_MAX } from "../../domain/limits.ts";
import { accepted, refused } from "../../domain/result.ts";
import type { Answer, IssueTokenRequest, ListedToken, RevokeTokenRequest } from "../contract.ts";
import { ensureOpen } from "../ledger.ts";
import type { Transaction } from "../transaction.ts";
import { visibleApps } from "./admission.ts";
import { budgetOf, limitsOf } from "./store.ts";

/** Refuses where the account has as many living tokens as it may have. */
export function checkRoomForToken({ tokens, now_ms }: Transaction): Answer<null> {
  return tokens.listLivingTokens(now_ms).length >= TOKENS_PER_ACCOUNT_MAX
    ? refused({ code: "too_many_tokens", limit: TOKENS_PER_ACCOUNT_MAX })
    : accepted(null);
}

/** Makes a token valid: its row. Opens the account, so that a token that may only read never writes. */
export function issueToken(transaction: Transaction, request: IssueTokenRequest): Answer<null> {
  const { tokens, now_ms } = transaction;
  const { id, label, app_slug, limits, session_id, expires_at_ms } = request;
  const { access, upstream, admin, app_slugs, cap } = limits;
  const room = checkRoomForToken(transaction);
  if (!room.ok) return room;
  ensureOpen(transaction);
  tokens.deleteExpiredTokens(now_ms);
  tokens.insertToken({
    id,
    label,
    app_slug,
    access,
    upstream,
    admin,
    session_id,
    app_slugs_json: app_slugs === null ? null : JSON.stringify(app_slugs),
    cap_credits: cap?.credits ?? null,
    cap_period: cap?.period ?? null,
    spent: 0,
    spent_window: 0,
    created_at_ms: now_ms,
    last_used_at_ms: null,
    expires_at_ms,
  });
  return accepted(null);
}

/** Living tokens, newest first. A token limited to some apps sees only itself. */
export function listTokens(transaction: Transaction): Answer<readonly ListedToken[]> {
  const { tokens, token, now_ms } = transaction;
  const limited = visibleApps(transaction) !== undefined;
  const rows = tokens.listLivingTokens(now_ms).filter((row) => !limited || row.id === token?.id);
  return accepted(
    rows.map((row) => {
      const { id, label, app_slug, created_at_ms, last_used_at_ms, expires_at_ms } = row;
      const budget = budgetOf(row);
      return {
        id,
        label,
        app_slug,
        limits: limitsOf(row),
        spent: budget === null ? null : rules.spentNow(budget, now_ms),
        current: row.id === token?.id,
        ends_with_session: row.session_id !== null,
        created_at_ms,
        last_used_at_ms,
        expires_at_ms,
      };
    }),
  );
}

/** Ends a token's life now. A token may end its own only. */
export function revokeToken(
  { tokens, token, now_ms }: Transaction,
  { id }: RevokeTokenRequest,
): Answer<null> {
  if (token !== null && token.id !== id) {
    return refused({ code: "scope", reason: "itself_only" });
  }
  const row = tokens.readToken(id);
  if (row === null || row.expires_at_ms <= now_ms)
    return refused({ code: "personal_token_not_found" });
  tokens.deleteToken(id);
  return accepted(null);
}

/** Ends the tokens that were to end with these sessions, or with any. Again, it changes nothing. */
export function endSessions(
  { tokens }: Transaction,
  session_ids: readonly string[] | "all",
): Answer<null> {
  if (session_ids === "all") tokens.deleteTokensOfAllSessions();
  else tokens.deleteTokensOfSessions(session_ids);
  return accepted(null);
}

/** Ends every token of the account. */
export function revokeAllTokens({ tokens }: Transaction): Answer<null> {
  tokens.deleteAllTokens();
  return accepted(null);
}
