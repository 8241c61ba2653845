/** Exchanging a token: a client gets one that may do less, such as for an agent. `domain/token_exchange.ts` has the rules. */
import { consentedClient, idsOfPath, rootOfPath } from "../../domain/allowance.ts";
import { EXCHANGED_PER_ALLOWANCE_MAX } from "../../domain/limits.ts";
import { CHARGE_SCOPE } from "../../domain/oauth_scopes.ts";
import { accepted, refused } from "../../domain/result.ts";
import { newCap, type Moment } from "../../domain/spending_cap.ts";
import {
  narrows,
  whyNoChild,
  whyNotCharge,
  type ExchangeProblem,
} from "../../domain/token_exchange.ts";
import type { Credential } from "../../domain/proof.ts";
import type { Answer, Exchanged, ExchangeRequest, FamilyTokens } from "../contract.ts";
import { clientIdsOf } from "../allowances/credentials.ts";
import { ensureOpen, momentOf } from "../ledger/posting.ts";
import {
  isSameResource,
  judgeRefresh,
  OAUTH_TOKEN_TTL_SECONDS,
  type GrantProblem,
} from "../../domain/token_family.ts";
import type { AllowanceRow } from "../sql/allowance_store.ts";
import type { FamilyRow } from "../sql/family_store.ts";
import type { Transaction } from "../transaction.ts";
import { whyNotConnect } from "../stopped_apps.ts";
import { tokensOf } from "./families.ts";

/** Adds a child of the acting allowance, unless the request narrows nothing. */
export function exchange(transaction: Transaction, request: ExchangeRequest): Answer<Exchanged> {
  const { caller, allowances, families, now_ms } = transaction;
  if (caller.kind !== "allowance") return refused({ code: "scope", reason: "holder_only" });
  const { allowance, limits } = caller;
  const { client_id } = request;
  const { resource_app_slug } = allowance;
  const stopped = whyNotConnect(transaction, { client_id, resource_app_slug });
  if (stopped !== null) return refused(stopped);
  const family = families.read(familyIdOf(request.credential));
  const unfit = whyNotBy(transaction, allowance, family, request);
  if (unfit !== null) return refuse(unfit);
  const parent = {
    scopes: allowance.scopes.split(" "),
    limits,
    expires_at_ms: allowance.expires_at_ms,
    depth: idsOfPath(allowance.path).length,
  };
  if (request.charging_app !== null) {
    const not_charged = whyNotCharge(parent, request.charging_app, request);
    if (not_charged !== null) return refuseScopes(not_charged, request, [CHARGE_SCOPE]);
    const session_ends_at_ms = family?.session_ends_at_ms ?? Infinity;
    const expires_at_ms = Math.min(
      transaction.now_ms + OAUTH_TOKEN_TTL_SECONDS * 1000,
      parent.expires_at_ms,
      session_ends_at_ms,
    );
    const client_ids = clientIdsOf(allowances, allowance);
    return accepted({ kind: "charge", expires_at_ms, client_ids });
  }
  // Only a token that its holder approved operates the service.
  const passed_on = parent.scopes.filter((scope) => scope !== "admin");
  if (request.is_personal !== true && !narrows(parent, request)) {
    const { scopes = parent.scopes, expires_at_ms = parent.expires_at_ms } = request;
    const problem = whyNoChild({ ...parent, scopes: passed_on, depth: 0 }, request);
    if (problem !== null) return refuseScopes(problem, request, passed_on);
    const client_ids = clientIdsOf(allowances, allowance);
    const { resource } = allowance;
    return accepted({ kind: "same", resource, scopes, expires_at_ms, client_ids });
  }
  const { scopes = passed_on } = request;
  const problem = whyNoChild({ ...parent, scopes: passed_on }, request);
  if (problem !== null || scopes.length === 0) {
    return refuseScopes(problem ?? "wider_scope", request, passed_on);
  }
  // Those of its children count too, or one approval would grow a million rows.
  const root = rootOfPath(allowance.path);
  const exchanged = allowances
    .listLiving(now_ms)
    .filter(({ parent_id, path }) => parent_id !== null && rootOfPath(path) === root);
  if (exchanged.length >= EXCHANGED_PER_ALLOWANCE_MAX) return refuse("too_many_children");
  ensureOpen(transaction);
  allowances.deleteExpired(now_ms);
  families.deleteEnded(now_ms);
  const is_lasting = lasts(transaction, allowance, request);
  // A personal access token names no family, so nothing but its expiry ends it with the family's session.
  const session_ends_at_ms = request.is_personal === true ? family?.session_ends_at_ms : null;
  const ends_at_ms = Math.min(
    is_lasting ? Infinity : endOf(request),
    session_ends_at_ms ?? Infinity,
  );
  const expires_at_ms = Math.min(request.expires_at_ms ?? parent.expires_at_ms, ends_at_ms);
  const given = { ...request, scopes, expires_at_ms };
  const child = childOf(allowance, family?.id ?? null, given, momentOf(transaction));
  allowances.insert(child);
  const tokens = family === null ? null : addFamily(transaction, child, family);
  const result = { allowance_id: child.id, scopes, expires_at_ms, tokens, is_lasting };
  return accepted({ kind: "child", ...result });
}

