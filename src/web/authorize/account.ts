/** The account's data about a request, and the connection that results from it. */
import { SERVICE, type Connection, type ConnectionLimits } from "../../account/contract.ts";
import {
  consentStep,
  mayRemember,
  wantsOtherLimits,
  type ConsentStep,
} from "../../domain/consent.ts";
import type { OAuthClient } from "../../domain/oauth_client.ts";
import { CHARGE_SCOPE } from "../../domain/oauth_scopes.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, type Result } from "../../domain/result.ts";
import { accountOf, callerOf, type AppContext } from "../../http/context.ts";
import { readWalletWithGrant } from "../../http/allowances/starter_grant.ts";
import { issueCode } from "../../http/oauth/issue_code.ts";
import type { AskingRequest } from "./read_request.ts";
import { pageOf, refuseAccount, showRoomFull } from "./respond.tsx";
import { returnToClient } from "./return_to_client.ts";

export interface AccountFacts<Step = ConsentStep> {
  readonly step: Step;
  /** The client's allowance for the same resource; or null. */
  readonly connection: Connection | null;
  readonly credits: number;
}

export async function readAccount(
  context: AppContext,
  { client, address, resource, scopes, asked, suggested }: AskingRequest,
): Promise<Result<AccountFacts, Refusal>> {
  const [account, caller] = [accountOf(context), callerOf(context)];
  const place = placeOf({ client, resource });
  const [found, wallet, room] = await Promise.all([
    account.findConnection(caller, place),
    account.wallet(caller, { app: null }),
    account.checkRoomForAllowance(caller),
  ]);
  if (!found.ok) return found;
  if (!wallet.ok) return wallet;
  const step = consentStep({
    asked,
    may_remember: mayRemember(client, address.redirect_uri),
    scopes,
    connected_scopes: found.value === null ? null : usableScopes(found.value, resource),
    wants_other_limits:
      found.value !== null &&
      suggested !== null &&
      wantsOtherLimits(suggested, found.value, Date.now()),
    has_room: room.ok,
  });
  return accepted({ step, connection: found.value, credits: wallet.value.account.credits });
}

/** The scopes that a connection has for a resource as it is now: the right to charge is for one app. */
function usableScopes(
  { scopes, app_slugs }: Connection,
  resource: AskingRequest["resource"],
): readonly string[] {
  const is_for_app = resource !== null && app_slugs?.includes(resource.app_slug) === true;
  return is_for_app ? scopes : scopes.filter((scope) => scope !== CHARGE_SCOPE);
}

function placeOf({ client, resource }: Pick<AskingRequest, "client" | "resource">) {
  return {
    client_id: client.client_id,
    resource: resource?.uri ?? null,
    resource_app_slug: resource?.app_slug ?? null,
  };
}

/** The holder's choices on the page. */
export interface Chosen {
  readonly limits: ConnectionLimits;
  readonly scopes: readonly string[];
}

/** Authorizes the client and returns to it with a code. `chosen`: null if the holder agreed before. */
export async function returnWithCode(
  context: AppContext,
  request: AskingRequest,
  chosen: Chosen | null,
): Promise<Response> {
  const { client, address, asked, session, resource } = request;
  const issued = await issueCode(context, session.identity_id, {
    ...placeOf(request),
    client_host: client.kind === "document" ? client.host : null,
    client_name: client.name,
    redirect_uri: address.redirect_uri,
    scopes: chosen?.scopes ?? request.scopes,
    limits: chosen?.limits ?? null,
    code_challenge: asked.code_challenge,
    needs_assertion: needsAssertion(client),
    nonce: asked.nonce,
    auth_time_ms: session.started_at_ms,
    session_id: session.id,
    signin_method: session.signin_method,
    session_ends_at_ms: outlivesSession(request) ? null : session.ends_at_ms,
  });
  if (issued.ok) {
    // Null: the connection was narrowed or has ended meanwhile, so the page asks the person.
    if (issued.value === null) return context.redirect(pageOf(context, request), 303);
    // The person may never have used the app. If it gets no row, its jobs add one.
    if (resource?.charges === true) {
      await readWalletWithGrant(context, SERVICE, resource.app_slug);
    }
    return returnToClient(context, request, { code: issued.value });
  }
  return issued.refusal.code === "limit_reached"
    ? showRoomFull(context, request)
    : refuseAccount(context, request, issued.refusal);
}

/** Whether a client must authenticate at the token endpoint with a key of its document. */
function needsAssertion(client: OAuthClient): boolean {
  return client.kind === "document" && !client.token_endpoint_auth_methods.includes("none");
}

/** Whether the client stays connected after the browser session. */
export function outlivesSession({ scopes }: Pick<AskingRequest, "scopes">): boolean {
  return scopes.includes("offline_access");
}
