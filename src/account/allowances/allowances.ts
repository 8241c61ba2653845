/** Allowances: they are issued, listed and revoked, and they end with their session or sign-in method. */
import { limitReached } from "../../domain/limit_reached.ts";
import { idsOfPath, scopesOf, widens } from "../../domain/allowance.ts";
import { hostOfClient } from "../../domain/oauth_client.ts";
import { approvedNow, changedCaps, newCap, resetsAt, spentNow } from "../../domain/spending_cap.ts";
import { readScope } from "../../domain/oauth_scopes.ts";
import { ALLOWANCES_PER_ACCOUNT_MAX } from "../../domain/limits.ts";
import { accepted, refused } from "../../domain/result.ts";
import type {
  Answer,
  Approver,
  ChangeAllowanceRequest,
  IssueAllowanceRequest,
  ListedAllowance,
  RevokeAllowanceRequest,
} from "../contract.ts";
import { actingAllowance, isCharging } from "../caller.ts";
import { ensureOpen, momentOf } from "../ledger/posting.ts";
import type { Transaction } from "../transaction.ts";
import { capsOf, limitsOf, type AllowanceRow } from "../sql/allowance_store.ts";
import { whyNotConnect } from "../stopped_apps.ts";

/** Refuses if the account has the maximum number of valid allowances, not counting exchanged ones. */
export function checkRoomForAllowance({ allowances, now_ms }: Transaction): Answer<null> {
  const approved = allowances.listLiving(now_ms).filter(({ parent_id }) => parent_id === null);
  return approved.length >= ALLOWANCES_PER_ACCOUNT_MAX
    ? refused(limitReached("tokens"))
    : accepted(null);
}

/** Stores the row that makes a token valid. Also opens the account, so that a read-only token never has to. */
export function issueAllowance(
  transaction: Transaction,
  request: IssueAllowanceRequest,
): Answer<null> {
  const { allowances, now_ms } = transaction;
  const { limits, client_id = null } = request;
  const stopped = whyNotConnect(transaction, { client_id, resource_app_slug: null });
  if (stopped !== null) return refused(stopped);
  const room = checkRoomForAllowance(transaction);
  if (!room.ok) return room;
  ensureOpen(transaction);
  allowances.deleteExpired(now_ms);
  allowances.insert({
    id: request.id,
    label: request.label,
    app_slug: request.app_slug,
    session_id: request.session_id,
    signin_method: request.signin_method,
    ends_with_session: request.ends_with_session,
    expires_at_ms: request.expires_at_ms,
    parent_id: null,
    parent_family_id: null,
    path: request.id,
    kind: "device",
    client_id,
    client_host: client_id === null ? null : hostOfClient(client_id),
    resource: null,
    resource_app_slug: null,
    scopes: scopesOf(limits).join(" "),
    app_slugs_json: limits.app_slugs === null ? null : JSON.stringify(limits.app_slugs),
    caps_json: JSON.stringify(limits.caps.map((cap) => newCap(cap, momentOf(transaction)))),
    stored_bytes: 0,
    created_at_ms: now_ms,
    last_used_at_ms: null,
    revoked_at_ms: null,
  });
  return accepted(null);
}

/**
 * Living allowances, newest first. An allowance sees only itself and what was exchanged from it. Refused as `scope` to a page
 * that is not ours.
 */
export function listAllowances(transaction: Transaction): Answer<readonly ListedAllowance[]> {
  const { allowances, caller, now_ms } = transaction;
  if (caller.kind === "page") return refused({ code: "scope", reason: "not_whole" });
  const acting = actingAllowance(transaction);
  const rows = allowances
    .listLiving(now_ms)
    .filter(({ path }) => acting === null || idsOfPath(path).includes(acting.id));
  const renewals = transaction.families.lastRenewals();
  const sessions = transaction.families.sessionsOfAllowances();
  return accepted(
    rows.map((row) => {
      const renewed_in = sessions.get(row.id) ?? [];
      return { ...describeAllowance(transaction, row, renewals), renewed_in };
    }),
  );
}

