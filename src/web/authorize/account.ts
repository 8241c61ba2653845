/** The account's data about a request, and the connection that results from it. */
import type { Connection, ConnectionLimits } from "../../account/contract.ts";
import { consentStep, mayRemember, type ConsentStep } from "../../domain/consent.ts";
import type { OAuthClient } from "../../domain/oauth_client.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, type Result } from "../../domain/result.ts";
import { accountOf, callerOf, type AppContext } from "../../http/context.ts";
import { connectClient } from "../../http/oauth/connect.ts";
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
  { client, address, resource, scopes, asked }: AskingRequest,
): Promise<Result<AccountFacts, Refusal>> {
  const [account, caller] = [accountOf(context), callerOf(context)];
  const place = { client_id: client.client_id, resource: resource?.uri ?? null };
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
    connected_scopes: found.value?.scopes ?? null,
    has_room: room.ok,
  });
  return accepted({ step, connection: found.value, credits: wallet.value.account.credits });
}

/** What the holder chose on the page. */
export interface Chosen {
  readonly limits: ConnectionLimits;
  readonly scopes: readonly string[];
}

/** Connects the client and returns to it with a code. `chosen`: null if the holder agreed before. */
export async function connect(
  context: AppContext,
  request: AskingRequest,
  chosen: Chosen | null,
): Promise<Response> {
  const { client, address, asked, session, resource } = request;
  const connected = await connectClient(context, session.identity_id, {
    client_id: client.client_id,
    client_host: client.kind === "document" ? client.host : null,
    client_name: client.name,
    resource: resource?.uri ?? null,
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
  if (connected.ok) {
    // Null: the connection was narrowed or has ended meanwhile, so the page asks the person.
    return connected.value === null
      ? context.redirect(pageOf(context, request), 303)
      : returnToClient(context, request, { code: connected.value });
  }
  return connected.refusal.code === "too_many_tokens"
    ? showRoomFull(context, request)
    : refuseAccount(context, request, connected.refusal);
}

/** Whether a client must authenticate at the token endpoint with a key of its document. */
function needsAssertion(client: OAuthClient): boolean {
  return client.kind === "document" && !client.token_endpoint_auth_methods.includes("none");
}

/** Whether the client stays connected after the browser session. */
export function outlivesSession({ client, scopes }: AskingRequest): boolean {
  return client.refresh || scopes.includes("offline_access");
}
