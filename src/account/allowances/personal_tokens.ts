/** Personal access tokens: they are issued, listed and revoked, and they end with their session or sign-in method. */
import { spentNow } from "../../domain/spending_cap.ts";
import { PERSONAL_TOKENS_PER_ACCOUNT_MAX } from "../../domain/limits.ts";
import { accepted, refused } from "../../domain/result.ts";
import type {
  Answer,
  Approver,
  IssuePersonalTokenRequest,
  ListedPersonalToken,
  RevokePersonalTokenRequest,
} from "../contract.ts";
import { actingToken, visibleApps } from "../caller.ts";
import { ensureOpen } from "../ledger/posting.ts";
import type { Transaction } from "../transaction.ts";
import { readBudget } from "./spending.ts";
import { limitsOf, type PersonalTokenRow } from "../sql/personal_token_store.ts";

/** Refuses if the account has the maximum number of valid tokens. */
export function checkRoomForPersonalToken({ personal_tokens, now_ms }: Transaction): Answer<null> {
  return personal_tokens.listLiving(now_ms).length >= PERSONAL_TOKENS_PER_ACCOUNT_MAX
    ? refused({ code: "too_many_tokens", limit: PERSONAL_TOKENS_PER_ACCOUNT_MAX })
    : accepted(null);
}

/** Stores the row that makes a token valid. Also opens the account, so that a read-only token never has to. */
export function issuePersonalToken(
  transaction: Transaction,
  request: IssuePersonalTokenRequest,
): Answer<null> {
  const { personal_tokens, now_ms } = transaction;
  const { id, label, app_slug, limits, expires_at_ms } = request;
  const { session_id, signin_method, ends_with_session } = request;
  const { access, upstream, admin, app_slugs, cap } = limits;
  const room = checkRoomForPersonalToken(transaction);
  if (!room.ok) return room;
  ensureOpen(transaction);
  personal_tokens.endExpired(now_ms);
  personal_tokens.insert({
    id,
    label,
    app_slug,
    access,
    upstream,
    admin,
    session_id,
    signin_method,
    ends_with_session,
    app_slugs_json: app_slugs === null ? null : JSON.stringify(app_slugs),
    cap_credits: cap?.credits ?? null,
    cap_period: cap?.period ?? null,
    created_at_ms: now_ms,
    last_used_at_ms: null,
    expires_at_ms,
    ended_at_ms: null,
  });
  return accepted(null);
}

/** Valid tokens, newest first. A token limited to some apps sees only itself. */
export function listPersonalTokens(
  transaction: Transaction,
): Answer<readonly ListedPersonalToken[]> {
  const { personal_tokens, now_ms } = transaction;
  const personal_token = actingToken(transaction);
  const limited = visibleApps(transaction) !== undefined;
  const rows = personal_tokens
    .listLiving(now_ms)
    .filter((row) => !limited || row.id === personal_token?.id);
  return accepted(rows.map((row) => describePersonalToken(transaction, row)));
}

/** A stored token as its holder sees it. */
export function describePersonalToken(
  transaction: Transaction,
  row: PersonalTokenRow,
): ListedPersonalToken {
  const { id, label, app_slug, created_at_ms, last_used_at_ms, expires_at_ms, ended_at_ms } = row;
  const budget = readBudget(transaction, row);
  return {
    id,
    label,
    app_slug,
    limits: limitsOf(row),
    spent: budget === null ? null : spentNow(budget, transaction.now_ms),
    current: row.id === actingToken(transaction)?.id,
    ends_with_session: row.ends_with_session,
    session_id: row.session_id,
    created_at_ms,
    last_used_at_ms,
    expires_at_ms,
    ended_at_ms,
  };
}

/** Ends a token now. A personal token may end only itself, and an app's key may end no token. */
export function revokePersonalToken(
  transaction: Transaction,
  { id }: RevokePersonalTokenRequest,
): Answer<null> {
  const { personal_tokens, now_ms } = transaction;
  const personal_token = actingToken(transaction);
  if (transaction.caller.kind === "app") return refused({ code: "scope", reason: "app_key" });
  if (personal_token !== null && personal_token.id !== id) {
    return refused({ code: "scope", reason: "itself_only" });
  }
  const row = personal_tokens.read(id);
  if (row === null || row.expires_at_ms <= now_ms)
    return refused({ code: "personal_token_not_found" });
  personal_tokens.end(id, now_ms);
  return accepted(null);
}

/** Ends the tokens that end with these sessions, or with any session. Repeating it changes nothing. */
export function endSessions(
  { personal_tokens, now_ms }: Transaction,
  session_ids: readonly string[] | "all",
): Answer<null> {
  if (session_ids === "all") personal_tokens.endOfAllSessions(now_ms);
  else personal_tokens.endOfSessions(session_ids, now_ms);
  return accepted(null);
}

/**
 * Ends the tokens that were approved in a session, or by a sign-in method. A token whose method is unknown ends with
 * every method.
 */
export function revokeApprovedBy(
  { personal_tokens, now_ms }: Transaction,
  approver: Approver,
): Answer<null> {
  switch (approver.kind) {
    case "session":
      personal_tokens.endApprovedInSession(approver.session_id, now_ms);
      return accepted(null);
    case "signin_method":
      personal_tokens.endApprovedThrough(approver.signin_method, now_ms);
      return accepted(null);
  }
}

/** Ends every token of the account. */
export function revokeAllPersonalTokens({ personal_tokens, now_ms }: Transaction): Answer<null> {
  personal_tokens.endAll(now_ms);
  return accepted(null);
}