/** A stored allowance as its holder sees it. `renewals`: when tokens of each allowance were last renewed. */
export function describeAllowance(
  transaction: Transaction,
  row: AllowanceRow,
  renewals = transaction.families.lastRenewals(),
): ListedAllowance {
  // A renewal writes only its family's row.
  const last_use_ms = Math.max(row.last_used_at_ms ?? 0, renewals.get(row.id) ?? 0);
  return {
    id: row.id,
    kind: row.kind,
    parent_id: row.parent_id,
    client_id: row.client_id,
    client_host: row.client_host,
    resource: row.resource,
    label: row.label,
    app_slug: row.app_slug,
    scopes: readScope(row.scopes),
    limits: limitsOf(row),
    caps: capsOf(row).map((cap) => ({
      credits: cap.credits,
      period: cap.period,
      spent: spentNow(cap, transaction.now_ms),
      approved: approvedNow(cap, transaction.now_ms),
      resets_at_ms: resetsAt(cap, transaction.now_ms),
    })),
    current: row.id === actingAllowance(transaction)?.id,
    ends_with_session: row.ends_with_session,
    session_id: row.session_id,
    created_at_ms: row.created_at_ms,
    last_used_at_ms: last_use_ms === 0 ? null : last_use_ms,
    expires_at_ms: row.expires_at_ms,
    revoked_at_ms: row.revoked_at_ms,
  };
}

/** Changes the name, caps or apps of an allowance. Only its holder may, because a changed cap may be higher. */
export function changeAllowance(
  transaction: Transaction,
  { id, may_widen, ...change }: ChangeAllowanceRequest,
): Answer<ListedAllowance> {
  const { caller, allowances, now_ms } = transaction;
  if (caller.kind !== "holder" && caller.kind !== "page") {
    return refused({ code: "scope", reason: "holder_only" });
  }
  const row = allowances.readLivingChain(id, now_ms)?.[0];
  if (row === undefined) return refused({ code: "personal_token_not_found" });
  const limits = limitsOf(row);
  // One that ends with a session was approved with a session token of our own pages, so such a token also widens it.
  const is_of_session = row.ends_with_session && caller.kind === "holder";
  if (!may_widen && !is_of_session && widens(limits, change)) {
    return refused({ code: "scope", reason: "own_page" });
  }
  const { label = row.label, caps, app_slugs = limits.app_slugs } = change;
  // Only the app of its resource acts for it.
  if (row.resource !== null && change.app_slugs !== undefined) {
    return refused({ code: "invalid_request", detail: APPS_OF_RESOURCE });
  }
  const changed = {
    label,
    caps_json:
      caps === undefined
        ? row.caps_json
        : JSON.stringify(changedCaps(capsOf(row), caps, momentOf(transaction))),
    app_slugs_json: app_slugs === null ? null : JSON.stringify(app_slugs),
  };
  allowances.change(id, changed);
  return accepted(describeAllowance(transaction, { ...row, ...changed }));
}

const APPS_OF_RESOURCE =
  "apps cannot be changed: a connection to a resource is for the resource's app. Leave apps out.";

/**
 * Ends an allowance now, and with it its descendants. An allowance may end only itself and its descendants, and an app's
 * key may not end any.
 */
export function revokeAllowance(
  transaction: Transaction,
  { id }: RevokeAllowanceRequest,
): Answer<null> {
  const { allowances, now_ms } = transaction;
  const acting = actingAllowance(transaction);
  if (transaction.caller.kind === "app") return refused({ code: "scope", reason: "app_key" });
  if (isCharging(transaction)) return refused({ code: "scope", reason: "charge_only" });
  const row = allowances.read(id);
  if (acting !== null && !idsOfPath(row?.path ?? null).includes(acting.id)) {
    return refused({ code: "scope", reason: "itself_only" });
  }
  if (row === null || row.revoked_at_ms !== null || row.expires_at_ms <= now_ms) {
    return refused({ code: "personal_token_not_found" });
  }
  allowances.end(id, now_ms);
  return accepted(null);
}

/** Ends the allowances and token families that end with these sessions, or with any session. Repeating it changes nothing. */
export function endSessions(
  { allowances, families, announce, now_ms }: Transaction,
  session_ids: readonly string[] | "all",
): Answer<null> {
  announce.streamsEnded({ reason: "session_ended", session_ids });
  if (session_ids === "all") {
    allowances.endOfAllSessions(now_ms);
    families.endOfAllSessions();
  } else {
    allowances.endOfSessions(session_ids, now_ms);
    families.endOfSessions(session_ids);
  }
  return accepted(null);
}

/**
 * Ends the allowances and token families that were approved in a session, or by a sign-in method. One whose method is unknown
 * ends with every method.
 */
export function revokeApprovedBy(
  { allowances, families, now_ms }: Transaction,
  approver: Approver,
): Answer<null> {
  switch (approver.kind) {
    case "session":
      allowances.endApprovedInSession(approver.session_id, now_ms);
      families.endApprovedInSession(approver.session_id);
      return accepted(null);
    case "signin_method":
      allowances.endApprovedThrough(approver.signin_method, now_ms);
      families.endApprovedThrough(approver.signin_method);
      return accepted(null);
  }
}

/** Ends every allowance of the account. */
export function revokeAllAllowances({ allowances, now_ms }: Transaction): Answer<null> {
  allowances.endAll(now_ms);
  return accepted(null);
}