/** Why the client may not exchange this token; null if it may. A refresh token that was stolen ends its family. */
function whyNotBy(
  { families, now_ms }: Transaction,
  { client_id, resource }: AllowanceRow,
  family: FamilyRow | null,
  request: ExchangeRequest,
): GrantProblem | null {
  // A personal access token belongs to no client, also if it was exchanged from a client's token.
  const holder = request.credential.kind === "allowance" ? null : client_id;
  if (!request.owns_audience && request.client_id !== holder) return "other_client";
  if (family?.needs_assertion && !request.owns_audience && !request.client_asserted) {
    return "assertion_missing";
  }
  // The scopes of two resources may have the same names and other meanings.
  const target = request.charging_app === null ? request.resource : undefined;
  if (target !== undefined && !isSameResource(target, resource)) return "other_resource";
  if (request.subject.kind === "access" || family === null) return null;
  switch (judgeRefresh(family, request.subject.generation, now_ms)) {
    case "rotate":
    case "repeat":
      return null;
    case "end":
      families.end(family.id);
      return "refresh_token_used";
    case "refuse":
      return "family_ended";
  }
}

/**
 * Whether a child outlives the exchanged token. Anyone who has an access token can name its public client, and a resource's
 * server gets the tokens of other clients. So only the client that the person chose gets more than the access token was,
 * and only if it proves itself or has the refresh token. A program with a personal access token is no client.
 */
function lasts(
  { allowances }: Transaction,
  { path }: AllowanceRow,
  { client_id, client_proven, subject }: ExchangeRequest,
): boolean {
  const root = allowances.read(rootOfPath(path));
  const chosen = root === null ? null : consentedClient(root);
  if (client_id !== chosen) return false;
  return client_id === null || client_proven || subject.kind === "refresh";
}

function endOf({ subject }: ExchangeRequest): number {
  return subject.kind === "access" ? subject.expires_at_ms : Infinity;
}

function familyIdOf(credential: Credential): string {
  return credential.kind === "family" ? credential.family_id : "";
}

/** The first tokens of a child. Its family ends with the session with which the exchanged token's family ends. */
function addFamily(
  { families, allowances, now_ms }: Transaction,
  child: AllowanceRow,
  parent: FamilyRow,
): FamilyTokens {
  const family = {
    ...parent,
    id: crypto.randomUUID(),
    allowance_id: child.id,
    scopes: child.scopes,
    redirect_uri: "",
    // Only the client that the person chose has a document. An app that owns a resource has a secret.
    needs_assertion: parent.needs_assertion && child.client_host !== null,
    generation: 1,
    rotated_at_ms: now_ms,
    is_used: false,
    nonce: null,
  };
  families.insert(family);
  return tokensOf(allowances, child, family);
}

/**
 * It ends with what its parent ends with, so it has the same approval. It also ends with the exchanged token's family:
 * that token may have been stolen.
 */
function childOf(
  parent: AllowanceRow,
  parent_family_id: string | null,
  request: ExchangeRequest & Required<Pick<AllowanceRow, "expires_at_ms">>,
  now: Moment,
): AllowanceRow {
  const { app_slugs, caps = [], expires_at_ms } = request;
  const client_id = request.client_id ?? consentedClient(parent);
  const id = crypto.randomUUID();
  return {
    ...parent,
    id,
    parent_id: parent.id,
    parent_family_id,
    path: `${id} ${parent.path}`,
    kind: "exchange",
    client_id,
    client_host: client_id === parent.client_id ? parent.client_host : null,
    scopes: (request.scopes ?? []).join(" "),
    app_slugs_json: app_slugs === undefined ? parent.app_slugs_json : JSON.stringify(app_slugs),
    caps_json: JSON.stringify(caps.map((cap) => newCap(cap, now))),
    stored_bytes: 0,
    created_at_ms: now.at_ms,
    last_used_at_ms: null,
    expires_at_ms,
    revoked_at_ms: null,
  };
}

function refuse(
  problem: Exclude<ExchangeProblem, "wider_scope"> | GrantProblem,
): Answer<Exchanged> {
  return accepted({ kind: "refused", problem });
}

/** {@link refuse}, with the scopes that are refused, if it is for them. */
function refuseScopes(
  problem: ExchangeProblem,
  { scopes: wanted = [] }: ExchangeRequest,
  permitted: readonly string[],
): Answer<Exchanged> {
  if (problem !== "wider_scope") return refuse(problem);
  const scopes = wanted.filter((scope) => !permitted.includes(scope));
  return accepted({ kind: "refused", problem, scopes });
}
