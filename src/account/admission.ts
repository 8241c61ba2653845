/**
 * What a personal access token may do in its account, asked inside the transaction that it is about:
 * revocation, expiry, limits and cap are true in the same moment as the money.
 */
import * as rules from "../domain/access_token.ts";
import { TOKEN_LAST_USED_INTERVAL_MS, TOKENS_PER_ACCOUNT_MAX } from "../domain/limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused } from "../domain/result.ts";
import type {
  Answer,
  Caller,
  IssueTokenRequest,
  ListedToken,
  RevokeTokenRequest,
} from "./contract.ts";
import { ensureOpen } from "./ledger.ts";
import type { JobRow } from "./store.ts";
import { budgetOf, limitsOf, type TokenRow } from "./tokens.ts";
import type { Transaction } from "./transaction.ts";

const NOT_VALID = "This token was revoked or has expired. Get a new one.";

/**
 * Lets a caller in and notes the token's use, at most once an hour.
 * @returns the token's row, null for a browser session.
 */
export function admit(
  { tokens, now_ms }: Transaction,
  { token_id }: Caller,
  wanted: rules.TokenAccess,
): Answer<TokenRow | null> {
  if (token_id === null) return accepted(null);
  const token = tokens.readToken(token_id);
  if (token === null || token.expires_at_ms <= now_ms) {
    return refused({ code: "unauthorized", detail: NOT_VALID });
  }
  const last_used_at_ms = token.last_used_at_ms ?? Number.NEGATIVE_INFINITY;
  if (now_ms - last_used_at_ms >= TOKEN_LAST_USED_INTERVAL_MS) tokens.saveLastUse(token_id, now_ms);
  const refusal = rules.whyNoAccess(limitsOf(token), wanted);
  return refusal === null ? accepted(token) : refused(refusal);
}

/** The only apps whose rows the caller may see; undefined: all. */
export function visibleApps({ token }: Transaction): readonly string[] | undefined {
  return token === null ? undefined : (limitsOf(token).app_slugs ?? undefined);
}

/**
 * Lets only callers through whom nothing limits: what a third party's token opens knows nothing of our
 * apps and caps.
 */
export function checkUnlimited({ token }: Transaction): Answer<null> {
  if (token === null || rules.isUnlimited(limitsOf(token))) return accepted(null);
  return refused({
    code: "scope",
    detail: "Only a token without limits gets third parties' tokens.",
  });
}

/** Why the caller may not act for an app; null where they may. */
export function whyNotForApp({ token }: Transaction, app_slug: string | null): Refusal | null {
  return token === null ? null : rules.whyNotForApp(limitsOf(token), app_slug);
}

/** Why the caller may not upsert an app or take its grant; null where they may. */
export function whyNotGrant({ token }: Transaction): Refusal | null {
  return token === null ? null : rules.whyNoAccess(limitsOf(token), "write");
}

/** Why the caller may not reserve so many credits for an app; null where they may. */
export function whyNotReserve(
  transaction: Transaction,
  app_slug: string,
  credits: number,
): Refusal | null {
  return whyNotForApp(transaction, app_slug) ?? whyOverBudget(transaction, credits);
}

/**
 * Why the caller may not end a job; null where they may. A capped token ends only the jobs it created
 * itself: any other's overage would be spending that its cap never sees.
 */
export function whyNotEnd(transaction: Transaction, job: JobRow): Refusal | null {
  const { token } = transaction;
  if (token === null) return null;
  if (token.cap_credits !== null && job.token_id !== token.id) {
    return { code: "scope", detail: "A token with a spending cap may end only its own jobs." };
  }
  return whyNotForApp(transaction, job.app_slug);
}

/** Why the caller may not spend so much more; null where they may. */
export function whyOverBudget({ token, now_ms }: Transaction, credits: number): Refusal | null {
  const budget = token === null ? null : budgetOf(token);
  return budget === null ? null : rules.whyOverBudget(budget, credits, now_ms);
}

/**
 * Counts what a job moved against the cap of the token that created it, whoever moved it. `credits` is
 * positive where it was spent. Without a cap nothing is written.
 */
export function countSpending(
  { tokens, now_ms }: Transaction,
  job: Pick<JobRow, "token_id" | "created_at_ms">,
  credits: number,
): void {
  const token = job.token_id === null || credits === 0 ? null : tokens.readToken(job.token_id);
  const budget = token === null ? null : budgetOf(token);
  if (token === null || budget === null) return;
  tokens.saveSpending(token.id, rules.charge(budget, credits, job.created_at_ms, now_ms));
}

/** Refuses where the account has as many living tokens as it may have. */
export function checkRoomForToken({ tokens, now_ms }: Transaction): Answer<null> {
  return tokens.listLivingTokens(now_ms).length >= TOKENS_PER_ACCOUNT_MAX
    ? refused({ code: "too_many_tokens", limit: TOKENS_PER_ACCOUNT_MAX })
    : accepted(null);
}

/** Makes a token valid: its row. Opens the account, so that a token that may only read never writes. */
export function issueToken(transaction: Transaction, request: IssueTokenRequest): Answer<null> {
  const { tokens, now_ms } = transaction;
  const { id, label, app_slug, limits, expires_at_ms } = request;
  const { access, app_slugs, cap } = limits;
  const room = checkRoomForToken(transaction);
  if (!room.ok) return room;
  ensureOpen(transaction);
  tokens.deleteExpiredTokens(now_ms);
  tokens.insertToken({
    id,
    label,
    app_slug,
    access,
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
    return refused({ code: "scope", detail: "A token may revoke only itself." });
  }
  const row = tokens.readToken(id);
  if (row === null || row.expires_at_ms <= now_ms)
    return refused({ code: "personal_token_not_found" });
  tokens.deleteToken(id);
  return accepted(null);
}
