/**
 * The tokens of a family: for its code, and for its refresh tokens. All tokens of a response are derived from the row, so
 * no token is stored, and a repeated request gets the same tokens. `domain/token_family.ts` has the rules.
 */
import { accepted } from "../../domain/result.ts";
import {
  isSameResource,
  judgeCode,
  judgeRefresh,
  type FamilyState,
  type GrantProblem,
} from "../../domain/token_family.ts";
import type {
  Answer,
  EndGrantRequest,
  FamilyTokens,
  Granted,
  RedeemCodeRequest,
  RefreshRequest,
  SpendingTerms,
} from "../contract.ts";
import { clientIdsOf } from "../allowances/credentials.ts";
import { limitsOf, type AllowanceRow, type AllowanceStore } from "../sql/allowance_store.ts";
import type { FamilyRow } from "../sql/family_store.ts";
import type { Transaction } from "../transaction.ts";

/** Redeems a code, once. */
export function redeemCode(transaction: Transaction, request: RedeemCodeRequest): Answer<Granted> {
  const { families, allowances, now_ms } = transaction;
  const code = families.readCode(request.code_hash);
  if (code === null) return refuse("code_unknown");
  const family = families.read(code.family_id);
  if (family === null) return refuse(code.used_at_ms === null ? "family_ended" : "code_used");
  const allowance = allowances.read(family.allowance_id);
  if (allowance === null) return refuse("allowance_ended");
  const { client_id, resource } = clientOf(allowance);
  const issued = { ...code, client_id, resource, redirect_uri: family.redirect_uri };
  const verdict = judgeCode(issued, request, now_ms);
  if (verdict.kind === "refuse") {
    if (verdict.ends_family) families.end(family.id);
    return refuse(verdict.problem);
  }
  const problem = whyNot(transaction, allowance, family, request);
  if (problem !== null) return refuse(problem);
  families.saveCodeUse(code.code_hash, now_ms);
  return rotate(transaction, allowance, family, { generation: 1, rotated_at_ms: now_ms });
}

/** Rotates the refresh token of a family, or repeats the response that its previous token got. */
export function refresh(transaction: Transaction, request: RefreshRequest): Answer<Granted> {
  const { families, allowances, now_ms } = transaction;
  const family = families.read(request.family_id);
  if (family === null) return refuse("family_ended");
  const allowance = allowances.read(family.allowance_id);
  if (allowance === null) return refuse("allowance_ended");
  const { client_id, resource } = clientOf(allowance);
  if (request.client_id !== client_id) return refuse("other_client");
  if (request.resource !== undefined && !isSameResource(request.resource, resource)) {
    return refuse("other_resource");
  }
  const problem = whyNot(transaction, allowance, family, request);
  if (problem !== null) return refuse(problem);
  const scopes = family.scopes.split(" ");
  const wider = (request.scopes ?? []).filter((scope) => !scopes.includes(scope));
  if (wider.length > 0) {
    return accepted({ kind: "refused", problem: "wider_scope", scopes: wider });
  }
  switch (judgeRefresh(family, request.generation, now_ms)) {
    case "rotate": {
      const state = { generation: family.generation + 1, rotated_at_ms: now_ms };
      return rotate(transaction, allowance, family, state);
    }
    case "repeat":
      return accepted({ kind: "tokens", tokens: tokensOf(allowances, allowance, family) });
    case "end":
      families.end(family.id);
      return refuse("refresh_token_used");
    case "refuse":
      return refuse("family_ended");
  }
}

/** Ends a family or an exchanged allowance at the request of its client. The problem says why it does not; null: it has ended. */
export function endGrant(
  { families, allowances, now_ms }: Transaction,
  { credential, client_id, client_asserted }: EndGrantRequest,
): Answer<GrantProblem | null> {
  const family = credential.kind === "family" ? families.read(credential.family_id) : null;
  const allowance_id =
    credential.kind === "family" ? (family?.allowance_id ?? null) : credential.allowance_id;
  const allowance = allowance_id === null ? null : allowances.read(allowance_id);
  // It has ended already.
  if (allowance === null) return accepted(null);
  if (allowance.client_id !== client_id) return accepted("other_client");
  if (family?.needs_assertion && !client_asserted) return accepted("assertion_missing");
  if (family !== null) families.end(family.id);
  // Nothing but its tokens can use it. A connection stays: its client may have other families.
  if (allowance.kind === "exchange") allowances.end(allowance.id, now_ms, "client");
  return accepted(null);
}

function rotate(
  { families, allowances }: Transaction,
  allowance: AllowanceRow,
  family: FamilyRow,
  state: FamilyState,
): Answer<Granted> {
  families.saveState(family.id, state);
  const tokens = tokensOf(allowances, allowance, { ...family, ...state });
  return accepted({ kind: "tokens", tokens });
}

/** Why the account or the authorization gives no tokens now; null: it does. */
function whyNot(
  { store, allowances, now_ms }: Transaction,
  { id, revoked_at_ms, expires_at_ms }: AllowanceRow,
  { session_ends_at_ms, needs_assertion }: FamilyRow,
  { client_asserted }: { readonly client_asserted: boolean },
): GrantProblem | null {
  if (needs_assertion && !client_asserted) return "assertion_missing";
  if (revoked_at_ms !== null) return "allowance_ended";
  if (expires_at_ms <= now_ms) return "allowance_expired";
  if (allowances.readLivingChain(id, now_ms) === null) return "allowance_ended";
  if ((session_ends_at_ms ?? expires_at_ms) <= now_ms) return "family_ended";
  return (store.readAccount()?.suspended_at_ms ?? null) === null ? null : "suspended";
}

function clientOf({ client_id, resource }: AllowanceRow) {
  return { client_id: client_id ?? "", resource };
}

/** The facts from which the tokens of a family's last response are derived. */
export function tokensOf(
  allowances: AllowanceStore,
  allowance: AllowanceRow,
  family: FamilyRow,
): FamilyTokens {
  const { id: family_id, scopes, generation, rotated_at_ms, nonce, auth_time_ms } = family;
  return {
    ...clientOf(allowance),
    family_id,
    client_ids: clientIdsOf(allowances, allowance),
    scopes: scopes.split(" "),
    generation,
    rotated_at_ms,
    nonce,
    auth_time_ms,
    is_exchanged: allowance.kind === "exchange",
    terms: termsOf(allowance),
    expires_at_ms: Math.min(allowance.expires_at_ms, family.session_ends_at_ms ?? Infinity),
  };
}

function termsOf(allowance: AllowanceRow): SpendingTerms {
  const { caps, app_slugs } = limitsOf(allowance);
  return { caps, app_slugs, ends_at_ms: allowance.expires_at_ms };
}

function refuse(problem: GrantProblem): Answer<Granted> {
  return accepted({ kind: "refused", problem });
}
