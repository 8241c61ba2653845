/**
 * Connections: a client holds one allowance for each resource. Authorizing the client again adds a token family to that
 * allowance, so that a remembered consent never makes a second cap.
 */
import { FAMILIES_PER_ALLOWANCE_MAX } from "../../domain/token_family.ts";
import { changedCaps, type CapSpending, type Moment } from "../../domain/spending_cap.ts";
import { accepted, refused } from "../../domain/result.ts";
import { checkRoomForAllowance, describeAllowance } from "../allowances/allowances.ts";
import type {
  Answer,
  AuthorizeClientRequest,
  AuthorizedClient,
  Connection,
  ConnectionLimits,
  FindConnectionRequest,
} from "../contract.ts";
import { ensureOpen, momentOf } from "../ledger/posting.ts";
import { capsOf, type AllowanceRow } from "../sql/allowance_store.ts";
import type { Transaction } from "../transaction.ts";
import { whyNotConnect } from "../stopped_apps.ts";

/**
 * The valid allowance of a client for a resource; null: the client has none. Refused as `app_stopped` if the holder stopped
 * the app of the client or of the resource: then it gets none.
 */
export function findConnection(
  transaction: Transaction,
  request: FindConnectionRequest,
): Answer<Connection | null> {
  const stopped = whyNotConnect(transaction, request);
  if (stopped !== null) return refused(stopped);
  const row = find(transaction, request);
  if (row === null) return accepted(null);
  const { id, scopes, caps, limits, expires_at_ms } = describeAllowance(transaction, row);
  return accepted({ id, scopes, caps, app_slugs: limits.app_slugs, expires_at_ms });
}

function find(
  { allowances, now_ms }: Transaction,
  { client_id, resource }: FindConnectionRequest,
): AllowanceRow | null {
  const is_same = (row: AllowanceRow): boolean =>
    row.kind === "code" && row.client_id === client_id && row.resource === resource;
  return allowances.listLiving(now_ms).find(is_same) ?? null;
}

/**
 * Adds a token family and its code. Without `limits` the existing allowance stays as it is, and must cover the scopes: null
 * if it does not, so that the page asks the holder. Only the holder's session authorizes clients.
 */
export function authorizeClient(
  transaction: Transaction,
  request: AuthorizeClientRequest,
): Answer<AuthorizedClient | null> {
  const { caller, families, now_ms } = transaction;
  if (caller.kind !== "holder") return refused({ code: "scope", reason: "holder_only" });
  const stopped = whyNotConnect(transaction, request);
  if (stopped !== null) return refused(stopped);
  const existing = find(transaction, request);
  const approved = approve(transaction, request, existing);
  if (!approved.ok || approved.value === null) return approved as Answer<null>;
  const allowance = approved.value;
  families.deleteEnded(now_ms);
  const ids = families.listIds(allowance.id);
  const too_many = Math.max(0, ids.length - FAMILIES_PER_ALLOWANCE_MAX + 1);
  for (const id of ids.slice(0, too_many)) families.end(id);
  const family_id = crypto.randomUUID();
  const { session_ends_at_ms, code_hash, code_challenge } = request;
  families.insert({
    id: family_id,
    allowance_id: allowance.id,
    scopes: request.scopes.join(" "),
    redirect_uri: request.redirect_uri,
    needs_assertion: request.needs_assertion,
    generation: 0,
    rotated_at_ms: now_ms,
    is_used: false,
    auth_time_ms: request.auth_time_ms,
    nonce: request.nonce,
    session_id: request.session_id,
    signin_method: request.signin_method,
    session_ends_at_ms,
  });
  families.insertCode({
    code_hash,
    family_id,
    code_challenge,
    created_at_ms: now_ms,
    used_at_ms: null,
  });
  return accepted({ family_id });
}

/** The allowance that the family belongs to: new, changed as the holder chose, or as it is. */
function approve(
  transaction: Transaction,
  request: AuthorizeClientRequest,
  existing: AllowanceRow | null,
): Answer<AllowanceRow | null> {
  const { allowances, now_ms } = transaction;
  const { limits } = request;
  const scopes = existing?.scopes.split(" ") ?? [];
  if (limits === null) {
    const is_covered = request.scopes.every((scope) => scopes.includes(scope));
    return accepted(is_covered ? existing : null);
  }
  const approval = {
    ...approvalOf(request, limits, existing),
    scopes: union(scopes, request.scopes),
    caps_json: JSON.stringify(approvedCaps(limits, existing, momentOf(transaction))),
  };
  if (existing !== null) {
    allowances.change(existing.id, approval);
    return accepted({ ...existing, ...approval });
  }
  const room = checkRoomForAllowance(transaction);
  if (!room.ok) return room;
  ensureOpen(transaction);
  allowances.deleteExpired(now_ms);
  const id = crypto.randomUUID();
  const row: AllowanceRow = {
    ...approval,
    id,
    parent_id: null,
    parent_family_id: null,
    path: id,
    kind: "code",
    client_id: request.client_id,
    resource: request.resource,
    resource_app_slug: request.resource_app_slug,
    app_slug: null,
    ends_with_session: false,
    stored_bytes: 0,
    created_at_ms: now_ms,
    last_used_at_ms: null,
    revoked_at_ms: null,
  };
  allowances.insert(row);
  return accepted(row);
}

/** If the request is for less than the connection may do, the page shows only some of its limits. The others stay. */
function approvedCaps(
  { caps }: ConnectionLimits,
  existing: AllowanceRow | null,
  now: Moment,
): readonly CapSpending[] {
  const present = existing === null ? [] : capsOf(existing);
  return caps === undefined ? present : changedCaps(present, caps, now);
}

function approvalOf(
  request: AuthorizeClientRequest,
  { app_slugs, expires_at_ms }: ConnectionLimits,
  existing: AllowanceRow | null,
) {
  const { client_name: label, client_host, session_id, signin_method } = request;
  const present = existing?.app_slugs_json ?? null;
  const chosen = app_slugs === null ? null : JSON.stringify(app_slugs);
  const app_slugs_json = app_slugs === undefined ? present : chosen;
  return { label, client_host, session_id, signin_method, app_slugs_json, expires_at_ms };
}

function union(one: readonly string[], other: readonly string[]): string {
  return [...new Set([...one, ...other])].join(" ");
}
